//! Generated code of a sound chare: proxies that callers name, and everything else inside one anonymous constant.
//!
//! 1. It decides nothing: it names types and calls `::chare::macro_support`.
//! 2. It reaches everything through absolute paths, and names nothing that a user's type could be called. Marker types
//!    start with two underscores; the only generated parameter names beside the user's own are hygienic.
//! 3. The code for a conditional method repeats its condition.

mod arguments;
mod awaited;
mod calls;
mod chare;
mod create;
mod entry;
mod entry_trait;
mod hidden;
mod hints;
mod members;
mod movement;
mod names;
mod proxy;
mod register;
mod section;
mod travelling;

use crate::ast::Chare;
pub(crate) use entry_trait::expand_trait;
use hidden::hide;
use proc_macro2::TokenStream;
use quote::quote;

/// All that `#[chare]` adds beside the block.
pub(crate) fn expand(chare: &Chare) -> TokenStream {
    let Chare { conditions, .. } = chare;
    let declarations = proxy::declarations(chare);
    let implementation = chare::implementation(chare);
    let movement = movement::implementation(chare);
    let registration = register::registration(chare);
    let entries = chare.entries.iter().enumerate().map(|(index, _)| entry::marker(chare, index));
    let awaited = awaited::declarations(chare);
    let travelling = travelling::implementations(chare);
    let proxies = proxy::implementations(chare);
    let section = section::implementation(chare);
    let hints = hints::hints(chare);
    let hidden = hide(
        conditions,
        &quote! {
            #implementation
            #movement
            #registration
            #(#entries)*
            #awaited
            #travelling
            #proxies
            #section
            #hints
        },
    );
    quote!(#declarations #hidden)
}

#[cfg(test)]
mod tests;
