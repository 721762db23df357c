//! Part of a collection on one PE: its members there, and the places of the members that have their home there.

use crate::model::collection::{CollectionInfo, Insertions};
use crate::model::home::Home;
use crate::model::ids::{BroadcastId, CollectionId, Index, PeId, Target};
use crate::model::parcel::Parcel;
use crate::model::reduction::{Contributions, Gathering, Share};
use crate::model::registry::AnyChare;
use crate::model::travel::Traveller;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The members of a collection on one PE: found by index, iterated in the order in which they came.
#[derive(Default)]
pub(crate) struct Members {
    /// The members in the order in which they came; a member that is gone leaves a hole.
    slots: Slots,
    /// Their positions, by index. The index itself stands in the member, which whoever looks for it is going to read: beside up to two places
    /// for each member, it would be a third of all that an empty one takes.
    places: HashTable<u32>,
}

type Slots = Vec<Option<Rc<dyn AnyChare>>>;

/// The index of the member at a position.
fn index_at(slots: &Slots, place: u32) -> Index {
    match slots[place as usize].as_ref().map(|member| member.identity().target) {
        Some(Target::Member(_, index)) => index,
        Some(Target::Chare(_)) | None => unreachable!("a member stands wherever the table says"),
    }
}

fn hash(index: Index) -> u64 {
    FxBuildHasher.hash_one(index)
}

impl Members {
    /// Makes room for members that are about to come.
    pub(crate) fn reserve(&mut self, members: usize) {
        let Self { slots, places } = self;
        slots.reserve_exact(members);
        places.reserve(members, |place| hash(index_at(slots, *place)));
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn find(&self, index: Index) -> Option<&Rc<dyn AnyChare>> {
        self.slots[self.place(index)? as usize].as_ref()
    }

    pub(crate) fn include(&self, index: Index) -> bool {
        self.place(index).is_some()
    }

    fn place(&self, index: Index) -> Option<u32> {
        self.places.find(hash(index), |place| index_at(&self.slots, *place) == index).copied()
    }

    /// End of the positions for [`Members::within`]. Members that come meanwhile stand behind it.
    pub(crate) fn end(&self) -> usize {
        self.slots.len()
    }

    /// The members at some positions, without those that are gone.
    pub(crate) fn within(&self, positions: Range<usize>) -> impl Iterator<Item = &Rc<dyn AnyChare>> {
        self.slots.get(positions).unwrap_or_default().iter().flatten()
    }

    pub(crate) fn insert(&mut self, index: Index, member: Rc<dyn AnyChare>) {
        if self.slots.len() > 2 * self.places.len() {
            self.close_holes();
        }
        let place =
            u32::try_from(self.slots.len()).expect("a PE has fewer than 2^32 members of a collection");
        self.slots.push(Some(member));
        let Self { slots, places } = self;
        let is_it = |place: &u32| index_at(slots, *place) == index;
        match places.entry(hash(index), is_it, |place| hash(index_at(slots, *place))) {
            Entry::Vacant(vacant) => vacant.insert(place),
            Entry::Occupied(_) => panic!("a member is inserted once"),
        };
    }

    pub(crate) fn remove(&mut self, index: Index) -> Option<Rc<dyn AnyChare>> {
        let Self { slots, places } = self;
        let found = places.find_entry(hash(index), |place| index_at(slots, *place) == index);
        let (place, _) = found.ok()?.remove();
        slots[place as usize].take()
    }

    /// All members, in the order in which they came.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = Rc<dyn AnyChare>> {
        self.slots.into_iter().flatten()
    }

    fn close_holes(&mut self) {
        let mut moved = vec![0; self.slots.len()];
        let mut live = 0;
        for (slot, place) in self.slots.iter().zip(&mut moved) {
            *place = live;
            live += u32::from(slot.is_some());
        }
        self.slots.retain(Option::is_some);
        self.places.iter_mut().for_each(|place| *place = moved[*place as usize]);
    }
}

/// A contribution of an element on its way to the element's home.
pub(crate) type FromAfar = (Option<BroadcastId>, Share);

/// What a PE knows as the home of elements that move.
pub(crate) type HomeHere = Home<FromAfar, Parcel>;

/// The part of a collection on one PE.
pub(crate) struct LocalCollection {
    pub(crate) info: Arc<CollectionInfo>,
    /// Members that live here.
    pub(crate) members: Members,
    /// PEs of the members that have their home here and live elsewhere, where members do not move.
    pub(crate) away: FxHashMap<Index, PeId>,
    /// Where members move: what this PE knows as a home of them.
    pub(crate) home: Option<Box<HomeHere>>,
    /// The other collections here whose members are bound to those of this one.
    pub(crate) mates: Vec<CollectionId>,
    /// The one that is to be bound to this one, whose creation here waits until nothing is under way: nobody may go meanwhile.
    pub(crate) follower: Option<CollectionId>,
    /// The members that live here and have their home elsewhere, where members move.
    pub(crate) travellers: FxHashMap<Index, Traveller>,
    /// The encodings of the indices of members here whose index is a digest.
    pub(crate) names: FxHashMap<Index, Box<[u8]>>,
    pub(crate) contributions: Contributions,
    pub(crate) insertions: Insertions,
    /// On the first PE of a node, once there is something to gather: what comes together there of reductions.
    pub(crate) gathering: Option<Box<Gathering>>,
    /// On the first PE of a node: how many PEs of the node, and of the nodes below, have all elements that the collection begins with.
    pub(crate) created: u64,
}

impl LocalCollection {
    /// A collection on PE `pe`, which begins with `members` members there.
    pub(crate) fn new(info: Arc<CollectionInfo>, pe: PeId, members: usize) -> Self {
        let contributions = Contributions::new(members as u64, info.may_be_anywhere());
        let insertions = Insertions::new(info.is_open(), members as u64);
        let names = info.names().filter(|(index, _)| info.home(*index) == pe);
        let names = names.map(|(index, name)| (index, name.into())).collect();
        let home = info.may_move().then(Box::default);
        let mut collection = Self {
            info,
            members: Members::default(),
            away: FxHashMap::default(),
            home,
            mates: Vec::new(),
            follower: None,
            travellers: FxHashMap::default(),
            names,
            contributions,
            insertions,
            gathering: None,
            created: 0,
        };
        collection.members.reserve(members);
        collection
    }

    /// Whether members may still come: by insertion, or by a call of a member on demand.
    pub(crate) fn may_come(&self) -> bool {
        self.insertions.are_expected() || self.info.is_on_demand()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collection::Dummy;
    use crate::model::ids::{CollectionId, Target};
    use crate::model::registry::{Identity, Standing, This};

    fn member(number: u64) -> Rc<dyn AnyChare> {
        let collection = CollectionId { creator: PeId(0), serial: 0 };
        This::seat(
            Identity::new(Target::Member(collection, Index::from(number)), &"Dummy", Standing::NEW),
            Dummy,
        )
    }

    #[test]
    fn members_come_and_go_and_are_gone_through_in_the_order_in_which_they_came() {
        let mut members = Members::default();
        for number in 0..10 {
            members.insert(Index::from(number), member(number));
        }
        for number in [0, 2, 3, 4, 6, 8] {
            assert!(members.remove(Index::from(number)).is_some());
            assert!(members.remove(Index::from(number)).is_none());
        }
        members.insert(Index::from(3), member(3));
        assert_eq!(members.end(), 5, "the holes are closed");
        let order: Vec<Target> =
            members.within(0..members.end()).map(|member| member.identity().target).collect();
        let collection = CollectionId { creator: PeId(0), serial: 0 };
        assert_eq!(order, [1, 5, 7, 9, 3].map(|number| Target::Member(collection, Index::from(number))));
        for number in [1, 3, 5, 7, 9] {
            let found = members.find(Index::from(number)).unwrap();
            assert_eq!(found.identity().target, Target::Member(collection, Index::from(number)));
        }
    }
}
