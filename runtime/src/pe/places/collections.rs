//! Table of the collections that one PE knows.
//!
//! Nearly every look-up is for the same collection as the last one: a broadcast and the contributions that answer it, a constructor that
//! wants its index. That collection is found without a hash.

use super::members::LocalCollection;
use crate::model::collection::CollectionInfo;
use crate::model::ids::CollectionId;
use crate::model::registry::AnyChare;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// The collections that one PE knows. A collection stays for the length of the job.
#[derive(Default)]
pub(crate) struct Collections {
    known: Vec<LocalCollection>,
    places: FxHashMap<CollectionId, usize>,
    /// Position in `known` of the collection that was looked up last.
    last: Cell<usize>,
    /// Collections that this PE has created and that wait for their turn to be known here; each has homes for its members.
    announced: FxHashMap<CollectionId, Arc<CollectionInfo>>,
}

impl Collections {
    /// Takes note of a collection that is going to be known here, unless its homes are not known yet.
    pub(crate) fn announce(&mut self, info: Arc<CollectionInfo>) {
        let is_placed = info.bound_to().is_none_or(|other| {
            let known = self.get(other).map(|other| &other.info);
            known.or_else(|| self.announced.get(&other)).is_some_and(|other| info.bind(other).is_ok())
        });
        if is_placed {
            self.announced.insert(info.id, info);
        }
    }

    /// A collection that is going to be known here.
    pub(crate) fn announced(&self, id: CollectionId) -> Option<&CollectionInfo> {
        self.announced.get(&id).map(|info| &**info)
    }

    /// Adds a collection that was not known.
    pub(crate) fn insert(&mut self, collection: LocalCollection) {
        self.announced.remove(&collection.info.id);
        self.places.insert(collection.info.id, self.known.len());
        self.known.push(collection);
    }

    /// All collections that are known.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LocalCollection> {
        self.known.iter()
    }

    #[inline]
    fn place(&self, id: CollectionId) -> Option<usize> {
        let last = self.last.get();
        match self.known.get(last) {
            Some(collection) if collection.info.id == id => Some(last),
            _ => self.look_up(id),
        }
    }

    fn look_up(&self, id: CollectionId) -> Option<usize> {
        let place = *self.places.get(&id)?;
        self.last.set(place);
        Some(place)
    }

    #[inline]
    pub(crate) fn get(&self, id: CollectionId) -> Option<&LocalCollection> {
        self.place(id).and_then(|place| self.known.get(place))
    }

    /// Takes all members out, when the job is over.
    pub(crate) fn take_members(&mut self) -> impl Iterator<Item = Rc<dyn AnyChare>> {
        self.known.iter_mut().flat_map(|collection| std::mem::take(&mut collection.members).into_iter())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: CollectionId) -> Option<&mut LocalCollection> {
        self.place(id).and_then(|place| self.known.get_mut(place))
    }
}
