//! Calls: the methods that each entry adds to a proxy, and the implementations that all proxies share.

use super::arguments::{arguments_type, arguments_value, declared};
use crate::ast::{Chare, Constructor, Entry, Parameter};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;

/// Whom the methods of a proxy call, in the words of the handles and of the documentation.
pub(super) struct Reach {
    pub(super) call: &'static str,
    pub(super) call_nocopy: &'static str,
    pub(super) whom: &'static str,
    pub(super) is_one: bool,
}

pub(super) const ONE: Reach =
    Reach { call: "call", call_nocopy: "call_nocopy", whom: "this chare", is_one: true };
pub(super) const ALL: Reach = Reach {
    call: "broadcast",
    call_nocopy: "broadcast_nocopy",
    whom: "every chare of the collection",
    is_one: false,
};
pub(super) const SOME: Reach = Reach {
    call: "multicast",
    call_nocopy: "multicast_nocopy",
    whom: "every chare of the section",
    is_one: false,
};

/// The methods that an entry adds to the proxy of a chare type.
pub(super) fn calls(entry: &Entry, reach: &Reach) -> TokenStream {
    calls_by(&quote!(self.0), entry, reach)
}

/// The methods that an entry adds to a proxy with this handle.
pub(super) fn calls_by(handle: &TokenStream, entry: &Entry, reach: &Reach) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Entry { name, marker, visibility, docs, conditions, parameters, .. } = entry;
    let plain_name = name.unraw();
    let summary = format!("Sends a message that calls `{plain_name}` on {}.", reach.whom);
    let docs = quote!(#(#docs)* #[doc = ""] #[doc = #summary]);
    let declared = declared(parameters);
    let arguments = arguments_value(parameters);
    let call = if entry.takes_nocopy() {
        let call = format_ident!("{}", reach.call_nocopy);
        let buffers = parameters.beside().map(|Parameter { name, .. }| name);
        quote! {
            #handle.#call::<#marker>(
                #arguments,
                [#(#support::NocopyArgument::erase(#buffers)),*]
            );
        }
    } else {
        let is_aggregated = reach.is_one && entry.options.aggregate.is_some();
        let call = format_ident!("{}", if is_aggregated { "call_aggregated" } else { reach.call });
        quote!(#handle.#call::<#marker>(#arguments);)
    };
    // What the compiler says about the method, such as that it is private, it says at the entry.
    let span = name.span().resolved_at(Span::call_site());
    let method = match &entry.result {
        None => Some(quote_spanned! {span=>
            #(#conditions)*
            #docs
            #visibility fn #name(&self, #declared) { #call }
        }),
        Some(result) if reach.is_one => {
            let future = Ident::new("future", Span::mixed_site());
            let reply = parameters.list.last().map(|Parameter { name, .. }| name);
            Some(quote_spanned! {span=>
                #(#conditions)*
                #docs
                /// The future brings what it returns.
                #visibility fn #name(&self, #declared) -> ::chare::Future<#result> {
                    let (#future, #reply) = ::chare::macro_support::ask();
                    #call
                    #future
                }
            })
        }
        // Nobody asked which of many results it should be.
        Some(_) => None,
    };
    if entry.takes_nocopy() {
        return method.unwrap_or_default();
    }
    let callback = format_ident!("{plain_name}_callback", span = name.span());
    let callback_summary =
        format!("A callback that calls `{plain_name}` on {} with what it is given.", reach.whom);
    let message = arguments_type(parameters);
    quote_spanned! {span=>
        #method

        #(#conditions)*
        #[doc = #callback_summary]
        #[must_use = "a callback does nothing until something calls it"]
        #visibility fn #callback(&self) -> ::chare::Callback<#message> {
            #handle.callback::<#marker>()
        }
    }
}

/// The implementations that every proxy has.
pub(super) fn common(chare: &Chare, proxy: &Ident, handle: &str) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Chare { path, constructor: Constructor { visibility, .. }, .. } = chare;
    let handle = format_ident!("{handle}");
    let text = proxy.to_string();
    let bounds = chare.bounds();
    let (parameters, arguments, bounds) = bounds.split_for_impl();
    quote! {
        impl #parameters ::core::clone::Clone for #proxy #arguments #bounds {
            fn clone(&self) -> Self {
                Self(::core::clone::Clone::clone(&self.0))
            }
        }

        impl #parameters ::core::cmp::PartialEq for #proxy #arguments #bounds {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl #parameters ::core::cmp::Eq for #proxy #arguments #bounds {}

        impl #parameters ::core::hash::Hash for #proxy #arguments #bounds {
            fn hash<__H: ::core::hash::Hasher>(&self, state: &mut __H) {
                ::core::hash::Hash::hash(&self.0, state);
            }
        }

        impl #parameters ::core::fmt::Debug for #proxy #arguments #bounds {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.debug_tuple(#text).field(&self.0).finish()
            }
        }

        impl #parameters #proxy #arguments #bounds {
            /// The same proxy whose calls have other options.
            #[must_use = "only the calls of the returned proxy have the options"]
            #visibility fn with(&self, options: ::chare::CallOptions) -> Self {
                Self(self.0.with(options))
            }
        }

        impl #parameters ::core::convert::From<#support::#handle<#path>> for #proxy #arguments #bounds {
            fn from(handle: #support::#handle<#path>) -> Self {
                Self(handle)
            }
        }
    }
}

/// The reference to the handle, for the runtime: to bind other collections to it, to reach it by a trait, to contribute to it.
pub(super) fn borrow(chare: &Chare, proxy: &Ident, handle: &str) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let path = &chare.path;
    let handle = format_ident!("{handle}");
    let bounds = chare.bounds();
    let (parameters, arguments, bounds) = bounds.split_for_impl();
    quote! {
        impl #parameters ::core::convert::AsRef<#support::#handle<#path>> for #proxy #arguments #bounds {
            fn as_ref(&self) -> &#support::#handle<#path> {
                &self.0
            }
        }
    }
}
