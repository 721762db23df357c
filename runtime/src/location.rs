//! Which PE a chare lives on, and the chares of this one. `envelope -> **location** -> outbox`
//!
//! 1. A table holds the chares that live here; the description of a collection says where its members live.
//! 2. Both cost a hash or two, so each PE remembers what it asked last, in a small direct-mapped table: of a chare its PE, and
//!    the chare itself if it is this one. Sending and dispatching both ask there first.
//! 3. What is remembered is a copy. Whoever adds a chare to the table of rule 1 or removes one forgets it, so nothing else has to
//!    know that chares come, go or move.

use crate::chare::AnyChare;
use crate::early::Awaited;
use crate::ids::{ChareId, PeId, Target};
use crate::pe::Pe;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many answers a PE remembers: what an entry and those around it talk to, in memory that stays in the nearest cache.
const REMEMBERED: usize = 256;

/// What this PE knows about a chare's place.
pub(crate) enum Location {
    /// It lives there.
    At(PeId),
    /// Its collection has not been heard of here yet.
    Unknown(Awaited),
    /// Its collection has no such member.
    Nowhere(String),
}

/// The chares of one PE, and what it remembers of others.
pub(crate) struct Places {
    chares: FxHashMap<Target, Rc<dyn AnyChare>>,
    remembered: Box<[Remembered; REMEMBERED]>,
}

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
            chares: FxHashMap::default(),
            remembered: Box::new([const { Remembered::NOTHING }; REMEMBERED]),
        }
    }
}

/// Where a target is remembered; neighbours in an array do not meet.
#[inline]
fn slot(target: Target) -> usize {
    let number = match target {
        Target::Chare(id) => u64::from(id.serial).wrapping_add(u64::from(id.home.0) << 5),
        Target::Member(collection, index) => index.0.wrapping_add(u64::from(collection.serial) << 5),
    };
    number as usize % REMEMBERED
}

impl Places {
    /// The chare, if it lives here.
    #[inline(always)]
    pub(crate) fn find(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        let remembered = &self.remembered[slot(target)];
        if remembered.target == target
            && let Some(chare) = &remembered.chare
        {
            return Some(Rc::clone(chare));
        }
        self.find_unremembered(target)
    }

    #[cold]
    fn find_unremembered(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        let chare = self.look_up(target)?;
        let remembered = self.entry(target);
        remembered.chare = Some(Rc::clone(&chare));
        Some(chare)
    }

    /// The chare, if it lives here; for whoever asks for very many, each once.
    pub(crate) fn look_up(&self, target: Target) -> Option<Rc<dyn AnyChare>> {
        self.chares.get(&target).map(Rc::clone)
    }

    /// What is remembered of a target, to be added to.
    fn entry(&mut self, target: Target) -> &mut Remembered {
        let remembered = &mut self.remembered[slot(target)];
        if remembered.target != target {
            *remembered = Remembered { target, ..Remembered::NOTHING };
        }
        remembered
    }

    fn forget(&mut self, target: Target) -> Remembered {
        let remembered = &mut self.remembered[slot(target)];
        if remembered.target == target {
            std::mem::replace(remembered, Remembered::NOTHING)
        } else {
            Remembered::NOTHING
        }
    }

    /// Makes room for chares that are about to be inserted.
    pub(crate) fn reserve(&mut self, chares: usize) {
        self.chares.reserve(chares);
    }

    /// A chare lives here from now on.
    pub(crate) fn insert(&mut self, target: Target, chare: Rc<dyn AnyChare>) {
        self.forget(target);
        self.chares.insert(target, chare);
    }

    /// A chare lives here no more. The caller drops it when the PE can be used again: its state may run code of the user.
    pub(crate) fn remove(&mut self, target: Target) -> Option<Rc<dyn AnyChare>> {
        self.forget(target);
        self.chares.remove(&target)
    }
}

/// Where a chare lives, if this PE remembers: the quick half of [`locate`].
#[inline]
pub(crate) fn recall(pe: &Pe, target: Target) -> Option<PeId> {
    let places = pe.places.borrow();
    let remembered = &places.remembered[slot(target)];
    if remembered.target == target { remembered.pe } else { None }
}

/// Where a chare lives, as far as this PE knows.
pub(crate) fn locate(pe: &Pe, target: Target) -> Location {
    recall(pe, target).map_or_else(|| locate_unremembered(pe, target), Location::At)
}

fn locate_unremembered(pe: &Pe, target: Target) -> Location {
    let at = match target {
        Target::Chare(id) => id.home,
        Target::Member(collection, index) => match pe.collections.borrow().get(&collection) {
            None => return Location::Unknown(Awaited::Collection(collection)),
            Some(local) => match local.info.locate(index) {
                Some(pe) => pe,
                None => {
                    return Location::Nowhere(format!(
                        "{} has {} members, there is no member {}",
                        local.info.chare.name, local.info.len, index.0
                    ));
                }
            },
        },
    };
    pe.places.borrow_mut().entry(target).pe = Some(at);
    Location::At(at)
}
