//! Movement: the traits of chares that migrate, with their hooks, and of those that take part in syncs.

use crate::ast::{Chare, Hook, Moment};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// The implementation of the trait, whose bounds the chare's state has to satisfy.
pub(super) fn implementation(chare: &Chare) -> TokenStream {
    let Some(hooks) = &chare.hooks else { return TokenStream::new() };
    let path = &chare.path;
    let bounds = chare.bounds();
    let (parameters, _, bounds) = bounds.split_for_impl();
    let hooks = hooks.iter().map(hook);
    // What is wrong with the state is an error of the compiler's at the type.
    let operations = quote_spanned!(path.span()=> &::chare::macro_support::Movement::of::<#path>(::chare::macro_support::let_go));
    let takes_part = chare.syncs.then(|| {
        quote!(
            const SYNCS: bool = true;
        )
    });
    let syncs = chare.syncs.then(|| quote!(impl #parameters ::chare::Syncs for #path #bounds {}));
    quote! {
        impl #parameters ::chare::Migrates for #path #bounds {
            #(#hooks)*
            #takes_part
            const OPERATIONS: &'static ::chare::macro_support::Movement = #operations;
        }
        #syncs
    }
}

fn hook(Hook { moment, method, conditions }: &Hook) -> TokenStream {
    let option = quote!(::core::option::Option);
    let constant = match moment {
        Moment::AboutToMove => quote! {
            const ABOUT_TO_MOVE: #option<fn(&mut Self)> = #option::Some(|chare| Self::#method(chare));
        },
        Moment::Moved => quote! {
            const MOVED: #option<fn(&mut Self, ::chare::PeId)> =
                #option::Some(|chare, from| Self::#method(chare, from));
        },
        Moment::Load => quote! {
            const LOAD: #option<fn(&Self) -> f64> = #option::Some(|chare| Self::#method(chare));
        },
        Moment::Position => quote! {
            const POSITION: #option<fn(&Self) -> [f64; 3]> =
                #option::Some(|chare| ::chare::macro_support::place(Self::#method(chare)));
        },
    };
    quote!(#(#conditions)* #constant)
}
