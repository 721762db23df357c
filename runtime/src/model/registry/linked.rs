//! Linked registrations: all registrations of one kind in the program, found by a key.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// All registrations of one kind that are linked into the program.
pub(crate) struct Linked<K, R: 'static> {
    by_key: FxHashMap<K, &'static R>,
    /// All registrations, in an order that no build changes.
    sorted: Vec<&'static R>,
    duplicate: Option<&'static R>,
}

impl<K: Eq + Hash, R: 'static> Linked<K, R> {
    /// The registrations that the linker collected, in whatever order; `order` gives the order that all builds share.
    pub(crate) fn collect<O: Ord>(
        linked: impl Iterator<Item = &'static R>,
        order: impl Fn(&'static R) -> O,
        key: impl Fn(&'static R) -> K,
    ) -> Self {
        let mut sorted: Vec<&'static R> = linked.collect();
        sorted.sort_by_key(|registration| order(registration));
        let mut by_key = FxHashMap::default();
        let mut duplicate = None;
        for registration in &sorted {
            if by_key.insert(key(registration), *registration).is_some() {
                duplicate = Some(*registration);
            }
        }
        Self { by_key, sorted, duplicate }
    }

    /// The registration with this key.
    pub(crate) fn find(&self, key: &K) -> Option<&'static R> {
        self.by_key.get(key).copied()
    }

    /// All registrations, in an order that no build changes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static R> {
        self.sorted.iter().copied()
    }

    /// One of two registrations of one key, if there are any: the job must not start.
    pub(crate) fn duplicate(&self) -> Option<&'static R> {
        self.duplicate
    }
}
