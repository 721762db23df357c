//! Methods of a block that no message calls, as far as proxies can say so: their names must be free.

use super::method::{self, has_receiver, returned};
use super::names::is_unused;
use super::types;
use crate::ast::{Entry, EntryOptions, Hint, Kind, Method, Role, Why};
use syn::{FnArg, Path, Visibility, parse_quote};

/// What the proxies say of methods that are no entries, and of those declared as entries that are left out because they are unsound.
pub(super) fn hints(
    kind: Kind,
    chare: &Path,
    (unmarked, declared): (&[&Method], &[&Method]),
    entries: &[Entry],
) -> Vec<Hint> {
    let of_chare = |method: &&&Method| {
        matches!(method.role, Role::Helper | Role::Hook { .. })
            && matches!(method.signature.inputs.first(), Some(FnArg::Receiver(_)))
    };
    let is_left_out = |method: &&&Method| entries.iter().all(|entry| entry.name != method.signature.ident);
    let no_entries = unmarked.iter().filter(of_chare).map(|method| hint(method, Why::NoEntry));
    let unsound = declared.iter().filter(is_left_out).map(|method| {
        let result = returned(&method.signature).filter(|ty| types::obstacle(ty).is_none());
        let is_idle =
            matches!(method.role, Role::Entry { options: EntryOptions { when_idle: true, .. }, .. });
        let result = result.filter(|_| !is_idle).map(|ty| types::without_self(ty, chare));
        hint(method, Why::Unsound { result: result.map(Box::new) })
    });
    no_entries.chain(unsound).filter(|hint| is_unused(&hint.name, kind, entries)).collect()
}

fn hint(method: &Method, why: Why) -> Hint {
    let Method { signature, attributes, visibility, .. } = method;
    let visibility = match (visibility, &why) {
        // Whoever calls it is to hear why that cannot be, and not that it is private.
        (Visibility::Inherited, Why::NoEntry) => parse_quote!(pub(crate)),
        (visibility, _) => visibility.clone(),
    };
    Hint {
        name: signature.ident.clone(),
        visibility,
        conditions: method::conditions(attributes),
        parameters: signature.inputs.len() - usize::from(has_receiver(method)),
        why,
    }
}
