//! The proxies: what a caller sees of a chare.
//!
//! A collection has three: of the whole, of an element, of a section; a single chare has one.

use super::create::create;
use super::members::{member, members};
use super::{arguments_type, arguments_value, declared, element_name, section, whole_name};
use crate::ast::{Chare, Constructor, Entry, Kind, LocalEntry, Parameter};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;
use syn::ext::IdentExt;

/// The proxy types.
pub(super) fn declarations(chare: &Chare) -> TokenStream {
    let name = &chare.name;
    let element = declaration(
        chare,
        &element_name(chare),
        "ElementHandle",
        &match chare.kind {
            Kind::Singleton => format!("Reaches a `{name}`, wherever it is: each method sends it a message."),
            _ => format!(
                "Reaches one `{name}` of a collection, wherever it is: each method sends it a message."
            ),
        },
    );
    let whole = match chare.kind {
        Kind::Singleton => return element,
        Kind::Array => "an array",
        Kind::Group => "a group, one on each PE",
        Kind::NodeGroup => "a nodegroup, one on each node",
    };
    let whole = declaration(
        chare,
        &whole_name(chare),
        "CollectionHandle",
        &format!("Reaches every `{name}` of {whole}: each method sends a message to all of them."),
    );
    let section = declaration(
        chare,
        &section::name(chare),
        "SectionHandle",
        &format!(
            "Reaches some `{name}`, of one collection or several: each method sends a message to all of them."
        ),
    );
    quote!(#whole #element #section)
}

fn declaration(chare: &Chare, proxy: &Ident, handle: &str, summary: &str) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Chare { path, conditions, constructor: Constructor { visibility, .. }, .. } = chare;
    let handle = format_ident!("{handle}");
    let (parameters, _, bounds) = chare.generics.split_for_impl();
    quote! {
        #(#conditions)*
        #[doc = #summary]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(#support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde", bound = "")]
        #visibility struct #proxy #parameters (#support::#handle<#path>) #bounds;
    }
}

/// The methods of the proxies, and how they are made of handles.
pub(super) fn implementations(chare: &Chare) -> TokenStream {
    let element = element_name(chare);
    let calls_of_one = chare.entries.iter().map(|entry| calls(entry, &ONE));
    let local_calls = chare.locals.iter().map(|entry| local_call(chare, entry));
    let create = create(chare);
    let common_of_one = common(chare, &element, "ElementHandle");
    let bounds = chare.bounds();
    let (parameters, arguments, bounds) = bounds.split_for_impl();
    let borrow_of_one = borrow(chare, &element, "ElementHandle");
    if chare.kind == Kind::Singleton {
        return quote! {
            impl #parameters #element #arguments #bounds { #create #(#calls_of_one)* #(#local_calls)* }
            #common_of_one
            #borrow_of_one
        };
    }
    let whole = whole_name(chare);
    let (members, member, borrow) =
        (members(chare), member(chare), borrow(chare, &whole, "CollectionHandle"));
    let calls_of_all = chare.entries.iter().map(|entry| calls(entry, &ALL));
    let common_of_all = common(chare, &whole, "CollectionHandle");
    let section = section::implementation(chare);
    quote! {
        impl #parameters #whole #arguments #bounds { #create #members #(#calls_of_all)* }
        #common_of_all
        #borrow
        #section
        impl #parameters #element #arguments #bounds { #member #(#calls_of_one)* #(#local_calls)* }
        #common_of_one
        #borrow_of_one
    }
}

/// What every proxy has.
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

/// Shows the handle to the runtime: what other collections are bound to, what is reached by a trait, what members contribute to.
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

/// The methods that an entry adds to a proxy.
pub(super) fn calls(entry: &Entry, reach: &Reach) -> TokenStream {
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
            self.0.#call::<#marker>(
                #arguments,
                [#(#support::SendBuffer::erase(::core::convert::Into::into(#buffers))),*]
            );
        }
    } else {
        let is_aggregated = reach.is_one && entry.options.aggregate.is_some();
        let call = format_ident!("{}", if is_aggregated { "call_aggregated" } else { reach.call });
        quote!(self.0.#call::<#marker>(#arguments);)
    };
    let method = match &entry.result {
        None => Some(quote! {
            #(#conditions)*
            #docs
            #visibility fn #name(&self, #declared) { #call }
        }),
        Some(result) if reach.is_one => {
            let future = Ident::new("future", Span::mixed_site());
            let reply = parameters.list.last().map(|Parameter { name, .. }| name);
            Some(quote! {
                #(#conditions)*
                #docs
                /// The future brings what it returns.
                #visibility fn #name(&self, #declared) -> ::chare::Future<#result> {
                    let (#future, #reply) = ::chare::future();
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
    quote! {
        #method

        #(#conditions)*
        #[doc = #callback_summary]
        #[must_use = "a callback does nothing until something calls it"]
        #visibility fn #callback(&self) -> ::chare::Callback<#message> {
            self.0.callback::<#marker>()
        }
    }
}

/// The method that calls a local entry.
fn local_call(chare: &Chare, entry: &LocalEntry) -> TokenStream {
    let path = &chare.path;
    let LocalEntry { visibility, docs, conditions, signature, arguments } = entry;
    let name = &signature.ident;
    let text = name.unraw().to_string();
    let summary = format!("Calls `{text}` of this chare like a function.");
    // The user's own parameters may have this name.
    let this = Ident::new("chare", Span::mixed_site());
    quote! {
        #(#conditions)*
        #(#docs)*
        #[doc = ""]
        #[doc = #summary]
        ///
        /// # Panics
        /// If the chare does not live on this PE, or its state is borrowed already: by the entry or the closure that is under way.
        #visibility #signature {
            self.0.call_local(#text, |#this| <#path>::#name(#this, #(#arguments),*))
        }
    }
}
