//! Member access: the methods of a collection's proxy that lead to its members, and those of a member's proxy that are no calls.

use super::arguments::{arguments_value, declared};
use super::names::element_name;
use crate::ast::{Chare, Kind};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The methods that lead from a collection to its members.
pub(super) fn members(chare: &Chare) -> TokenStream {
    let visibility = &chare.constructor.visibility;
    let element = element_name(chare);
    let element_type = chare.with_arguments(&element);
    let local = |place: &str| {
        let summary = format!("The element of this {place}.");
        quote! {
            #[doc = #summary]
            #visibility fn local(&self) -> #element_type {
                #element(self.0.local())
            }
        }
    };
    let destroy = |group: &str| {
        let summary = format!(
            "Destroys every element, and so the {group}, which is forgotten then: a call of an element ends the job with"
        );
        quote! {
            #[doc = #summary]
            /// an error, a call of all comes to nobody.
            #visibility fn destroy(&self) {
                self.0.destroy();
            }
        }
    };
    match chare.kind {
        Kind::Singleton => TokenStream::new(),
        Kind::Array => {
            let index = &chare.index;
            quote! {
                /// The element with this index.
                #visibility fn at(&self, index: #index) -> #element_type {
                    #element(self.0.at(&index))
                }

                /// Says that nobody will insert elements any more: from now on, a message to an element that is not there
                /// ends the job with an error that names it. Other PEs' insertions must be over.
                #visibility fn done_inserting(&self) {
                    self.0.done_inserting();
                }

                /// Destroys every element. An array into which none can come has ended then, and is forgotten: a call of an element
                /// ends the job with an error, a call of all comes to nobody.
                #visibility fn destroy(&self) {
                    self.0.destroy();
                }
            }
        }
        Kind::Group => {
            let (local, destroy) = (local("PE"), destroy("group"));
            quote! {
                /// The element on this PE: a `PeId`, or the index of an element.
                #visibility fn on(&self, pe: impl ::core::convert::Into<::chare::PeId>) -> #element_type {
                    #element(self.0.on(::core::convert::Into::into(pe)))
                }
                #local
                #destroy
            }
        }
        Kind::NodeGroup => {
            let (local, destroy) = (local("node"), destroy("nodegroup"));
            quote! {
                /// The element on this node: a `NodeId`, or the index of an element.
                #visibility fn on(&self, node: impl ::core::convert::Into<::chare::NodeId>) -> #element_type {
                    #element(self.0.on_node(::core::convert::Into::into(node)))
                }
                #local
                #destroy
            }
        }
    }
}

/// The methods of a member's proxy that are no calls.
pub(super) fn member(chare: &Chare) -> TokenStream {
    let Chare { path, constructor, kind, .. } = chare;
    let visibility = &constructor.visibility;
    let local = quote! {
        /// Reaches the chare without a message, if it lives on this PE; `None` if it does not.
        ///
        /// # Panics
        /// If the chare's state is borrowed already: by the entry or the closure that is under way.
        #visibility fn local<__R>(
            &self,
            body: impl ::core::ops::FnOnce(&mut #path) -> __R
        ) -> ::core::option::Option<__R> {
            self.0.local(body)
        }
    };
    if *kind != Kind::Array {
        return local;
    }
    let declared = declared(&constructor.parameters);
    let arguments = arguments_value(&constructor.parameters);
    // The user's own parameters may have this name.
    let pe = Ident::new("pe", Span::mixed_site());
    quote! {
        #local

        /// Inserts this element into a dynamic array, at its home. That there is one already ends the job with an error.
        #visibility fn insert(&self, #declared) {
            self.0.insert(::core::option::Option::None, #arguments);
        }

        /// Like [`insert`](Self::insert), on a PE of the caller's choice.
        #visibility fn insert_on(&self, #pe: ::chare::PeId, #declared) {
            self.0.insert(::core::option::Option::Some(#pe), #arguments);
        }

        /// Destroys this element when the messages before this one have run.
        #visibility fn destroy(&self) {
            self.0.destroy();
        }
    }
}
