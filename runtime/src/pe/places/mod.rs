//! Places of chares: the chares that live on a PE, and the PEs on which others live, as far as it is known there. Here live tables and
//! look-ups; creating, removing and forwarding never do.
//! `api/proxy -> transfer -> model/envelope -> **pe/places** -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! 1. Tables hold the chares that live here. The home of a member that lives elsewhere knows where the member lives, or that it does not
//!    exist; the home follows from the index (see [`Placement`](crate::Placement)).
//! 2. Each of these look-ups costs a hash or two, so each PE remembers the latest answers, in a small direct-mapped table: the PE of a
//!    chare, and the chare itself if it lives here. Sending and dispatching both ask that table first.
//! 3. A call that was queued with its chare runs without another look-up, unless the chare is gone meanwhile.
//! 4. A remembered answer is a copy. Code that adds a chare to the tables of rule 1 or removes one forgets the answer. The answers that
//!    other PEs remember may be stale: then the message goes on to the home, which forwards it and tells the sender.
//! 5. A collection that has ended is in no table; what is known is that its number has come. Calls of its members are refused wherever they
//!    come to, and PEs that remember where one lived send them there.
//! 6. A collection that this PE has created is announced here until it is known here: the homes of its members are known meanwhile, so
//!    calls of members elsewhere need not wait.

mod collections;
mod members;
mod movers;
mod remembered;

pub(crate) use members::{FromAfar, HomeHere, LocalCollection};
pub(crate) use remembered::ANSWERS;
#[cfg(feature = "sim")]
pub(crate) use remembered::FEW_ANSWERS;

use crate::model::collection::CollectionInfo;
use crate::model::home::Whereabouts;
use crate::model::ids::{ChareId, CollectionId, Index, PeId, Target};
use crate::model::registry::AnyChare;
use crate::model::travel::Traveller;
use crate::pe::early::Missing;
use collections::Collections;
use remembered::{Answer, Remembered};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// The place of a chare, as far as this PE knows.
pub(crate) enum Location {
    /// The PE that calls go to: the chare lives there, or has its home there.
    At(PeId),
    /// The chare's collection is not known here yet.
    Unknown(Missing),
}

/// The reason why a member is not here, as far as this PE knows.
pub(crate) enum Absence {
    /// The member's collection is not known here yet.
    Unknown,
    /// The member's collection has ended: its members were destroyed, and none will come.
    Ended,
    /// The member's home is that PE, which knows more.
    HomeIs(PeId),
    /// This PE is the member's home; the member lives on that PE.
    LivesOn(PeId),
    /// This PE is the member's home; the member is under way, or has ended, of which the news are under way.
    UnderWay,
    /// This PE is the member's home; the member does not exist.
    Nowhere,
}

/// The chares of one PE, and the remembered places of others.
pub(crate) struct Places {
    singletons: FxHashMap<ChareId, Rc<dyn AnyChare>>,
    collections: Collections,
    remembered: Remembered,
    /// Whether members that live here are remembered.
    remembers_members: bool,
}

impl Places {
    /// Empty tables with room for so many remembered answers; `remembers_members`: whether the quick answer for members that live here is one.
    pub(crate) fn new(answers: usize, remembers_members: bool) -> Self {
        Self {
            remembers_members,
            singletons: FxHashMap::default(),
            collections: Collections::default(),
            remembered: Remembered::new(answers),
        }
    }
}

/// The remembered answer to where calls of a target go.
pub(crate) enum Recalled {
    /// The chare, which lives here.
    Here(Rc<dyn AnyChare>),
    /// The PE that calls go to.
    On(PeId),
    Nothing,
}

impl Places {
    /// The remembered answer to where calls of a target go: the quick half of [`Places::find`] and [`Places::locate`].
    #[inline(always)]
    pub(crate) fn recall(&self, target: &Target) -> Recalled {
        let Some(remembered) = self.remembered.get(target) else { return Recalled::Nothing };
        match (&remembered.chare, remembered.pe) {
            (Some(chare), _) => Recalled::Here(Rc::clone(chare)),
            (None, Some(pe)) => Recalled::On(pe),
            (None, None) => Recalled::Nothing,
        }
    }

    /// The chare, if it lives here.
    #[inline(always)]
    pub(crate) fn find(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        match self.remembered.get(&target) {
            Some(Answer { chare: Some(chare), .. }) => Some(Rc::clone(chare)),
            _ => self.find_unremembered(target),
        }
    }

    #[cold]
    fn find_unremembered(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        let chare = self.look_up(target)?;
        if self.remembers_members || matches!(target, Target::Chare(_)) {
            self.remembered.entry(target).chare = Some(Rc::clone(&chare));
        }
        Some(chare)
    }

    /// The chare, if it lives here; neither reads nor writes the remembered answers: for many chares in turn.
    pub(crate) fn look_up(&self, target: Target) -> Option<Rc<dyn AnyChare>> {
        match target {
            Target::Chare(id) => self.singletons.get(&id).map(Rc::clone),
            Target::Member(collection, index) => {
                self.collections.get(collection)?.members.find(index).map(Rc::clone)
            }
        }
    }

    /// The part of a collection on this PE.
    pub(crate) fn collection(&self, id: CollectionId) -> Option<&LocalCollection> {
        self.collections.get(id)
    }

    /// Whether a collection is known here, or was until it ended.
    pub(crate) fn has_come(&self, id: CollectionId) -> bool {
        self.collections.have_come(id)
    }

    /// Whether a collection was known here and has ended.
    pub(crate) fn has_ended(&self, id: CollectionId) -> bool {
        self.collections.have_ended(id)
    }

    /// Forgets a collection that ends. The caller drops it when the PE can be used again.
    pub(crate) fn end_collection(&mut self, id: CollectionId) -> Option<LocalCollection> {
        self.collections.end(id)
    }

    /// The number of chares that live here.
    pub(crate) fn chares(&self) -> u64 {
        let members = self.collections.iter().map(|collection| collection.members.len());
        (self.singletons.len() + members.sum::<usize>()) as u64
    }

    /// The parts of all collections that are known on this PE.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &LocalCollection> {
        self.collections.iter()
    }

    /// The part of a collection on this PE, to change it; code that changes where members live [forgets](Places::forget) them.
    pub(crate) fn collection_mut(&mut self, id: CollectionId) -> Option<&mut LocalCollection> {
        self.collections.get_mut(id)
    }

    /// The collections here whose members are bound to those of one, and that one; see [`Places::collection_mut`].
    pub(crate) fn bond_mut(&mut self, id: CollectionId) -> SmallVec<[&mut LocalCollection; 1]> {
        self.collections.bond_mut(id)
    }

    /// Takes note of a collection that this PE has created, and of which the nodes have been told.
    pub(crate) fn announce(&mut self, info: Arc<CollectionInfo>) {
        self.collections.announce(info);
    }

    /// Adds a collection, which is known here from now on.
    pub(crate) fn insert_collection(&mut self, collection: LocalCollection) {
        self.collections.insert(collection);
    }

    /// All chares, when the job is over, and what else the tables hold.
    pub(crate) fn into_chares(self) -> (Vec<Rc<dyn AnyChare>>, impl Sized) {
        let Self { singletons, mut collections, remembered, remembers_members: _ } = self;
        // Copies: the chares are dropped one by one.
        drop(remembered);
        let mut chares: Vec<_> = singletons.into_values().collect();
        chares.extend(collections.take_members());
        (chares, collections)
    }

    /// The reason why a member is not on PE `here`, as far as `here` knows.
    pub(crate) fn explain_absence(&self, here: PeId, collection: CollectionId, index: Index) -> Absence {
        let Some(collection) = self.collections.get(collection) else {
            return if self.has_ended(collection) { Absence::Ended } else { Absence::Unknown };
        };
        let home = collection.info.home(index);
        if home != here {
            return Absence::HomeIs(home);
        }
        match collection.whereabouts(index) {
            Whereabouts::On(elsewhere) => Absence::LivesOn(elsewhere),
            Whereabouts::UnderWay => Absence::UnderWay,
            Whereabouts::AtHomeOrNowhere => Absence::Nowhere,
        }
    }

    /// Remembers where calls of a singleton go that is about to be created: its creator is mostly the first to call it.
    pub(crate) fn expect(&mut self, id: ChareId) {
        self.remembered.entry(Target::Chare(id)).pe = Some(id.home);
    }

    /// Remembers where a member lives, as its home says.
    pub(crate) fn learn(&mut self, target: Target, at: PeId) {
        if self.look_up(target).is_none() {
            self.remembered.entry(target).pe = Some(at);
        }
    }

    /// Forgets the answer for a target. The answer is only a copy: nothing is dropped here.
    pub(crate) fn forget(&mut self, target: Target) {
        self.remembered.forget(target);
    }

    /// Adds a chare, which lives here from now on.
    pub(crate) fn insert(&mut self, target: Target, chare: Rc<dyn AnyChare>) {
        match target {
            Target::Chare(id) => {
                self.remembered.entry(target).chare = Some(Rc::clone(&chare));
                self.singletons.insert(id, chare);
            }
            Target::Member(collection, index) => {
                self.remembered.forget(target);
                let collection = self.collections.get_mut(collection);
                collection.expect("a member comes after its collection").members.insert(index, chare);
            }
        }
    }

    /// Takes out what is kept of a member as one that has its home elsewhere, if it may move.
    pub(crate) fn take_traveller(&mut self, target: Target) -> Option<Traveller> {
        let Target::Member(collection, index) = target else { return None };
        self.collections.get_mut(collection)?.travellers.remove(&index)
    }

    /// Removes a chare, which lives here no more. The caller drops it when the PE can be used again: the chare's state may run code of
    /// the user.
    pub(crate) fn remove(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        self.remembered.forget(target);
        match target {
            Target::Chare(id) => self.singletons.remove(&id),
            Target::Member(collection, index) => {
                let collection = self.collections.get_mut(collection)?;
                collection.names.remove(&index);
                collection.members.remove(index)
            }
        }
    }

    /// The place of a chare, as far as PE `here` knows.
    pub(crate) fn locate(&mut self, here: PeId, target: Target) -> Location {
        let remembered = self.remembered.get(&target).and_then(|remembered| remembered.pe);
        remembered.map_or_else(|| self.locate_unremembered(here, target), Location::At)
    }

    fn locate_unremembered(&mut self, here: PeId, target: Target) -> Location {
        let at = match target {
            Target::Chare(id) => id.home,
            Target::Member(..) if self.look_up(target).is_some() => here,
            Target::Member(collection, index) => match self.explain_absence(here, collection, index) {
                Absence::Unknown => match self.collections.announced(collection).map(|info| info.home(index))
                {
                    Some(home) if home != here => home,
                    _ => return Location::Unknown(Missing::Collection(collection)),
                },
                Absence::HomeIs(at) | Absence::LivesOn(at) => at,
                // The member may come, or the call is refused here: nothing to remember.
                Absence::UnderWay | Absence::Nowhere | Absence::Ended => return Location::At(here),
            },
        };
        self.remembered.entry(target).pe = Some(at);
        Location::At(at)
    }
}
