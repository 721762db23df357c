//! Generated code of a trait of entries: its proxies, and the markers that lead from its entries to the methods of its implementations.

use super::arguments::arguments_type;
use super::calls::{ALL, ONE, SOME, calls_by};
use super::hidden::hide;
use super::{entry, register};
use crate::ast::{Entry, EntryTrait};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Ident, Path};

/// All that `#[entries]` adds beside the trait.
pub(crate) fn expand_trait(declared: &EntryTrait) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let EntryTrait { name, base, proxy, collection, section, visibility, conditions, entries } = declared;
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
    let index = quote!(__I);
    let one = Handle { proxy, suffix: "Proxy", of: quote!(#support::TraitHandle), index: None };
    let all = Handle {
        proxy: collection,
        suffix: "CollectionProxy",
        of: quote!(#support::TraitCollectionHandle<__I>),
        index: Some(&index),
    };
    let some = Handle {
        proxy: section,
        suffix: "SectionProxy",
        of: quote!(#support::TraitSectionHandle),
        index: None,
    };
    let (one_inside, all_inside, some_inside) = (one.inside(base), all.inside(base), some.inside(base));
    let (of_one, of_all, of_some) = (one.of_self(), all.of_self(), some.of_self());
    let layers = [&one, &all, &some].map(|handle| handle.layers(base.as_ref()));
    let calls_of_one = entries.iter().map(|entry| calls_by(&of_one, entry, &ONE));
    let calls_of_all = entries.iter().map(|entry| calls_by(&of_all, entry, &ALL));
    let calls_of_some = entries.iter().map(|entry| calls_by(&of_some, entry, &SOME));
    let [with_of_one, with_of_all, with_of_some] = [&of_one, &of_all, &of_some].map(|handle| {
        quote! {
            /// The same proxy whose calls have other options.
            #[must_use = "only the calls of the returned proxy have the options"]
            #visibility fn with(&self, options: ::chare::CallOptions) -> Self {
                ::core::convert::From::from(#handle.with(options))
            }
        }
    });
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
            #(#layers)*

            impl #proxy {
                /// Reaches this chare.
                #visibility fn of<__C: #name>(
                    chare: &impl ::core::convert::AsRef<#support::ElementHandle<__C>>
                ) -> Self {
                    ::core::convert::From::from(#support::TraitHandle::of(::core::convert::AsRef::as_ref(chare)))
                }

                #with_of_one
                #(#calls_of_one)*
            }

            impl<__I: #support::ArrayIndex> #collection<__I> {
                /// Reaches the members of this collection.
                #visibility fn of<__C: #name + #support::Chare<Index = __I>>(
                    collection: &impl ::core::convert::AsRef<#support::CollectionHandle<__C>>
                ) -> Self {
                    ::core::convert::From::from(#support::TraitCollectionHandle::of(
                        ::core::convert::AsRef::as_ref(collection)
                    ))
                }

                /// The member with this index: its PE's number in a group, its node's in a nodegroup.
                #visibility fn at(&self, index: __I) -> #proxy {
                    ::core::convert::From::from(#of_all.at(&index))
                }

                #with_of_all
                #(#calls_of_all)*
            }

            impl #section {
                /// Reaches the members of this section.
                #visibility fn of<__C: #name>(
                    section: &impl ::core::convert::AsRef<#support::SectionHandle<__C>>
                ) -> Self {
                    ::core::convert::From::from(#support::TraitSectionHandle::of(::core::convert::AsRef::as_ref(section)))
                }

                /// Forms a section of these members of collections, whatever their types. One message to each PE that is home to
                /// one of them. That one is a singleton ends the job with an error that says so.
                #visibility fn form(
                    members: impl ::core::iter::IntoIterator<Item = impl ::core::borrow::Borrow<#proxy>>
                ) -> Self {
                    ::core::convert::From::from(#support::TraitSectionHandle::form(::core::iter::Iterator::map(
                        ::core::iter::IntoIterator::into_iter(members),
                        |member| {
                            let member: &#proxy = ::core::borrow::Borrow::borrow(&member);
                            ::core::clone::Clone::clone(
                                ::core::convert::AsRef::<#support::TraitHandle>::as_ref(member)
                            )
                        }
                    )))
                }

                /// Calls back when the section is formed: when every PE that is home to a chare of it has given the chare its place.
                #visibility fn formed(&self, callback: ::chare::Callback<()>) {
                    #of_some.formed(callback);
                }

                /// Ends the section; its chares stay.
                #visibility fn dissolve(&self) {
                    #of_some.dissolve();
                }

                #with_of_some
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
        #visibility struct #proxy(#one_inside);

        #(#conditions)*
        #[doc = #summary_of_all]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, #support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde", bound = "")]
        #visibility struct #collection<__I: #support::ArrayIndex>(#all_inside);

        #(#conditions)*
        #[doc = #summary_of_some]
        ///
        /// Cheap to clone, and can itself be an argument. Two are equal if they reach the same.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, #support::serde::Serialize, #support::serde::Deserialize)]
        #[serde(crate = "::chare::macro_support::serde")]
        #visibility struct #section(#some_inside);
        #hidden
    }
}

/// A trait's proxy and the handle in it. The proxy of a trait that extends another holds that one's proxy, which holds the handle.
struct Handle<'a> {
    proxy: &'a Ident,
    /// The end of the proxy's name, after the trait's.
    suffix: &'static str,
    /// The handle's type.
    of: TokenStream,
    /// The parameter of a collection's proxy.
    index: Option<&'a TokenStream>,
}

impl Handle<'_> {
    /// The proxy of the trait that is extended.
    fn proxy_of(&self, base: &Path) -> TokenStream {
        let mut proxy = base.clone();
        if let Some(last) = proxy.segments.last_mut() {
            last.ident = format_ident!("{}{}", last.ident, self.suffix);
        }
        match self.index {
            Some(index) => quote!(#proxy<#index>),
            None => quote!(#proxy),
        }
    }

    /// The type of the proxy's field.
    fn inside(&self, base: &Option<Path>) -> TokenStream {
        base.as_ref().map_or_else(|| self.of.clone(), |base| self.proxy_of(base))
    }

    /// The handle of `self`.
    fn of_self(&self) -> TokenStream {
        let of = &self.of;
        quote!(::core::convert::AsRef::<#of>::as_ref(self))
    }

    /// The implementations that lead from the proxy to its handle and back, and to the proxy of the trait that is extended.
    fn layers(&self, base: Option<&Path>) -> TokenStream {
        let Self { proxy, of, index, .. } = self;
        let parameters = index.map(|index| quote!(<#index: ::chare::macro_support::ArrayIndex>));
        let arguments = index.map(|index| quote!(<#index>));
        let to_base = base.map(|base| {
            let base = self.proxy_of(base);
            quote! {
                impl #parameters ::core::ops::Deref for #proxy #arguments {
                    type Target = #base;

                    fn deref(&self) -> &Self::Target {
                        &self.0
                    }
                }

                impl #parameters ::core::convert::From<#proxy #arguments> for #base {
                    fn from(proxy: #proxy #arguments) -> Self {
                        proxy.0
                    }
                }
            }
        });
        let (reached, made) = match base {
            Some(_) => {
                (quote!(::core::convert::AsRef::as_ref(&self.0)), quote!(::core::convert::From::from(handle)))
            }
            None => (quote!(&self.0), quote!(handle)),
        };
        quote! {
            impl #parameters ::core::convert::AsRef<#of> for #proxy #arguments {
                fn as_ref(&self) -> &#of {
                    #reached
                }
            }

            impl #parameters ::core::convert::From<#of> for #proxy #arguments {
                fn from(handle: #of) -> Self {
                    Self(#made)
                }
            }

            #to_base
        }
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
    let forsake = entry::forsake(entry);
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
            #forsake
        }

        #(#conditions)*
        impl<__C: #of> #support::RunBy<__C> for #marker {
            #invoke
        }
    }
}
