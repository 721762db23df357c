//! List of the misuses in a block: none of them stops the macro, so all are reported at once, each where it stands.

pub(crate) use crate::misuse::Misuse;

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

/// The misuses found so far.
#[derive(Debug, Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Reports a misuse at the given tokens.
    pub(crate) fn report(&mut self, at: impl ToTokens, misuse: impl Display) {
        self.add(syn::Error::new_spanned(at, misuse));
    }

    /// Adds an error that the parser found.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The compiler's own error for each.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map_or_else(TokenStream::new, |errors| errors.to_compile_error())
    }

    /// The messages, for tests.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.iter().flatten().map(|error| error.to_string()).collect()
    }
}
