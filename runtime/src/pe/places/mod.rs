//! Which PE a chare lives on, and the chares of this one. `envelope -> **location** -> outbox`
//!
//! 1. Tables hold the chares that live here. Of a member that lives elsewhere its home knows where, or that there is none; the
//!    home follows from the index (see [`Placement`](crate::Placement)).
//! 2. Both cost a hash or two, so each PE remembers what it asked last, in a small direct-mapped table: of a chare its PE, and
//!    the chare itself if it is this one. Sending and dispatching both ask there first.
//! 3. A call that was queued with its chare runs without asking again, unless that is gone meanwhile.
//! 4. What is remembered is a copy. Whoever adds a chare to the tables of rule 1 or removes one forgets it. What other PEs remember
//!    may be stale: then the message goes on to the home, which forwards it and tells the sender.

mod collections;
mod members;

pub(crate) use members::LocalCollection;

use crate::model::ids::{ChareId, CollectionId, Index, PeId, Target};
use crate::model::registry::AnyChare;
use crate::pe::early::Missing;
use collections::Collections;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many answers a PE remembers: what an entry and those around it talk to, in memory that stays in the nearest cache.
const REMEMBERED: usize = 256;

/// What this PE knows about a chare's place.
pub(crate) enum Location {
    /// It lives there.
    At(PeId),
    /// Its collection has not been heard of here yet.
    Unknown(Missing),
}

/// What this PE knows of a member that is not here.
pub(crate) enum Absence {
    /// Its collection has not been heard of here yet.
    Unknown,
    /// This is not its home, which knows more.
    HomeIs(PeId),
    /// This is its home: it lives there.
    LivesOn(PeId),
    /// This is its home, and it is nowhere.
    Nowhere,
}

/// The chares of one PE, and what it remembers of others.
pub(crate) struct Places {
    singletons: FxHashMap<ChareId, Rc<dyn AnyChare>>,
    collections: Collections,
    remembered: Box<[Remembered; REMEMBERED]>,
}

/// In a cache line of its own: every call looks at one.
#[repr(align(64))]
struct Remembered {
    target: Target,
    /// Where calls of it go.
    pe: Option<PeId>,
    /// It, if it lives here.
    chare: Option<Rc<dyn AnyChare>>,
}

/// No chare is called this: PEs are fewer.
const NOBODY: Target =
    Target::Chare(ChareId { home: PeId(u32::MAX), creator: PeId(u32::MAX), serial: u32::MAX });

impl Remembered {
    const NOTHING: Self = Self { target: NOBODY, pe: None, chare: None };
}

impl Default for Places {
    fn default() -> Self {
        Self {
            singletons: FxHashMap::default(),
            collections: Collections::default(),
            remembered: Box::new([const { Remembered::NOTHING }; REMEMBERED]),
        }
    }
}

/// Where a target is remembered; neighbours in an array, in any dimension, hardly meet.
#[inline]
fn slot(target: &Target) -> usize {
    let number = match target {
        Target::Chare(id) => u64::from(id.serial).wrapping_add(u64::from(id.home.0) << 5),
        Target::Member(collection, index) => {
            let (low, high) = (index.low(), index.high());
            let folded = low.wrapping_add((low >> 32) * 17).wrapping_add(high.wrapping_mul(19));
            folded.wrapping_add(u64::from(collection.serial) << 5)
        }
    };
    number as usize % REMEMBERED
}

/// What a PE remembers of where calls go.
pub(crate) enum Recalled {
    /// It lives here.
    Here(Rc<dyn AnyChare>),
    /// It lives there.
    On(PeId),
    Nothing,
}

impl Places {
    /// What is remembered of a target, if anything is.
    #[inline(always)]
    fn remembered(&self, target: &Target) -> Option<&Remembered> {
        let remembered = &self.remembered[slot(target)];
        (remembered.target == *target).then_some(remembered)
    }

    /// Where calls of a target go, if that is remembered: the quick half of [`Places::find`] and [`Places::locate`].
    #[inline(always)]
    pub(crate) fn recall(&self, target: &Target) -> Recalled {
        let Some(remembered) = self.remembered(target) else { return Recalled::Nothing };
        match (&remembered.chare, remembered.pe) {
            (Some(chare), _) => Recalled::Here(Rc::clone(chare)),
            (None, Some(pe)) => Recalled::On(pe),
            (None, None) => Recalled::Nothing,
        }
    }

    /// The chare, if it lives here.
    #[inline(always)]
    pub(crate) fn find(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        match self.remembered(&target) {
            Some(Remembered { chare: Some(chare), .. }) => Some(Rc::clone(chare)),
            _ => self.find_unremembered(target),
        }
    }

    #[cold]
    fn find_unremembered(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        let chare = self.look_up(target)?;
        let remembered = self.entry(target);
        remembered.chare = Some(Rc::clone(&chare));
        Some(chare)
    }

    /// The same, without a look at what is remembered and without remembering it: for many chares in turn.
    pub(crate) fn look_up(&self, target: Target) -> Option<Rc<dyn AnyChare>> {
        match target {
            Target::Chare(id) => self.singletons.get(&id).map(Rc::clone),
            Target::Member(collection, index) => {
                self.collections.get(collection)?.members.find(index).map(Rc::clone)
            }
        }
    }

    /// What this PE knows of a collection.
    pub(crate) fn collection(&self, id: CollectionId) -> Option<&LocalCollection> {
        self.collections.get(id)
    }

    /// The same, to change it; whoever changes where members live forgets them.
    pub(crate) fn collection_mut(&mut self, id: CollectionId) -> Option<&mut LocalCollection> {
        self.collections.get_mut(id)
    }

    /// A collection is known here from now on.
    pub(crate) fn insert_collection(&mut self, collection: LocalCollection) {
        self.collections.insert(collection);
    }

    /// What PE `here` knows of a member that is not there.
    pub(crate) fn explain_absence(&self, here: PeId, collection: CollectionId, index: Index) -> Absence {
        let Some(collection) = self.collections.get(collection) else { return Absence::Unknown };
        match (collection.info.home(index), collection.away.get(&index)) {
            (home, _) if home != here => Absence::HomeIs(home),
            (_, Some(elsewhere)) => Absence::LivesOn(*elsewhere),
            (_, None) => Absence::Nowhere,
        }
    }

    /// A home says where a member lives.
    pub(crate) fn learn(&mut self, target: Target, at: PeId) {
        if self.look_up(target).is_none() {
            self.entry(target).pe = Some(at);
        }
    }

    /// What is remembered of a target, to be added to.
    fn entry(&mut self, target: Target) -> &mut Remembered {
        let remembered = &mut self.remembered[slot(&target)];
        if remembered.target != target {
            *remembered = Remembered { target, ..Remembered::NOTHING };
        }
        remembered
    }

    /// Forgets what is remembered of a target. It is only a copy: nothing is dropped here.
    pub(crate) fn forget(&mut self, target: Target) {
        let remembered = &mut self.remembered[slot(&target)];
        if remembered.target == target {
            *remembered = Remembered::NOTHING;
        }
    }

    /// A chare lives here from now on.
    pub(crate) fn insert(&mut self, target: Target, chare: Rc<dyn AnyChare>) {
        match target {
            Target::Chare(id) => {
                // Whoever created it calls it next.
                self.entry(target).chare = Some(Rc::clone(&chare));
                self.singletons.insert(id, chare);
            }
            Target::Member(collection, index) => {
                self.forget(target);
                let collection = self.collections.get_mut(collection);
                collection.expect("a member comes after its collection").members.insert(index, chare);
            }
        }
    }

    /// A chare lives here no more. The caller drops it when the PE can be used again: its state may run code of the user.
    pub(crate) fn remove(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        self.forget(target);
        match target {
            Target::Chare(id) => self.singletons.remove(&id),
            Target::Member(collection, index) => {
                let collection = self.collections.get_mut(collection)?;
                collection.names.remove(&index);
                collection.members.remove(index)
            }
        }
    }

    /// Where a chare lives, as far as PE `here` knows.
    pub(crate) fn locate(&mut self, here: PeId, target: Target) -> Location {
        let remembered = self.remembered(&target).and_then(|remembered| remembered.pe);
        remembered.map_or_else(|| self.locate_unremembered(here, target), Location::At)
    }

    fn locate_unremembered(&mut self, here: PeId, target: Target) -> Location {
        let at = match target {
            Target::Chare(id) => id.home,
            Target::Member(..) if self.look_up(target).is_some() => here,
            Target::Member(collection, index) => match self.explain_absence(here, collection, index) {
                Absence::Unknown => return Location::Unknown(Missing::Collection(collection)),
                Absence::HomeIs(at) | Absence::LivesOn(at) => at,
                // It may come: nothing to remember.
                Absence::Nowhere => return Location::At(here),
            },
        };
        self.entry(target).pe = Some(at);
        Location::At(at)
    }
}
