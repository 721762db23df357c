//! Rules for post methods: one for each entry with a posted parameter, with that entry's arguments by reference.

use super::method::{check_qualifiers, returned};
use super::types;
use crate::ast::{Entry, Method, Parameter, Passing, Role};
use crate::errors::{Errors, Misuse};
use std::collections::HashSet;
use syn::{FnArg, Ident, PathArguments, ReceiverKind, Signature, Type};

/// Gives every entry its post method, and drops the entries that want one and have none.
///
/// `marked` holds the methods marked as entries, sound or not: an entry that is left out for another reason is
/// not called unknown here.
pub(super) fn check_posts(
    unmarked: &[&Method],
    marked: &[&Method],
    entries: &mut Vec<Entry>,
    errors: &mut Errors,
) {
    let mut served: HashSet<&Ident> = HashSet::new();
    for method in unmarked {
        let Role::Post { entry } = &method.role else { continue };
        let Some(target) = marked.iter().find(|candidate| candidate.signature.ident == *entry) else {
            errors.report(entry, Misuse::PostForUnknownEntry { entry: entry.to_string() });
            continue;
        };
        if target.nocopy.iter().all(|mark| mark.passing == Some(Passing::Received)) {
            errors.report(entry, Misuse::PostForPlainEntry { entry: entry.to_string() });
            continue;
        }
        if !served.insert(entry) {
            errors.report(entry, Misuse::TwoPosts { entry: entry.to_string() });
            continue;
        }
        for entry in entries.iter_mut().filter(|candidate| candidate.name == *entry) {
            if check_post(&method.signature, entry, errors) {
                entry.post = Some(method.signature.ident.clone());
            }
        }
    }
    entries.retain(|entry| {
        let complete = entry.post.is_some() || !entry.parameters.list.iter().any(is_posted);
        if !complete && !served.contains(&entry.name) {
            let (name, expected) = (entry.name.to_string(), expected_parameters(entry));
            errors.report(&entry.name, Misuse::PostMissing { entry: name, expected });
        }
        complete
    });
}

/// Checks a post method's signature against its entry's.
fn check_post(signature: &Signature, entry: &Entry, errors: &mut Errors) -> bool {
    let before = errors.count();
    check_qualifiers(signature, errors);
    if let Some(asyncness) = &signature.asyncness {
        errors.report(asyncness, Misuse::AsyncPost);
    }
    if let Some(ty) = returned(signature) {
        errors.report(ty, Misuse::PostReturn);
    }
    if !has_parameters_of(signature, entry) {
        let (name, expected) = (entry.name.to_string(), expected_parameters(entry));
        errors.report(&signature.ident, Misuse::PostParameters { entry: name, expected });
    }
    errors.count() == before
}

fn has_parameters_of(signature: &Signature, entry: &Entry) -> bool {
    let mut inputs = signature.inputs.iter();
    let has_receiver = matches!(
        inputs.next(),
        Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(..))
    );
    let wanted: Vec<&Parameter> = entry.parameters.seen_by_post().collect();
    has_receiver
        && inputs.len() == wanted.len()
        && inputs.zip(wanted).all(|(input, parameter)| match input {
            FnArg::Receiver(_) => false,
            FnArg::Typed(input) if is_posted(parameter) => types::is_named(&input.ty, "Post"),
            FnArg::Typed(input) => matches!(types::ungrouped(&input.ty), Type::Reference(_)),
        })
}

/// The parameters that a post method of this entry has.
fn expected_parameters(entry: &Entry) -> String {
    let mut text = "&mut self".to_owned();
    for parameter in entry.parameters.seen_by_post() {
        text += &if is_posted(parameter) {
            format!(", {}: Post{}", parameter.name, element(&parameter.ty))
        } else {
            format!(", {}: &{}", parameter.name, types::plain_text(&parameter.ty))
        };
    }
    text
}

/// The `<T>` of `Posted<T>`.
fn element(ty: &Type) -> String {
    match types::last_segment(ty).map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => types::plain_text(arguments).replace("< ", "<"),
        _ => String::new(),
    }
}

fn is_posted(parameter: &Parameter) -> bool {
    parameter.passing == Passing::Posted
}
