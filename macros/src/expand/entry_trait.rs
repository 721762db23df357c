//! Generated code of a trait of entries: its proxies, and the markers that lead from its entries to the methods of its implementations.

use super::arguments::arguments_type;
use super::calls::{ALL, ONE, SOME, calls};
use super::hidden::hide;
use super::{entry, register};
use crate::ast::{Entry, EntryTrait};
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

/// All that `#[entries]` adds beside the trait.
pub(crate) fn expand_trait(declared: &EntryTrait) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let EntryTrait { name, proxy, collection, section, visibility, conditions, entries } = declared;
    let summary = format!(
        "Reaches a chare that implements `{name}`, whatever its type: each method sends it a message."
    );
    let summary_of_all = format!(
        "Reaches every member of a collection whose chares implement `{name}`, whatever their type: each method sends a message to all of them."
    );
    let summary_of_some = format!(
        "Reaches the members of a section whose chares implement `{name}`, whatever their type: each method sends a message to all of them."
    );
    let text = format!("::{name}");
    let markers = entries.iter().enumerate().map(|(index, entry)| marker(declared, entry, &entries[..index]));
    let list = |of: TokenStream| {
        let items = entries
            .iter()
            .map(|Entry { marker, conditions, .. }| quote!(#(#conditions)* #support::#of #marker>()));
        quote!(&[#(#items),*])
    };
    let registrations = list(quote!(EntryRegistration::of_trait::<));
    let methods = list(quote!(TraitMethod::of::<__C,));
    let calls_of_one = entries.iter().map(|entry| calls(entry, &ONE));
    let calls_of_all = entries.iter().map(|entry| calls(entry, &ALL));
    let calls_of_some = entries.iter().map(|entry| calls(entry, &SOME));
    let common = quote! {
        /// The same proxy whose calls have other options.
        #[must_use = "only the calls of the returned proxy have the options"]
        #visibility fn with(&self, options: ::chare::CallOptions) -> Self {
            Self(self.0.with(options))
        }
    };
    let hidden = hide(
        conditions,
        &quote! {
            impl #support::EntryTrait for #proxy {
                const NAME: &'static str = ::core::concat!(::core::module_path!(), #text);
                const ENTRIES: &'static [#support::EntryRegistration] = #registrations;
            }

            impl<__C: #name> #support::ImplementedBy<__C> for #proxy {
                const METHODS: &'static [#support::TraitMethod] = #methods;
            }

            #support::inventory::submit! {
                #support::TraitRegistration::of::<#proxy>()
            }

            #(#markers)*

            impl #proxy {
                /// Reaches this chare.
                #visibility fn of<__C: #name>(
                    chare: &impl ::core::convert::AsRef<#support::ElementHandle<__C>>
                ) -> Self {
                    Self(#support::TraitHandle::of(::core::convert::AsRef::as_ref(chare)))
                }

                #common
                #(#calls_of_one)*
            }

            impl<__I: #support::ArrayIndex> #collection<__I> {
                /// Reaches the members of this collection.
                #visibility fn of<__C: #name + #support::Chare<Index = __I>>(
                    collection: &impl ::core::convert::AsRef<#support::CollectionHandle<__C>>
                ) -> Self {
                    Self(#support::TraitCollectionHandle::of(::core::convert::AsRef::as_ref(collection)))
                }

                /// The member with this index: its PE's number in a group, its node's in a nodegroup.
                #visibility fn at(&self, index: __I) -> #proxy {
                    #proxy(self.0.at(&index))
                }

                #common
                #(#calls_of_all)*
            }

            impl #section {
                /// Reaches the members of this section.
                #visibility fn of<__C: #name>(
                    section: &impl ::core::convert::AsRef<#support::SectionHandle<__C>>
                ) -> Self {
                    Self(#support::TraitSectionHandle::of(::core::convert::AsRef::as_ref(section)))
                }

                /// Forms a section of these members of collections, whatever their types. One message to each PE that is home to
                /// one of them. That one is a singleton ends the job with an error that says so.
                #visibility fn form(
                    members: impl ::core::iter::IntoIterator<Item = impl ::core::borrow::Borrow<#proxy>>
                ) -> Self {
                    Self(#support::TraitSectionHandle::form(::core::iter::Iterator::map(
                        ::core::iter::IntoIterator::into_iter(members),
                        |member| ::core::clone::Clone::clone(&::core::borrow::Borrow::<#proxy>::borrow(&member).0)
                    )))
                }

                /// Ends the section; its chares stay.
                #visibility fn dissolve(&self) {
                    self.0.dissolve();
                }

                #common
                #(#calls_of_some)*
            }
        },
    );
    quote! {
        #(#conditions)*
        #[doc = #summary]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, #support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde")]
        #visibility struct #proxy(#support::TraitHandle);

        #(#conditions)*
        #[doc = #summary_of_all]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, #support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde", bound = "")]
        #visibility struct #collection<__I: #support::ArrayIndex>(#support::TraitCollectionHandle<__I>);

        #(#conditions)*
        #[doc = #summary_of_some]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, #support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde")]
        #visibility struct #section(#support::TraitSectionHandle);
        #hidden
    }
}

fn marker(declared: &EntryTrait, entry: &Entry, before: &[Entry]) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let EntryTrait { name: of, proxy, .. } = declared;
    let Entry { name, marker, conditions, parameters, .. } = entry;
    let text = name.unraw().to_string();
    let arguments = arguments_type(parameters);
    let signature = register::signature(parameters);
    let index = register::index_behind(before);
    let options = entry::options(entry);
    let invoke = entry::invoke(entry, &quote!(<__C as #of>), &quote!(__C));
    quote! {
        #(#conditions)*
        struct #marker;

        #(#conditions)*
        impl #support::TraitEntry for #marker {
            type Trait = #proxy;
            type Arguments = #arguments;
            const NAME: &'static str = #text;
            const SIGNATURE: &'static str = #signature;
            const INDEX: u16 = #index;
            #options
        }

        #(#conditions)*
        impl<__C: #of> #support::RunBy<__C> for #marker {
            #invoke
        }
    }
}
