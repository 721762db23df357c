//! Hidden code: an anonymous constant around what no program names, with the lints that it must not raise.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

/// Code that nobody names, in an anonymous constant.
pub(super) fn hide(conditions: &[Attribute], code: &TokenStream) -> TokenStream {
    quote! {
        #(#conditions)*
        #[allow(
            non_camel_case_types,
            reason = "a marker type is named after its method"
        )]
        #[allow(
            dead_code,
            reason = "a program need not call everything that a proxy offers"
        )]
        #[allow(
            deprecated,
            reason = "a deprecated entry is warned of where its proxy is called"
        )]
        #[allow(
            clippy::too_many_arguments,
            reason = "a proxy's method has the parameters of its entry"
        )]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "a proxy may be more visible than its chare and its entries' arguments"
        )]
        const _: () = { #code };
    }
}
