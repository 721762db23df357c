//! The attribute `balancer`: names a function that plans moves, and makes it known to the runtime.

use crate::errors::{Errors, Misuse};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ItemFn, Meta, ReturnType, Safety, Signature, Token};

/// The function, its registration, and its errors. What types its parameters have is the compiler's question.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let needs_edges = read_options(options, &mut errors);
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        errors.report(&item, Misuse::NotABalancer);
        return [item, errors.into_tokens()].into_iter().collect();
    };
    check(&function.sig, &mut errors);
    if errors.count() > 0 {
        return [function.into_token_stream(), errors.into_tokens()].into_iter().collect();
    }
    let name = &function.sig.ident;
    let text = name.to_string();
    let text = text.trim_start_matches("r#");
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #function
        #(#conditions)*
        ::chare::macro_support::inventory::submit! {
            ::chare::macro_support::BalancerRegistration::new(#text, #needs_edges, #name)
        }
    }
}

/// Whether the options ask for edges.
fn read_options(options: TokenStream, errors: &mut Errors) -> bool {
    let parsed = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(options.clone());
    let Ok(parsed) = parsed else {
        errors.report(&options, Misuse::UnknownNeed { found: options.to_string() });
        return false;
    };
    let mut needs_edges = false;
    for option in &parsed {
        let asks = |value: &Expr| matches!(value, Expr::Path(path) if path.path.is_ident("edges"));
        match option {
            Meta::NameValue(need) if need.path.is_ident("needs") && asks(&need.value) => {
                if needs_edges {
                    errors.report(option, Misuse::DuplicateOption { option: "needs" });
                }
                needs_edges = true;
            }
            _ => errors.report(option, Misuse::UnknownNeed { found: option.to_token_stream().to_string() }),
        }
    }
    needs_edges
}

/// Reports what keeps a function from being a balancer, but for the types of its parameters.
fn check(signature: &Signature, errors: &mut Errors) {
    if let Some(asyncness) = &signature.asyncness {
        errors.report(asyncness, Misuse::AsyncBalancer);
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.report(unsafety, Misuse::UnsafeBalancer);
    }
    if signature.generics.type_params().next().is_some() || signature.generics.const_params().next().is_some()
    {
        errors.report(&signature.generics, Misuse::GenericBalancer);
    }
    if signature.receiver().is_some() || signature.inputs.len() != 2 {
        errors.report(signature, Misuse::BalancerParameters);
    }
    if !matches!(signature.output, ReturnType::Default) {
        errors.report(&signature.output, Misuse::BalancerReturn);
    }
}
