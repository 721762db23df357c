//! Marker types of entries: the message that each entry takes, and the function that makes it a call of the method.

use super::arguments::{argument_places, arguments_pattern, arguments_type};
use super::{awaited, register};
use crate::ast::{Aggregate, Chare, Demand, Entry, Parameter, Passing};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The marker of the entry at `index`.
pub(super) fn marker(chare: &Chare, index: usize) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let entry = &chare.entries[index];
    let Entry { name, marker, conditions, parameters, .. } = entry;
    let path = &chare.path;
    let declared = declare_marker(chare, entry);
    let bounds = chare.bounds();
    let (parameters_of_chare, _, bounds) = bounds.split_for_impl();
    let text = name.unraw().to_string();
    let arguments = arguments_type(parameters);
    let signature = register::signature(parameters);
    let index = register::index_behind(&chare.entries[..index]);
    let options = options(entry);
    let invoke = invoke(entry, &quote!(<#path>), &quote!(Self::Chare));
    let post = entry.post.as_ref().map(|method| post(chare, entry, method));
    let forsake = forsake(entry);
    let aggregation = entry.options.aggregate.map(|aggregate| {
        let settings = settings(aggregate);
        quote! {
            #(#conditions)*
            impl #parameters_of_chare #support::AggregatedEntry for #marker #bounds { #settings }
        }
    });
    quote! {
        #declared
        #aggregation

        #(#conditions)*
        impl #parameters_of_chare #support::EntryMethod for #marker #bounds {
            type Chare = #path;
            type Arguments = #arguments;
            const NAME: &'static str = #text;
            const SIGNATURE: &'static str = #signature;
            const INDEX: u16 = #index;
            #options
            #invoke
            #post
            #forsake
        }
    }
}

/// The marker type of an entry.
fn declare_marker(chare: &Chare, entry: &Entry) -> TokenStream {
    let (Chare { path, .. }, Entry { marker, conditions, .. }) = (chare, entry);
    let name = marker.segments.last().map(|last| &last.ident);
    if !chare.is_generic() {
        return quote!(#(#conditions)* struct #name;);
    }
    let (parameters, _, bounds) = chare.generics.split_for_impl();
    quote!(#(#conditions)* struct #name #parameters (::core::marker::PhantomData<fn() -> #path>) #bounds;)
}

/// The constants that differ from what the trait provides.
pub(super) fn options(entry: &Entry) -> TokenStream {
    let Entry { options, parameters, .. } = entry;
    let support = quote!(::chare::macro_support);
    let lane = [
        (options.expedited, quote!(Expedited)),
        (options.immediate, quote!(Immediate)),
        (options.when_idle, quote!(WhenIdle)),
    ];
    let lane = lane.into_iter().find(|(asked, _)| *asked);
    let lane = lane.map(|(_, lane)| quote! { const LANE: #support::Lane = #support::Lane::#lane; });
    let priority = options.priority.map(|priority| quote!(const PRIORITY: i32 = #priority;));
    let demand = options.demand.map(|demand| {
        let demand = match demand {
            Demand::Here => quote!(Here),
            Demand::Home => quote!(Home),
        };
        quote! {
            const DEMAND: ::core::option::Option<#support::Demand> =
                ::core::option::Option::Some(#support::Demand::#demand);
        }
    });
    let nocopy = entry.takes_nocopy().then(|| {
        let kinds =
            parameters.beside().map(|Parameter { ty, .. }| quote!(<#ty as #support::NocopyParameter>::KIND));
        quote!(const NOCOPY: &'static [#support::NocopyKind] = &[#(#kinds),*];)
    });
    let inline = options.inline.then(|| quote! { const INLINE: bool = true; });
    quote!(#lane #priority #inline #demand #nocopy)
}

/// The constants that differ from what the trait of aggregated entries provides.
fn settings(aggregate: Aggregate) -> TokenStream {
    let Aggregate { buffer_bytes, dimensions, flush_after_us } = aggregate;
    let buffer_bytes = buffer_bytes.map(|bytes| quote!(const BUFFER_BYTES: usize = #bytes as usize;));
    let dimensions = dimensions.map(|dimensions| quote!(const DIMENSIONS: u32 = #dimensions;));
    let flush_after = flush_after_us.map(|us| {
        let duration = quote!(::core::time::Duration);
        quote!(const FLUSH_AFTER: #duration = #duration::from_micros(#us as u64);)
    });
    quote!(#buffer_bytes #dimensions #flush_after)
}

/// The function that the runtime calls for each message: it calls the method of `path` on a `chare`.
pub(super) fn invoke(entry: &Entry, path: &TokenStream, chare: &TokenStream) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Entry { name, parameters, .. } = entry;
    let arguments = if entry.is_again { quote!(arguments) } else { arguments_pattern(parameters) };
    let nocopy = if entry.takes_nocopy() { quote!(mut nocopy) } else { quote!(_) };
    if entry.options.awaited {
        return invoke_by(chare, &arguments, &nocopy, &awaited::put_aside(entry));
    }
    let places = argument_places(parameters);
    let reply = places.last().cloned();
    let passed = passed(&parameters.list, places, &quote!(nocopy));
    if entry.is_again {
        let call = start_again(entry, path, &passed, reply.as_ref());
        return invoke_by(chare, &arguments, &nocopy, &call);
    }
    let call = if entry.is_async {
        quote!(#path::#name(this.keep(), #(#passed),*))
    } else {
        quote!(this.with(|chare| #path::#name(chare, #(#passed),*)))
    };
    let marker = &entry.marker;
    let call = match (&entry.result, entry.is_async) {
        (Some(_), true) => quote!(let reply = #reply; #support::start_replying::<#chare, _>(#call, reply)),
        (Some(_), false) => quote!(let reply = #reply; #support::answer::<#chare, _>(reply, || #call)),
        (None, true) => quote!(#support::start::<#chare>(#call)),
        (None, false) if entry.options.when_idle => quote!(if #call { #support::call_again::<#marker>() }),
        (None, false) => call,
    };
    invoke_by(chare, &arguments, &nocopy, &call)
}

/// The start of an entry that may be called again, for which a copy of the arguments is kept.
fn start_again(
    entry: &Entry,
    path: &TokenStream,
    passed: &[TokenStream],
    reply: Option<&TokenStream>,
) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let Entry { name, result, .. } = entry;
    let body = quote!(|again| #path::#name(again, #(#passed),*));
    let kept = quote!(let kept = ::core::clone::Clone::clone(&arguments););
    match (result, reply) {
        (Some(_), Some(reply)) => quote! {
            #kept
            let reply = #reply;
            #support::start_again_replying::<Self, _, _>(this, kept, #body, reply)
        },
        _ => quote!(#kept #support::start_again::<Self, _>(this, kept, #body)),
    }
}

fn invoke_by(
    chare: &TokenStream,
    arguments: &TokenStream,
    nocopy: &TokenStream,
    call: &TokenStream,
) -> TokenStream {
    let support = quote!(::chare::macro_support);
    quote! {
        fn invoke(
            this: #support::ThisRef<'_, #chare>,
            #arguments: Self::Arguments,
            #nocopy: #support::NocopyArguments<'_>,
        ) {
            #call
        }
    }
}

fn post(chare: &Chare, entry: &Entry, method: &Ident) -> TokenStream {
    let support = quote!(::chare::macro_support);
    let path = &chare.path;
    let arguments = arguments_pattern(&entry.parameters);
    let places = match &*argument_places(&entry.parameters) {
        // A single argument is no tuple: the reference to it is at hand.
        [single] => vec![single.clone()],
        places => places.iter().map(|place| quote!(&#place)).collect(),
    };
    let passed = passed(entry.parameters.seen_by_post(), places, &quote!(posts));
    quote! {
        fn post(
            this: #support::ThisRef<'_, Self::Chare>,
            #arguments: &Self::Arguments,
            mut posts: #support::Posts,
        ) {
            this.with(|chare| <#path>::#method(chare, #(#passed),*))
        }
    }
}

/// The function that drops a call which does not run, where a caller awaits a result: its chare went while it waited, or it is late.
pub(super) fn forsake(entry: &Entry) -> Option<TokenStream> {
    let places = argument_places(&entry.parameters);
    let reply = places.last().filter(|_| entry.result.is_some())?;
    Some(quote! {
        fn forsake(arguments: Self::Arguments) {
            ::chare::macro_support::forsake(#reply);
        }
    })
}

/// The expression that is passed for each parameter: the next regular argument's place, or the next that `source` holds.
fn passed<'a>(
    parameters: impl IntoIterator<Item = &'a Parameter>,
    places: Vec<TokenStream>,
    source: &TokenStream,
) -> Vec<TokenStream> {
    let mut places = places.into_iter();
    let pass = |Parameter { ty, passing, .. }: &Parameter| match passing {
        Passing::Regular => Some(places.next().expect("every regular parameter has a place")),
        Passing::Received | Passing::Posted => Some(quote_spanned!(ty.span()=> #source.take::<#ty>())),
        Passing::Reply => None,
    };
    parameters.into_iter().filter_map(pass).collect()
}
