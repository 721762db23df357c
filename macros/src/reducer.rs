//! The attribute `reducer`: names an implementation of `Reducer`, and makes it known to the runtime.

use crate::errors::{Errors, Misuse};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{ItemImpl, Path, PathArguments, Type};

/// The implementation with its name, its registration, and its errors.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) else {
        errors.report(&item, Misuse::NotAReducer);
        return [item, errors.into_tokens()].into_iter().collect();
    };
    let Some(path) = check(&block, &mut errors) else {
        return [block.into_token_stream(), errors.into_tokens()].into_iter().collect();
    };
    let name = format!("::{}", path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default());
    block.items.push(syn::parse_quote! {
        const NAME: &'static str = ::core::concat!(::core::module_path!(), #name);
    });
    quote! {
        #block
        ::chare::macro_support::inventory::submit! {
            ::chare::macro_support::ReducerRegistration::of::<#path>()
        }
    }
}

/// The type that folds, if the block implements the trait for a named type without parameters.
fn check(block: &ItemImpl, errors: &mut Errors) -> Option<Path> {
    let implements = |(path, _): &(Path, _)| path.segments.last().is_some_and(|last| last.ident == "Reducer");
    if !block.trait_.as_ref().is_some_and(implements) {
        errors.report(&block.self_ty, Misuse::NotAReducer);
        return None;
    }
    let Type::Path(ty) = &*block.self_ty else {
        errors.report(&block.self_ty, Misuse::NotAReducer);
        return None;
    };
    let has_arguments =
        ty.path.segments.iter().any(|segment| !matches!(segment.arguments, PathArguments::None));
    if !block.generics.params.is_empty() || has_arguments {
        errors.report(&block.self_ty, Misuse::GenericReducer);
        return None;
    }
    Some(ty.path.clone())
}
