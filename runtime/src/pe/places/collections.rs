//! Table of the collections that one PE knows.
//!
//! A collection that has ended is forgotten but for its number: a PE numbers those that it creates one by one, and they come to every PE in
//! that order. So a number that has come and names nothing is that of one that has ended.
//!
//! Nearly every look-up is for the same collection as the last one: a broadcast and the contributions that answer it, a constructor that
//! wants its index. That collection is found without a hash.

use super::members::LocalCollection;
use crate::model::collection::CollectionInfo;
use crate::model::ids::{CollectionId, PeId};
use crate::model::registry::AnyChare;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The collections that one PE knows.
#[derive(Default)]
pub(crate) struct Collections {
    known: Vec<LocalCollection>,
    places: FxHashMap<CollectionId, usize>,
    /// The numbers of the collections that have come to be known here, by creator, also of those that have ended.
    come: FxHashMap<PeId, Range<u32>>,
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
    pub(crate) fn insert(&mut self, mut collection: LocalCollection) {
        let id = collection.info.id;
        if collection.info.bound_to().is_some() {
            let bond = collection.info.bond();
            for mate in self.known.iter_mut().filter(|other| other.info.bond() == bond) {
                mate.mates.push(id);
                mate.follower.take_if(|follower| *follower == id);
                collection.mates.push(mate.info.id);
            }
        }
        self.announced.remove(&id);
        let come = self.come.entry(id.creator).or_insert(id.serial..id.serial);
        come.end = come.end.max(id.serial.saturating_add(1));
        self.places.insert(id, self.known.len());
        // A vector's first room is for four, and most PEs of a large job know one.
        if self.known.is_empty() {
            self.known.reserve_exact(1);
        }
        self.known.push(collection);
    }

    /// Whether a collection is known here, or was until it ended.
    pub(crate) fn have_come(&self, id: CollectionId) -> bool {
        self.come.get(&id.creator).is_some_and(|numbers| numbers.contains(&id.serial))
    }

    /// Whether a collection was known here and has ended.
    pub(crate) fn have_ended(&self, id: CollectionId) -> bool {
        !self.places.contains_key(&id) && self.have_come(id)
    }

    /// Forgets a collection that ends.
    pub(crate) fn end(&mut self, id: CollectionId) -> Option<LocalCollection> {
        let place = self.places.remove(&id)?;
        let ended = self.known.swap_remove(place);
        if let Some(moved) = self.known.get(place) {
            self.places.insert(moved.info.id, place);
        }
        for mate in &ended.mates {
            let place = self.places[mate];
            self.known[place].mates.retain(|other| *other != id);
        }
        Some(ended)
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

    /// The collections of a bond that are known here: a collection that is known, and those whose members are bound to its own.
    pub(crate) fn bond_mut(&mut self, id: CollectionId) -> SmallVec<[&mut LocalCollection; 1]> {
        let Some(place) = self.place(id) else { return SmallVec::new() };
        if self.known[place].mates.is_empty() {
            return smallvec![&mut self.known[place]];
        }
        let bond = self.known[place].info.bond();
        self.known.iter_mut().filter(|collection| collection.info.bond() == bond).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collection::{Blueprint, Dummy, Elements, Placement};
    use crate::model::registry::ChareRegistration;
    use crate::model::topology::Topology;

    static DUMMY: ChareRegistration = ChareRegistration::of::<Dummy>();

    const CREATOR: PeId = PeId(0);

    fn id(serial: u32) -> CollectionId {
        CollectionId { creator: CREATOR, serial }
    }

    fn collection(serial: u32) -> LocalCollection {
        let blueprint = Blueprint {
            id: id(serial),
            chare: DUMMY.id,
            elements: Elements::List(Arc::default()),
            placement: Placement::Block,
            is_open: false,
            created: None,
            after: None,
        };
        let info = CollectionInfo::new(blueprint, &DUMMY, Topology::on_one_host(1, 1), 0).unwrap();
        LocalCollection::new(Arc::new(info), CREATOR, 0)
    }

    #[test]
    fn those_that_have_ended_are_known_by_their_numbers_alone() {
        let mut collections = Collections::default();
        (5..8).for_each(|serial| collections.insert(collection(serial)));
        assert!(collections.end(id(5)).is_some() && collections.end(id(5)).is_none());
        let known = |collections: &Collections| -> Vec<_> {
            (4..9).filter(|serial| collections.get(id(*serial)).is_some()).collect()
        };
        assert_eq!(known(&collections), [6, 7]);
        let [come, ended] = [Collections::have_come, Collections::have_ended]
            .map(|is_so| (4..9).filter(|serial| is_so(&collections, id(*serial))).collect::<Vec<_>>());
        assert_eq!((come, ended), (vec![5, 6, 7], vec![5]));
        collections.insert(collection(8));
        (6..9).for_each(|serial| assert!(collections.end(id(serial)).is_some()));
        assert!(known(&collections).is_empty());
        assert!(collections.known.is_empty() && collections.places.is_empty());
    }
}
