//! The derive `Layout`: takes a struct, and adds for each selection of its fields a layout and the struct of a packed element.
//!
//! Names are checked here, types and sizes by the compiler, which `expand` asks to; sound selections expand beside others that are not.

mod expand;
mod misuse;
mod parse;

use crate::errors::Errors;
use proc_macro2::TokenStream;

/// What stands beside the struct, and the errors.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut tokens = TokenStream::new();
    if let Some(of) = parse::parse(item, &mut errors) {
        tokens.extend(of.selections.iter().map(|selection| expand::expand(&of, selection)));
    }
    tokens.extend(errors.into_tokens());
    tokens
}
