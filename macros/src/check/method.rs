//! Rules for the signatures of constructors and entry methods.

use super::types::{self, Obstacle};
use crate::ast::{Constructor, Entry, EntryOptions, Method, Parameter, Parameters, Passing, Role};
use crate::errors::{Errors, Misuse};
use proc_macro2::Span;
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Ident, Pat, PatType, Path, ReceiverKind, ReturnType, Safety, Signature, Type,
    parse_quote,
};

/// The most elements that a tuple may have to be `Clone` and `Debug`, which messages are.
const ARGUMENTS_MAX: usize = 12;

/// Whether a marked method is a constructor: it has no receiver and returns something.
pub(super) fn is_constructor(method: &Method) -> bool {
    !is_no_constructor(method) && returned(&method.signature).is_some()
}

/// Whether a marked method cannot be meant as the constructor: it has a receiver, or says that it is something else.
pub(super) fn is_no_constructor(method: &Method) -> bool {
    method.is_awaited() || method.is_local() || has_receiver(method)
}

/// Whether a method starts with `self`, `this: This<Self>` or `this: Again<Self>`.
pub(super) fn has_receiver(method: &Method) -> bool {
    match method.signature.inputs.first() {
        Some(FnArg::Receiver(_)) => true,
        Some(FnArg::Typed(first)) => types::handle(&first.ty).is_some(),
        None => false,
    }
}

/// Whether a method takes an `Again`.
pub(crate) fn takes_again(method: &Method) -> bool {
    let first = method.signature.inputs.first();
    matches!(first, Some(FnArg::Typed(first)) if types::handle(&first.ty) == Some("Again"))
}

/// The returned type, if that is not `()`.
pub(super) fn returned(signature: &Signature) -> Option<&Type> {
    match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => match types::ungrouped(ty) {
            Type::Tuple(tuple) if tuple.elems.is_empty() => None,
            _ => Some(ty),
        },
    }
}

/// The `#[cfg(..)]` among some attributes.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect()
}

pub(super) fn docs(attributes: &[Attribute]) -> Vec<Attribute> {
    let documents =
        |attribute: &&Attribute| attribute.path().is_ident("doc") || attribute.path().is_ident("deprecated");
    attributes.iter().filter(documents).cloned().collect()
}

fn options(method: &Method) -> EntryOptions {
    match method.role {
        Role::Entry { options, .. } => options,
        Role::Helper | Role::Post { .. } | Role::Hook { .. } => EntryOptions::default(),
    }
}

/// The constructor, if nothing is wrong with it.
pub(super) fn check_constructor(method: &Method, chare: &Path, errors: &mut Errors) -> Option<Constructor> {
    let before = errors.count();
    let Method { signature, attributes, .. } = method;
    if !returned(signature).is_some_and(|ty| types::is_chare(ty, chare)) {
        errors.report(&signature.output, Misuse::ConstructorReturn);
    }
    if let Some(asyncness) = &signature.asyncness {
        errors.report(asyncness, Misuse::AsyncConstructor);
    }
    if let Role::Entry { mark, options } = &method.role
        && *options != EntryOptions::default()
    {
        errors.report(mark, Misuse::ConstructorOption);
    }
    for condition in conditions(attributes) {
        errors.report(condition, Misuse::ConditionalConstructor);
    }
    for mark in &method.nocopy {
        errors.report(&mark.attribute, Misuse::ConstructorNocopy);
    }
    check_qualifiers(signature, errors);
    let parameters = check_parameters(method, 0, chare, errors);
    check_count(&parameters, ARGUMENTS_MAX, errors);
    (errors.count() == before).then(|| Constructor {
        name: signature.ident.clone(),
        visibility: method.visibility.clone(),
        docs: docs(attributes),
        parameters,
    })
}

/// The entry, if nothing is wrong with it but for its post method, which is not looked at yet.
pub(crate) fn check_entry(method: &Method, chare: &Path, errors: &mut Errors) -> Option<Entry> {
    let before = errors.count();
    let Method { signature, attributes, .. } = method;
    let skipped = if method.is_awaited() {
        check_awaited(method, errors)
    } else {
        check_receiver(method, chare, errors)
    };
    check_qualifiers(signature, errors);
    let mut parameters = check_parameters(method, skipped, chare, errors);
    let options = options(method);
    check_options(method, options, &parameters, errors);
    let result = match returned(signature) {
        Some(ty) if !options.when_idle => check_result(ty, chare, errors),
        _ => None,
    };
    check_count(&parameters, ARGUMENTS_MAX - usize::from(result.is_some()), errors);
    if let Some(ty) = &result {
        let (name, ty) = (Ident::new("reply", Span::mixed_site()), parse_quote!(::chare::Reply<#ty>));
        parameters.list.push(Parameter { name, ty, passing: Passing::Reply, is_reference: false });
    }
    let is_sound = errors.count() == before && method.nocopy.iter().all(|mark| mark.passing.is_some());
    is_sound.then(|| Entry {
        name: signature.ident.clone(),
        marker: marker(&signature.ident, chare),
        visibility: method.visibility.clone(),
        docs: docs(attributes),
        conditions: conditions(attributes),
        is_async: signature.asyncness.is_some(),
        is_again: takes_again(method),
        options,
        parameters,
        result,
        post: None,
    })
}

/// The type that stands for an entry: named after it, with the chare's parameters.
fn marker(name: &Ident, chare: &Path) -> Path {
    let (name, arguments) =
        (format_ident!("__entry_{}", name), chare.segments.last().map(|last| &last.arguments));
    parse_quote!(#name #arguments)
}

/// Checks the receiver of the entry; returns how many parameters that takes.
fn check_receiver(method: &Method, chare: &Path, errors: &mut Errors) -> usize {
    let Method { signature, .. } = method;
    let is_async = signature.asyncness.is_some();
    for mark in method.nocopy.iter().filter(|mark| mark.position == 0 && has_receiver(method)) {
        errors.report(&mark.attribute, Misuse::NocopyOutsideEntry);
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) => {
            match &receiver.kind {
                _ if is_async => errors.report(receiver, Misuse::AsyncReceiver),
                ReceiverKind::Value => errors.report(receiver, Misuse::ReceiverByValue),
                ReceiverKind::Typed(..) => errors.report(receiver, Misuse::TypedReceiver),
                _ => {}
            }
            1
        }
        Some(FnArg::Typed(first)) if has_receiver(method) => {
            let handle = types::handle(&first.ty).unwrap_or("This");
            if !is_async {
                errors.report(first, Misuse::PlainThis { handle });
            } else if !types::is_handle_of(&first.ty, chare) {
                errors.report(&first.ty, Misuse::ThisOfAnother { handle });
            }
            1
        }
        _ => {
            errors.report(&signature.ident, Misuse::MissingReceiver);
            0
        }
    }
}

/// Checks that an awaited entry is a declaration that can be awaited; returns how many of its parameters are no arguments.
fn check_awaited(method: &Method, errors: &mut Errors) -> usize {
    let Method { signature, body, references, .. } = method;
    if has_receiver(method) || body.is_some() || signature.asyncness.is_some() {
        errors.report(&signature.ident, Misuse::AwaitedForm);
    }
    for second in references.iter().skip(1) {
        errors.report(&second.attribute, Misuse::TwoReferences);
    }
    for mark in references {
        if method.nocopy.iter().any(|nocopy| nocopy.position == mark.position) {
            errors.report(&mark.attribute, Misuse::ReferenceNocopy);
        }
    }
    usize::from(has_receiver(method))
}

/// Refuses qualifiers: an entry is a plain function.
pub(super) fn check_qualifiers(signature: &Signature, errors: &mut Errors) {
    if let Some(constness) = &signature.constness {
        errors.report(constness, Misuse::Qualified { qualifier: "const" });
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.report(unsafety, Misuse::Qualified { qualifier: "unsafe" });
    }
    if let Some(abi) = &signature.abi {
        errors.report(abi, Misuse::Qualified { qualifier: "extern" });
    }
}

fn check_parameters(method: &Method, skipped: usize, chare: &Path, errors: &mut Errors) -> Parameters {
    let generics = &method.signature.generics;
    if !generics.params.is_empty() {
        errors.report(generics, Misuse::Generic);
    } else if let Some(bounds) = &generics.where_clause {
        errors.report(bounds, Misuse::Generic);
    }
    let span = method.signature.paren_token.span.join();
    let mut parameters = Parameters { list: Vec::new(), span };
    for (position, input) in method.signature.inputs.iter().enumerate().skip(skipped) {
        if let FnArg::Typed(typed) = input
            && let Some(parameter) = check_parameter(method, position, typed, chare, errors)
        {
            parameters.list.push(parameter);
        }
    }
    parameters
}

fn check_count(parameters: &Parameters, limit: usize, errors: &mut Errors) {
    if let Some(surplus) = parameters.in_message().nth(limit) {
        errors.report(&surplus.name, Misuse::TooManyArguments { limit });
    }
}

/// The type that an entry returns to its caller.
fn check_result(ty: &Type, chare: &Path, errors: &mut Errors) -> Option<Type> {
    match types::obstacle(ty) {
        Some((Obstacle::Borrow, at)) => errors.report(at, Misuse::BorrowedReturn),
        Some((Obstacle::ImplTrait, at)) => errors.report(at, Misuse::ImplTraitReturn),
        None => return Some(types::without_self(ty, chare)),
    }
    None
}

/// Checks that an entry can do what its options ask for.
fn check_options(method: &Method, options: EntryOptions, parameters: &Parameters, errors: &mut Errors) {
    let Method { signature, .. } = method;
    if options.awaited && (options.inline || options.when_idle) {
        errors.report(&signature.ident, Misuse::AwaitedOption);
        return;
    }
    if options.aggregate.is_some() {
        check_aggregate(method, options, errors);
    }
    if takes_again(method) {
        check_again(method, options, errors);
    }
    if options.inline {
        if let Some(asyncness) = &signature.asyncness {
            errors.report(asyncness, Misuse::InlineAsync);
        }
        if let Some(mark) = method.nocopy.first() {
            errors.report(&mark.attribute, Misuse::InlineNocopy);
        }
    }
    if options.when_idle {
        let is_bool = returned(signature).is_some_and(|ty| types::is_named(ty, "bool"));
        if !is_bool || signature.asyncness.is_some() || !parameters.list.is_empty() {
            errors.report(&signature.ident, Misuse::IdleReturn);
        }
    }
}

/// Checks that calls which may be made again are all that it takes to make them.
fn check_again(method: &Method, options: EntryOptions, errors: &mut Errors) {
    if let Some(mark) = method.nocopy.first() {
        errors.report(&mark.attribute, Misuse::AgainNocopy);
    }
    if options.aggregate.is_some() {
        errors.report(&method.signature.ident, Misuse::AgainAggregate);
    }
}

/// Checks that aggregated calls are plain ones, of elements that exist.
fn check_aggregate(method: &Method, options: EntryOptions, errors: &mut Errors) {
    let Method { signature, nocopy, .. } = method;
    let EntryOptions { aggregate, expedited, immediate, priority, .. } = options;
    if options != (EntryOptions { aggregate, expedited, immediate, priority, ..EntryOptions::default() }) {
        errors.report(&signature.ident, Misuse::AggregateWithOther);
    }
    if let Some(mark) = nocopy.first() {
        errors.report(&mark.attribute, Misuse::AggregateNocopy);
    }
    if let Some(ty) = returned(signature) {
        errors.report(ty, Misuse::AggregateReturn);
    }
}

fn check_parameter(
    method: &Method,
    position: usize,
    typed: &PatType,
    chare: &Path,
    errors: &mut Errors,
) -> Option<Parameter> {
    for condition in conditions(&typed.attrs) {
        errors.report(condition, Misuse::ConditionalParameter);
    }
    if let Some(handle) = types::handle(&typed.ty) {
        errors.report(&typed.ty, Misuse::MisplacedThis { handle });
        return None;
    }
    match types::obstacle(&typed.ty) {
        Some((Obstacle::Borrow, at)) => errors.report(at, Misuse::BorrowedArgument),
        Some((Obstacle::ImplTrait, at)) => errors.report(at, Misuse::ImplTraitArgument),
        None => {}
    }
    let mark = method.nocopy.iter().find(|mark| mark.position == position);
    let passing = mark.map_or(Some(Passing::Regular), |mark| mark.passing);
    if let Some(passing) = passing {
        check_passing(passing, &typed.ty, errors);
    }
    let name = match &*typed.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern.ident.clone(),
        pattern => {
            errors.report(pattern, Misuse::Pattern);
            // Stands in for the name so that the parameter still counts.
            syn::Ident::new("unnamed", pattern.span())
        }
    };
    let is_reference = method.references.iter().any(|mark| mark.position == position);
    Some(Parameter { name, ty: types::without_self(&typed.ty, chare), passing: passing?, is_reference })
}

/// Checks that the mark and the type of a parameter say the same.
fn check_passing(passing: Passing, ty: &Type, errors: &mut Errors) {
    let is_one_of = |names: &[&str]| names.iter().any(|name| types::is_named(ty, name));
    let is_received = is_one_of(&["Received", "ReceivedView", "DeviceReceived"]);
    let is_posted = is_one_of(&["Posted", "DevicePosted"]);
    match passing {
        Passing::Regular if is_received => errors.report(ty, Misuse::UnmarkedNocopy { mark: "#[nocopy]" }),
        Passing::Regular if is_posted => {
            errors.report(ty, Misuse::UnmarkedNocopy { mark: "#[nocopy(post)]" });
        }
        Passing::Received if !is_received => errors.report(ty, Misuse::NocopyType),
        Passing::Posted if !is_posted => errors.report(ty, Misuse::NocopyPostType),
        _ => {}
    }
}
