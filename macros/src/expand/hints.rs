//! Hints: methods that proxies have for the compiler's sake alone, where it would know no more than that there is none of the name.
//!
//! 1. A call of a method that is no entry, and a call of all members that asks for an answer, is refused by a bound that nothing
//!    satisfies, whose sentence stands in `macro_support`.
//! 2. A call of an entry that has an error of its own passes: its error has been reported where it stands.
//! 3. They stand behind the proxy, which dereferences to them: a method of the same name that a program gives its proxy goes first.

use super::names::{element_name, section_name, whole_name};
use crate::ast::{Chare, Entry, Hint, Kind, Passing, Why};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Visibility};

/// Those of all proxies of a chare.
pub(super) fn hints(chare: &Chare) -> TokenStream {
    let one = behind(chare, &element_name(chare), &of_one(chare));
    if chare.kind == Kind::Singleton {
        return one;
    }
    let all = behind(chare, &whole_name(chare), &of_all(chare));
    let some = behind(chare, &section_name(chare), &of_some(chare));
    quote!(#one #all #some)
}

/// Those of one proxy, as methods of the type that it dereferences to.
fn behind(chare: &Chare, proxy: &Ident, hints: &TokenStream) -> TokenStream {
    if hints.is_empty() {
        return TokenStream::new();
    }
    let name = format_ident!("__HintsOf{proxy}");
    let types = chare.generics.type_params().map(|parameter| &parameter.ident);
    let (parameters, arguments, bounds) = chare.generics.split_for_impl();
    quote! {
        pub struct #name #parameters (::core::marker::PhantomData<fn() -> (#(#types,)*)>) #bounds;

        impl #parameters #name #arguments #bounds { #hints }

        #[doc(hidden)]
        impl #parameters ::core::ops::Deref for #proxy #arguments #bounds {
            type Target = #name #arguments;

            fn deref(&self) -> &Self::Target {
                &#name(::core::marker::PhantomData)
            }
        }
    }
}

/// Those of the proxy of one chare.
fn of_one(chare: &Chare) -> TokenStream {
    let hints = chare.hints.iter().map(|hint| match &hint.why {
        Why::NoEntry => no_entry(hint),
        Why::Unsound { result: None } => anything(hint, &TokenStream::new()),
        Why::Unsound { result: Some(result) } => anything(hint, &quote!(-> ::core::future::Pending<#result>)),
    });
    quote!(#(#hints)*)
}

/// Those of the proxy of a collection.
fn of_all(chare: &Chare) -> TokenStream {
    let no_entries = chare.hints.iter().filter(|hint| matches!(hint.why, Why::NoEntry)).map(no_entry);
    let of_some = of_some(chare);
    quote!(#(#no_entries)* #of_some)
}

/// Those of the proxy of a section.
fn of_some(chare: &Chare) -> TokenStream {
    let unsound = chare.hints.iter().filter(|hint| matches!(hint.why, Why::Unsound { result: None }));
    let unsound = unsound.map(|hint| anything(hint, &TokenStream::new()));
    let answers = chare.entries.iter().filter(|entry| entry.result.is_some()).map(answer);
    quote!(#(#unsound)* #(#answers)*)
}

fn no_entry(hint: &Hint) -> TokenStream {
    refused(&hint.name, &hint.visibility, &hint.conditions, hint.parameters, "MarkedEntry")
}

fn answer(entry: &Entry) -> TokenStream {
    let Entry { name, visibility, conditions, parameters, .. } = entry;
    let given = parameters.list.iter().filter(|parameter| parameter.passing != Passing::Reply).count();
    refused(name, visibility, conditions, given, "AnsweredByAll")
}

/// A method that any caller may await, refused by a bound of this name.
fn refused(
    name: &Ident,
    visibility: &Visibility,
    conditions: &[Attribute],
    parameters: usize,
    bound: &str,
) -> TokenStream {
    let bound = format_ident!("{bound}");
    // Not known to be false before somebody calls: the compiler would refuse the method itself.
    let bound = quote!(where for<'__a> &'__a (): ::chare::macro_support::#bound);
    let (types, span) = (types(parameters), span(name));
    quote_spanned! {span=>
        #(#conditions)*
        #[doc(hidden)]
        #visibility fn #name<__R #(, #types)*>(&self, #(_: #types),*) -> ::core::future::Pending<__R> #bound {
            ::core::unreachable!()
        }
    }
}

/// A method that takes anything.
fn anything(hint: &Hint, output: &TokenStream) -> TokenStream {
    let Hint { name, visibility, conditions, parameters, .. } = hint;
    let (types, span) = (types(*parameters), span(name));
    quote_spanned! {span=>
        #(#conditions)*
        #[doc(hidden)]
        #visibility fn #name<#(#types),*>(&self, #(_: #types),*) #output {
            ::core::unreachable!()
        }
    }
}

fn types(parameters: usize) -> Vec<Ident> {
    (0..parameters).map(|position| format_ident!("__T{position}")).collect()
}

/// What the compiler says about the method, it says at the chare's own.
fn span(name: &Ident) -> Span {
    name.span().resolved_at(Span::call_site())
}
