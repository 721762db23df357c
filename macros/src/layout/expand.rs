//! Generated code of a selection: the struct of a packed element, the function that returns the layout, and the compiler's checks
//! of what the macro cannot see, which are types and their sizes.
//!
//! 1. *Plain data.* The type of each field has the bound of the elements of nocopy buffers, so that the struct may have it, too.
//! 2. *No gaps.* In the packed stream the fields follow each other without a gap, so they must in the struct: assertions compare
//!    where each one starts with where the one before ends. Nothing is reordered: the order is what the user named, on both sides.
//! 3. What users name has the spans of the derive, not of the fields: nobody is warned of a struct that only bytes make.

use super::parse::{Field, Selection, Struct};
use crate::check::plain_name;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

/// All that a selection adds beside the struct.
pub(super) fn expand(of: &Struct, selection: &Selection) -> TokenStream {
    let (name, packed) = (&of.name, packed_name(of, selection));
    let element = element(of, selection, &packed);
    let gaps = gaps(selection, &packed);
    let function = function(of, selection, &packed);
    quote! {
        #element
        #gaps
        #[automatically_derived]
        #[allow(deprecated, reason = "a deprecated field is warned of where it is used")]
        impl #name {
            #function
        }
    }
}

/// `ParticlePlace` for the selection `place` of a `Particle`.
fn packed_name(of: &Struct, selection: &Selection) -> Ident {
    let mut name = plain_name(&of.name);
    for word in plain_name(&selection.name).split('_') {
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    format_ident!("{name}", span = Span::call_site())
}

/// The names of the fields, as a sentence has them.
fn listed(selection: &Selection) -> String {
    let names = selection.fields.iter().map(|field| format!("`{}`", plain_name(&field.name)));
    names.collect::<Vec<_>>().join(", ")
}

/// The struct of a packed element, which is plain data if all its fields are.
fn element(of: &Struct, selection: &Selection, packed: &Ident) -> TokenStream {
    let support = quote!(::chare::macro_support::bytemuck);
    let (visibility, of) = (&of.visibility, &of.name);
    let doc = format!(
        "The fields {} of a [`{of}`] in this order, without gaps: what [`{of}::{}`] selects.",
        listed(selection),
        selection.name
    );
    let fields = selection.fields.iter().map(|field| {
        let Field { name, docs, visibility, ty } = field;
        let name = format_ident!("{name}", span = Span::call_site());
        quote!(#(#docs)* #visibility #name: #ty)
    });
    let checks =
        selection.fields.iter().map(|Field { ty, .. }| quote_spanned!(ty.span()=> is_plain::<#ty>();));
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy)]
        #[repr(C)]
        #visibility struct #packed {
            #(#fields),*
        }
        const _: () = {
            const fn is_plain<T: ::chare::Element>() {}
            #(#checks)*
        };
        // SAFETY: zeros are a value of all fields, which are plain data, as is checked above.
        #[automatically_derived]
        unsafe impl #support::Zeroable for #packed {}
        // SAFETY: it is `repr(C)`, all fields are plain data, as is checked above, and assertions beside it show that there are no
        // gaps between them or behind the last.
        #[automatically_derived]
        unsafe impl #support::Pod for #packed {}
    }
}

/// Assertions, each where the name stands that is to blame.
fn gaps(selection: &Selection, packed: &Ident) -> TokenStream {
    let mut end = quote!(0);
    let mut assertions = TokenStream::new();
    for Field { name, ty, .. } in &selection.fields {
        let why = format!(
            "`{packed}` would have a gap before `{}`, and the packed stream has none: name fields of larger alignment first, or one that fills the gap",
            plain_name(name)
        );
        let at = quote!(::core::mem::offset_of!(#packed, #name));
        assertions.extend(quote_spanned! {name.span()=> const _: () = ::core::assert!(#at == #end, #why); });
        end = quote!(#at + ::core::mem::size_of::<#ty>());
    }
    let why = format!(
        "`{packed}` would have a gap behind its last field, and the packed stream has none: name another field that fills it"
    );
    let nothing =
        format!("`{packed}` would have no bytes, so there is nothing to pack: name a field that has some");
    let size = quote!(::core::mem::size_of::<#packed>());
    assertions.extend(quote_spanned! {selection.name.span()=>
        const _: () = ::core::assert!(#size == #end, #why);
        const _: () = ::core::assert!(#size != 0, #nothing);
    });
    assertions
}

/// The function that returns the layout.
fn function(of: &Struct, selection: &Selection, packed: &Ident) -> TokenStream {
    let (visibility, of, name) = (&of.visibility, &of.name, &selection.name);
    let doc = format!(
        "The layout of the fields {} of one [`{of}`]; a packed element is a [`{packed}`].\n\nOne value, made by the first call and shared by all others.",
        listed(selection)
    );
    let ty = quote!(::chare::layout::Layout<#of, #packed>);
    let ranges = selection.fields.iter().map(|field| {
        let Field { name, ty, .. } = field;
        let at = quote!(::core::mem::offset_of!(#of, #name));
        quote!(#at..#at + ::core::mem::size_of::<#ty>())
    });
    quote! {
        #[doc = #doc]
        #visibility fn #name() -> #ty {
            static LAYOUT: ::std::sync::LazyLock<#ty> = ::std::sync::LazyLock::new(|| {
                ::chare::layout::Layout::fields(&[#(#ranges),*])
                    .expect("fields lie in their struct, and their bytes are those of a packed element")
            });
            ::core::clone::Clone::clone(&*LAYOUT)
        }
    }
}
