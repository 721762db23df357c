//! Rules for local entries, which are functions that a proxy calls: no argument becomes part of a message.

use super::method::{check_qualifiers, conditions, docs, returned};
use super::types::{self, Obstacle};
use crate::ast::{LocalEntry, Method};
use crate::errors::{Errors, Misuse};
use syn::{FnArg, Pat, Path, ReceiverKind, ReturnType, parse_quote};

/// The local entry, if nothing is wrong with it.
pub(super) fn check_local(method: &Method, chare: &Path, errors: &mut Errors) -> Option<LocalEntry> {
    let before = errors.count();
    let Method { signature, attributes, .. } = method;
    let has_receiver = matches!(
        signature.inputs.first(),
        Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(..))
    );
    if !has_receiver || signature.asyncness.is_some() || !method.nocopy.is_empty() {
        errors.report(&signature.ident, Misuse::LocalForm);
    }
    check_qualifiers(signature, errors);
    if let Some((Obstacle::Borrow, at)) = returned(signature).and_then(types::obstacle) {
        errors.report(at, Misuse::LocalBorrow);
    }
    let mut signature = signature.clone();
    let mut arguments = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(_) => *input = parse_quote!(&self),
            FnArg::Typed(typed) => {
                *typed.ty = types::without_self(&typed.ty, chare);
                match &mut *typed.pat {
                    Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
                        pattern.mutability = None;
                        arguments.push(pattern.ident.clone());
                    }
                    pattern => errors.report(pattern, Misuse::Pattern),
                }
            }
        }
    }
    if let ReturnType::Type(_, ty) = &mut signature.output {
        **ty = types::without_self(ty, chare);
    }
    (errors.count() == before).then(|| LocalEntry {
        visibility: method.visibility.clone(),
        docs: docs(attributes),
        conditions: conditions(attributes),
        signature,
        arguments,
    })
}
