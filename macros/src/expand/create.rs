//! Creation: the functions of a proxy that make a chare or a collection.

use super::arguments::{arguments_value, declared};
use crate::ast::{Chare, Constructor, Kind};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The functions that make a chare or a collection.
pub(super) fn create(chare: &Chare) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Constructor { visibility, docs, parameters, .. } = &chare.constructor;
    let name = &chare.name;
    let summary = match chare.kind {
        Kind::Singleton => format!("Creates a `{name}` on a PE that the runtime chooses."),
        Kind::Array => {
            format!("Creates an array of `{name}`, each constructed from a clone of the arguments.")
        }
        Kind::Group => {
            format!("Creates one `{name}` on each PE, each constructed from a clone of the arguments.")
        }
        Kind::NodeGroup => {
            format!("Creates one `{name}` on each node, each constructed from a clone of the arguments.")
        }
    };
    let docs = quote!(#[doc = #summary] #[doc = ""] #(#docs)*);
    let declared = declared(parameters);
    let arguments = arguments_value(parameters);
    // The user's own parameters may have these names.
    let options = Ident::new("options", Span::mixed_site());
    let pe = Ident::new("pe", Span::mixed_site());
    let index = &chare.index;
    match chare.kind {
        Kind::Singleton => quote! {
            #docs
            #visibility fn create(#declared) -> Self {
                Self(#support::ElementHandle::create(::chare::CallOptions::new(), #arguments))
            }

            /// Like [`create`](Self::create), on a PE of the caller's choice.
            #visibility fn create_on(#pe: ::chare::PeId, #declared) -> Self {
                Self(#support::ElementHandle::create_on(#pe, ::chare::CallOptions::new(), #arguments))
            }

            /// Like [`create_on`](Self::create_on); the creation waits in that PE's queue as the options say.
            #visibility fn create_on_with(
                #pe: ::chare::PeId,
                #options: ::chare::CallOptions,
                #declared
            ) -> Self {
                Self(#support::ElementHandle::create_on(#pe, #options, #arguments))
            }

            /// Like [`create`](Self::create); the creation waits in the chosen PE's queue as the options say.
            #visibility fn create_with(#options: ::chare::CallOptions, #declared) -> Self {
                Self(#support::ElementHandle::create(#options, #arguments))
            }
        },
        Kind::Array => quote! {
            #docs
            #visibility fn create(
                #options: impl ::core::convert::Into<::chare::ArrayOptions<#index>>,
                #declared
            ) -> Self {
                Self(#support::CollectionHandle::create_array(
                    ::core::convert::Into::into(#options),
                    #arguments
                ))
            }

            /// Like [`create`](Self::create), of an array that begins without elements, which needs no arguments.
            ///
            /// # Panics
            /// If the options name elements.
            #visibility fn create_empty(#options: ::chare::ArrayOptions<#index>) -> Self {
                Self(#support::CollectionHandle::create_empty(#options))
            }
        },
        Kind::Group | Kind::NodeGroup => {
            let create = match chare.kind {
                Kind::Group => quote!(create_group),
                _ => quote!(create_nodegroup),
            };
            let other = Ident::new("other", Span::mixed_site());
            quote! {
                #docs
                #visibility fn create(#declared) -> Self {
                    Self(#support::CollectionHandle::#create(::core::option::Option::None, #arguments))
                }

                /// Like [`create`](Self::create); on each PE, constructs its element after those of another collection, which the
                /// constructor may reach. Collections that one PE creates come in the order of their creation without this.
                #visibility fn create_after<__D: #support::Chare>(
                    #other: &impl ::core::convert::AsRef<#support::CollectionHandle<__D>>,
                    #declared
                ) -> Self {
                    let after = ::core::option::Option::Some(::core::convert::AsRef::as_ref(#other).id());
                    Self(#support::CollectionHandle::#create(after, #arguments))
                }
            }
        }
    }
}
