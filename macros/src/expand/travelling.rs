//! Travelling calls: the calls of awaited entries that go along with a chare which migrates, each parameter as it leaves a process.

use super::awaited::{awaited, type_of_calls};
use crate::ast::{Chare, Entry, Parameter};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Index;

/// The implementations for the table of calls and for each entry, if the chare migrates and awaits entries.
pub(super) fn implementations(chare: &Chare) -> TokenStream {
    if chare.hooks.is_none() || awaited(chare).next().is_none() {
        return TokenStream::new();
    }
    let support = quote!(::chare::macro_support);
    let calls = type_of_calls(chare);
    let bounds = chare.bounds();
    let (parameters, _, bounds) = bounds.split_for_impl();
    let each = |part: fn(&Entry) -> TokenStream| {
        let parts = awaited(chare).map(|entry| {
            let (conditions, part) = (&entry.conditions, part(entry));
            quote!(#(#conditions)* #part)
        });
        parts.collect::<Vec<_>>()
    };
    let taken = each(|Entry { name, .. }| quote!(#name: self.#name.take()));
    let looks = each(|Entry { name, .. }| quote!(if !self.#name.can_be_written() { return false; }));
    let writes = each(|Entry { name, .. }| quote!(self.#name.write(out)?;));
    let reads = each(|Entry { name, .. }| quote!(#name: ::chare::macro_support::Calls::read(bytes)?));
    let entries = awaited(chare).map(|entry| implementation(chare, entry));
    quote! {
        impl #parameters #support::TravellingCalls for #calls #bounds {
            fn take(&self) -> Self {
                Self { #(#taken),* }
            }

            fn can_be_written(&self) -> bool {
                #(#looks)*
                true
            }

            fn write(
                &self,
                out: &mut #support::Writer<'_>
            ) -> ::core::result::Result<(), #support::CodecError> {
                #(#writes)*
                ::core::result::Result::Ok(())
            }

            fn read(
                bytes: &mut &[::core::primitive::u8]
            ) -> ::core::result::Result<Self, ::std::string::String> {
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }

        #(#entries)*
    }
}

fn implementation(chare: &Chare, entry: &Entry) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Entry { marker, conditions, parameters, .. } = entry;
    let bounds = chare.bounds();
    let (parameters_of_chare, _, bounds) = bounds.split_for_impl();
    let list = &parameters.list;
    let place = |position: usize| match list.len() {
        1 => quote!(parameters),
        _ => {
            let position = Index::from(position);
            quote!(&parameters.#position)
        }
    };
    let beside = |parameter: &Parameter| parameter.passing.is_beside();
    let looks = list.iter().enumerate().filter(|(_, parameter)| beside(parameter)).map(|(position, _)| {
        let place = place(position);
        quote!(&& #support::NocopyParameter::can_be_written(#place))
    });
    let writes = list.iter().enumerate().map(|(position, parameter)| {
        let place = place(position);
        if beside(parameter) {
            quote!(#support::NocopyParameter::write(#place, out)?;)
        } else {
            quote!(out.write(#place)?;)
        }
    });
    let reads: Vec<_> = list
        .iter()
        .map(|parameter| {
            let ty = &parameter.ty;
            if beside(parameter) {
                quote!(<#ty as #support::NocopyParameter>::read(bytes))
            } else {
                quote!(#support::read_value::<#ty>(bytes))
            }
        })
        .collect();
    let read = match &*reads {
        [single] => quote!(#single),
        reads => quote!(::core::result::Result::Ok((#(#reads?),*))),
    };
    quote! {
        #(#conditions)*
        #[allow(unused_variables, reason = "an entry may have no parameters, and none beside the message")]
        impl #parameters_of_chare #support::TravellingEntry for #marker #bounds {
            fn can_be_written(parameters: &Self::Parameters) -> bool {
                true #(#looks)*
            }

            fn write(
                parameters: &Self::Parameters,
                out: &mut #support::Writer<'_>
            ) -> ::core::result::Result<(), #support::CodecError> {
                #(#writes)*
                ::core::result::Result::Ok(())
            }

            fn read(
                bytes: &mut &[::core::primitive::u8]
            ) -> ::core::result::Result<Self::Parameters, ::std::string::String> {
                #read
            }
        }
    }
}
