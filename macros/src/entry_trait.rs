//! The attribute `entries`: takes a trait and returns the same trait, its proxy and its registration; or takes an implementation of
//! it and returns the same implementation and its registration.

use crate::ast::{Entry, EntryTrait, Method, Passing, Role};
use crate::check::{check_entry, check_trait_names, conditions, names_self, takes_again};
use crate::errors::{Errors, Misuse};
use crate::expand::expand_trait;
use crate::parse::read_helpers;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{
    Ident, ItemImpl, ItemTrait, Path, Token, TraitItem, TraitItemFn, TypeParamBound, Visibility, parse_quote,
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let base = read_base(options, &mut errors);
    let mut tokens = if let Ok(block) = syn::parse2::<ItemImpl>(item.clone()) {
        base.iter().for_each(|base| errors.report(base, Misuse::EntriesOption));
        expand_implementation(block, &mut errors)
    } else if let Ok(declared) = syn::parse2::<ItemTrait>(item.clone()) {
        expand_declaration(declared, base, &mut errors)
    } else {
        errors.report(&item, Misuse::NotEntries);
        item
    };
    tokens.extend(errors.into_tokens());
    tokens
}

/// The trait that the option `extends` names, if it is there.
fn read_base(options: TokenStream, errors: &mut Errors) -> Option<Path> {
    if options.is_empty() {
        return None;
    }
    let read = |input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let base = input.call(Path::parse_mod_style)?;
        Ok((name == "extends").then_some(base))
    };
    let base = read.parse2(options.clone()).ok().flatten();
    if base.is_none() {
        errors.report(&options, Misuse::EntriesOption);
    }
    base
}

/// The implementation, its registration, and the item that the trait asks of registered implementations.
fn expand_implementation(mut block: ItemImpl, errors: &mut Errors) -> TokenStream {
    let Some((implemented, _)) = block.trait_.clone() else {
        errors.report(&block.self_ty, Misuse::NotEntries);
        return block.into_token_stream();
    };
    if !block.generics.params.is_empty() {
        errors.report(&block.generics, Misuse::GenericTrait);
        return block.into_token_stream();
    }
    block.items.push(parse_quote! {
        const __MARK_THE_IMPLEMENTATION_WITH_CHARE_ENTRIES: () = ();
    });
    let (chare, conditions) = (&block.self_ty, conditions(&block.attrs));
    quote! {
        #block
        #(#conditions)*
        ::chare::macro_support::inventory::submit! {
            <#chare as #implemented>::__IMPLEMENTATION
        }
    }
}

fn expand_declaration(mut declared: ItemTrait, base: Option<Path>, errors: &mut Errors) -> TokenStream {
    if !declared.generics.params.is_empty() {
        errors.report(&declared.generics, Misuse::GenericTrait);
        return declared.into_token_stream();
    }
    let visibility = declared.vis.clone();
    let read = |item| read_entry(item, &visibility, errors);
    let mut entries: Vec<Entry> = declared.items.iter_mut().filter_map(read).collect();
    check_trait_names(&mut entries, errors);
    let proxy = format_ident!("{}Proxy", declared.ident);
    declared.supertraits.push(parse_quote!(::chare::macro_support::Chare));
    let is_base = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Trait(bound) if Some(&bound.path) == base.as_ref());
    if !declared.supertraits.iter().any(is_base) {
        declared.supertraits.extend(base.iter().map(|base| -> TypeParamBound { parse_quote!(#base) }));
    }
    declared.items.push(parse_quote! {
        #[doc(hidden)]
        const __MARK_THE_IMPLEMENTATION_WITH_CHARE_ENTRIES: ();
    });
    declared.items.push(parse_quote! {
        #[doc(hidden)]
        const __IMPLEMENTATION: ::chare::macro_support::ImplementationRegistration =
            ::chare::macro_support::ImplementationRegistration::of::<Self, #proxy>();
    });
    let generated = expand_trait(&EntryTrait {
        name: declared.ident.clone(),
        base,
        proxy,
        collection: format_ident!("{}CollectionProxy", declared.ident),
        section: format_ident!("{}SectionProxy", declared.ident),
        visibility,
        conditions: conditions(&declared.attrs),
        entries,
    });
    quote!(#declared #generated)
}

/// The entry that a method is, if it is one and nothing is wrong with it; takes the helper attributes off.
fn read_entry(item: &mut TraitItem, visibility: &Visibility, errors: &mut Errors) -> Option<Entry> {
    let TraitItem::Fn(TraitItemFn { attrs, sig, .. }) = item else { return None };
    let mut method = Method {
        attributes: std::mem::take(attrs),
        visibility: visibility.clone(),
        signature: sig.clone(),
        body: None,
        role: Role::Helper,
        nocopy: Vec::new(),
        references: Vec::new(),
    };
    read_helpers(&mut method, errors);
    *attrs = method.attributes.clone();
    *sig = method.signature.clone();
    let is_posted = method.nocopy.iter().any(|mark| mark.passing == Some(Passing::Posted));
    let is_allowed = match &method.role {
        Role::Helper => return None,
        Role::Post { .. } => false,
        Role::Hook { mark, moment } => {
            errors.report(mark, Misuse::Outside { attribute: moment.attribute() });
            return None;
        }
        Role::Entry { options, .. } => !is_posted && options.is_for_traits(),
    };
    if !is_allowed {
        errors.report(&method.signature.ident, Misuse::TraitEntryForm);
        return None;
    }
    for mark in &method.references {
        errors.report(&mark.attribute, Misuse::ReferenceOutsideAwaited);
    }
    if takes_again(&method) {
        errors.report(method.signature.inputs.first(), Misuse::AgainOfTrait);
        return None;
    }
    let this: Path = parse_quote!(Self);
    let entry = check_entry(&method, &this, errors)?;
    let given = entry.parameters.list.iter().filter(|parameter| parameter.passing != Passing::Reply);
    let types = given.map(|parameter| &parameter.ty).chain(&entry.result);
    let of_self: Vec<_> = types.filter(|ty| names_self(ty)).collect();
    of_self.iter().for_each(|ty| errors.report(ty, Misuse::TraitSelf));
    of_self.is_empty().then_some(entry)
}
