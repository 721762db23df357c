//! Wishes of elements to live on another PE, until they leave. Elements that are bound to each other have one wish, under the name of their bond.

use crate::model::ids::{PeId, ServiceId, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};

/// The service that sees to wishes.
pub(crate) const SEEN_TO_BY: ServiceId = ServiceId(15);

/// An element's wish to live elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wish {
    to: PeId,
    /// Whether its home has been asked.
    is_asked: bool,
    /// Whether a balancer has planned the move.
    is_planned: bool,
}

/// The wishes of elements on one PE; the last of an element counts.
#[derive(Default)]
pub(crate) struct Wishes {
    wishes: RefCell<FxHashMap<Target, Wish>>,
    /// How many of them no home has been asked for.
    waiting: Cell<usize>,
    /// Elements that stay until they say otherwise.
    held: RefCell<FxHashSet<Target>>,
}

impl Wishes {
    /// Holds an element where it is, or lets it go.
    pub(crate) fn hold(&self, member: Target, is_held: bool) {
        let mut held = self.held.borrow_mut();
        match is_held {
            true => held.insert(member),
            false => held.remove(&member),
        };
    }

    /// Whether an element stays where it is.
    pub(crate) fn is_held(&self, member: Target) -> bool {
        self.held.borrow().contains(&member)
    }

    /// Notes that an element wishes to live on a PE, or that a balancer wishes so.
    pub(crate) fn note(&self, member: Target, to: PeId, is_planned: bool) {
        let mut wishes = self.wishes.borrow_mut();
        let before = wishes.get(&member).copied();
        let is_asked = before.is_some_and(|wish| wish.is_asked);
        wishes.insert(member, Wish { to, is_asked, is_planned });
        self.waiting.update(|waiting| waiting + usize::from(before.is_none()));
    }

    /// Forgets an element's wish. Returns where it was to go.
    pub(crate) fn forget(&self, member: Target) -> Option<PeId> {
        if self.are_none() {
            return None;
        }
        let wish = self.wishes.borrow_mut().remove(&member)?;
        self.waiting.update(|waiting| waiting - usize::from(!wish.is_asked));
        Some(wish.to)
    }

    /// Where an element wishes to go.
    pub(crate) fn destination(&self, member: Target) -> Option<PeId> {
        self.wishes.borrow().get(&member).map(|wish| wish.to)
    }

    /// Where an element wishes to go, if its home has not been asked.
    pub(crate) fn waiting_for(&self, member: Target) -> Option<PeId> {
        let wish = self.wishes.borrow().get(&member).copied()?;
        (!wish.is_asked).then_some(wish.to)
    }

    /// Whether a balancer has planned the move of an element.
    pub(crate) fn is_planned(&self, member: Target) -> bool {
        self.wishes.borrow().get(&member).is_some_and(|wish| wish.is_planned)
    }

    /// Notes whether an element's home has been asked.
    pub(crate) fn set_asked(&self, member: Target, is_asked: bool) {
        if let Some(wish) = self.wishes.borrow_mut().get_mut(&member)
            && wish.is_asked != is_asked
        {
            wish.is_asked = is_asked;
            self.waiting.update(|waiting| if is_asked { waiting - 1 } else { waiting + 1 });
        }
    }

    /// Whether no element wishes to move.
    pub(crate) fn are_none(&self) -> bool {
        self.wishes.borrow().is_empty()
    }

    /// Whether there is an element whose home has not been asked yet.
    #[inline]
    pub(crate) fn are_waiting(&self) -> bool {
        self.waiting.get() > 0
    }

    /// The elements whose homes have not been asked yet.
    pub(crate) fn waiting(&self) -> Vec<Target> {
        if !self.are_waiting() {
            return Vec::new();
        }
        let wishes = self.wishes.borrow();
        wishes.iter().filter(|(_, wish)| !wish.is_asked).map(|(member, _)| *member).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{CollectionId, Index};

    #[test]
    fn the_last_wish_counts_and_waits_until_the_home_is_asked() {
        let member = |index| Target::Member(CollectionId { creator: PeId(0), serial: 0 }, Index::from(index));
        let wishes = Wishes::default();
        wishes.note(member(1), PeId(2), false);
        wishes.note(member(1), PeId(3), false);
        wishes.note(member(2), PeId(3), false);
        assert_eq!((wishes.waiting().len(), wishes.waiting_for(member(1))), (2, Some(PeId(3))));
        wishes.set_asked(member(1), true);
        assert_eq!((wishes.waiting(), wishes.waiting_for(member(1))), (vec![member(2)], None));
        wishes.note(member(1), PeId(4), false);
        assert_eq!(wishes.waiting(), [member(2)], "its home has been asked, and will be told");
        assert_eq!(
            [member(1), member(2), member(3)].map(|member| wishes.forget(member)),
            [Some(PeId(4)), Some(PeId(3)), None]
        );
        assert_eq!(wishes.waiting.get(), 0);
    }
}
