//! The rule for names: what a proxy offers of its own stays reachable.

use super::types::plain_name;
use crate::ast::{Entry, Kind};
use crate::errors::{Errors, Misuse};
use std::collections::HashMap;

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
            "with",
            "clone",
        ],
        Kind::Group | Kind::NodeGroup => &["create", "on", "local", "with", "clone"],
    }
}

/// Drops the entries whose proxy methods would collide with others.
pub(super) fn check_names(kind: Kind, entries: &mut Vec<Entry>, errors: &mut Errors) {
    let callbacks: HashMap<String, String> = entries
        .iter()
        .filter(|entry| !entry.takes_nocopy())
        .map(|entry| plain_name(&entry.name))
        .map(|name| (format!("{name}_callback"), name))
        .collect();
    entries.retain(|entry| {
        let name = plain_name(&entry.name);
        let misuse = if reserved(kind).contains(&&*name) {
            Misuse::ReservedName { name }
        } else if let Some(other) = callbacks.get(&name) {
            Misuse::CallbackName { name, entry: other.clone() }
        } else {
            return true;
        };
        errors.report(&entry.name, misuse);
        false
    });
}
