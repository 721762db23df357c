//! Rule for names: no entry hides a method that its proxy has already.

use super::types::plain_name;
use crate::ast::{Entry, Kind, LocalEntry};
use crate::errors::{Errors, Misuse};
use std::collections::HashMap;
use syn::Ident;

/// The methods that every proxy of a kind has, whatever its entries.
fn reserved(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Singleton => &["create", "create_on", "create_on_with", "create_with", "with", "clone"],
        Kind::Array => &[
            "create",
            "create_empty",
            "at",
            "insert",
            "insert_on",
            "done_inserting",
            "destroy",
            "local",
            "section",
            "of",
            "formed",
            "dissolve",
            "with",
            "clone",
        ],
        Kind::Group | Kind::NodeGroup => &[
            "create",
            "create_after",
            "on",
            "local",
            "destroy",
            "section",
            "of",
            "formed",
            "dissolve",
            "with",
            "clone",
        ],
    }
}

/// The methods that the proxies of every trait have.
const OF_TRAITS: [&str; 4] = ["of", "at", "with", "clone"];

/// Drops the entries whose proxy methods would collide with others.
pub(super) fn check_names(
    kind: Kind,
    entries: &mut Vec<Entry>,
    locals: &mut Vec<LocalEntry>,
    errors: &mut Errors,
) {
    let callbacks = callbacks(entries);
    let mut is_free = |name: &Ident| is_free(name, reserved(kind), &callbacks, errors);
    entries.retain(|entry| is_free(&entry.name));
    locals.retain(|entry| is_free(&entry.signature.ident));
}

/// The same for the entries of a trait.
pub(crate) fn check_trait_names(entries: &mut Vec<Entry>, errors: &mut Errors) {
    let callbacks = callbacks(entries);
    entries.retain(|entry| is_free(&entry.name, &OF_TRAITS, &callbacks, errors));
}

/// The methods of traits that every proxy implements, or that every type does: a method of its own would stand in front of them.
const OF_ALL: [&str; 14] = [
    "as_ref",
    "borrow",
    "clone",
    "clone_from",
    "eq",
    "fmt",
    "from",
    "hash",
    "into",
    "ne",
    "to_owned",
    "try_into",
    "type_id",
    "drop",
];

/// Whether the proxies of a kind have no method of this name, nor one that makes callbacks of an entry.
pub(super) fn is_unused(name: &Ident, kind: Kind, entries: &[Entry]) -> bool {
    let name = plain_name(name);
    !(reserved(kind).contains(&&*name) || OF_ALL.contains(&&*name) || callbacks(entries).contains_key(&name))
}

/// The names of the methods that make callbacks, and of their entries.
fn callbacks(entries: &[Entry]) -> HashMap<String, String> {
    entries
        .iter()
        .filter(|entry| !entry.takes_nocopy())
        .map(|entry| plain_name(&entry.name))
        .map(|name| (format!("{name}_callback"), name))
        .collect()
}

fn is_free(
    ident: &Ident,
    reserved: &[&str],
    callbacks: &HashMap<String, String>,
    errors: &mut Errors,
) -> bool {
    let name = plain_name(ident);
    let misuse = if reserved.contains(&&*name) {
        Misuse::ReservedName { name }
    } else if let Some(other) = callbacks.get(&name) {
        Misuse::CallbackName { name, entry: other.clone() }
    } else {
        return true;
    };
    errors.report(ident, misuse);
    false
}
