//! Awaited entries: the type that keeps their calls, and the function by whose name an `async` entry asks for them.

use super::arguments::{argument_places, type_of};
use crate::ast::{Chare, Entry, Parameter};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

pub(super) fn awaited(chare: &Chare) -> impl Iterator<Item = &Entry> {
    chare.entries.iter().filter(|entry| entry.options.awaited)
}

/// The type that holds the calls of one chare.
pub(super) fn type_of_calls(chare: &Chare) -> TokenStream {
    if awaited(chare).next().is_none() {
        return quote!(());
    }
    chare.with_arguments(&format_ident!("__Awaited"))
}

/// That type, and the implementations by which each entry can be awaited.
pub(super) fn declarations(chare: &Chare) -> TokenStream {
    if awaited(chare).next().is_none() {
        return TokenStream::new();
    }
    let support = quote!(::chare::macro_support);
    let calls = type_of_calls(chare);
    let bounds = chare.bounds();
    let (parameters, _, bounds) = bounds.split_for_impl();
    let fields = awaited(chare).map(
        |Entry { name, marker, conditions, .. }| quote!(#(#conditions)* #name: #support::Calls<#marker>),
    );
    let empty = awaited(chare).map(
        |Entry { name, conditions, .. }| quote!(#(#conditions)* #name: ::core::default::Default::default()),
    );
    let waits = awaited(chare)
        .map(|Entry { name, conditions, .. }| quote!(#(#conditions)* self.#name.each_wait(tell);));
    let entries = awaited(chare).map(|entry| implementation(chare, entry));
    quote! {
        pub struct __Awaited #parameters #bounds { #(#fields),* }

        impl #parameters ::core::default::Default for #calls #bounds {
            fn default() -> Self {
                Self { #(#empty),* }
            }
        }

        impl #parameters #support::AwaitedCalls for #calls #bounds {
            fn each_wait(&self, tell: &mut dyn ::core::ops::FnMut(#support::Wait<'_>)) {
                #(#waits)*
            }
        }

        #(#entries)*
    }
}

fn implementation(chare: &Chare, entry: &Entry) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let path = &chare.path;
    let Entry { name, marker, docs, conditions, parameters, .. } = entry;
    let calls = type_of_calls(chare);
    let bounds = chare.bounds();
    let (parameters_of_chare, _, bounds) = bounds.split_for_impl();
    let reference = match parameters.list.iter().find(|parameter| parameter.is_reference) {
        Some(Parameter { ty, .. }) => quote!(#ty),
        None => quote!(u64),
    };
    let all = type_of(parameters.list.iter(), parameters.span);
    quote! {
        #(#conditions)*
        impl #parameters_of_chare #support::AwaitedEntry for #marker #bounds {
            type Reference = #reference;
            type Parameters = #all;

            fn calls(awaited: &#calls) -> &#support::Calls<Self> {
                &awaited.#name
            }
        }

        #(#conditions)*
        impl #parameters_of_chare #path #bounds {
            #(#docs)*
            fn #name() -> ::core::marker::PhantomData<#marker> {
                ::core::marker::PhantomData
            }
        }
    }
}

/// The statement that keeps a call until an `async` entry asks for it.
pub(super) fn put_aside(entry: &Entry) -> TokenStream {
    let mut places = argument_places(&entry.parameters).into_iter();
    let mut reference = quote!(::chare::reference());
    let passed: Vec<_> = entry
        .parameters
        .list
        .iter()
        .map(|Parameter { ty, passing, is_reference, .. }| {
            if passing.is_beside() {
                return quote!(nocopy.take::<#ty>());
            }
            let place = places.next().expect("every argument of the message has a place");
            if *is_reference {
                reference = quote!(::core::clone::Clone::clone(&#place));
            }
            place
        })
        .collect();
    let all = match &*passed {
        [single] => quote!(#single),
        passed => quote!((#(#passed),*)),
    };
    quote!(this.put_aside::<Self>(#reference, #all))
}
