//! Answers of a home: where an element lives, where what is for it goes, and what has become final of it.

use crate::model::ids::PeId;
use crate::model::registry::Standing;
use crate::model::travel::{Sought, Stay};
use smallvec::SmallVec;

/// Where the home of an element believes that it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// At home, or nowhere: the home's PE knows.
    AtHomeOrNowhere,
    On(PeId),
    /// Something is under way: what is for the element is kept.
    UnderWay,
}

/// Where the elements of a bond live, as their home believes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lives {
    /// At home, or nowhere: the home's PE knows.
    AtHomeOrNowhere,
    On(PeId),
    /// The one in the collection with this number is under way.
    UnderWay(usize),
}

/// The answer to a wish to move, as far as the element alone decides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    Allowed,
    /// Not now: the wish is kept.
    Keep,
    /// The wish of an element that has left meanwhile, or has ended; there is no answer.
    Obsolete,
}

/// The answer to a wish to move.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum BondWish {
    /// The element may go, and those with it that are bound to it.
    Granted(SmallVec<[LetGo; 1]>),
    /// Not now: the wish is kept until something has settled of the element in the collection with this number.
    Keep(usize),
    Obsolete,
}

/// An element that may go: that in the collection with a number, from a stay, and is on another one when it has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LetGo {
    pub(crate) number: usize,
    pub(crate) left: Stay,
    pub(crate) stay: Stay,
}

/// The way of a call that has come to the home of its element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seek {
    /// The element is at home, or there is none: the home's PE knows.
    AtHomeOrNowhere,
    Keep,
    Send {
        to: PeId,
        sought: Sought,
    },
}

/// The way of a copy of a broadcast that has come to the home of its element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeekCopy {
    /// The element is at home: it hears the copy now.
    Hear,
    Keep,
    Send {
        to: PeId,
        sought: Sought,
    },
    /// The element has ended.
    Drop,
}

/// The way of an insertion that has come to the home of its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// The index is free, unless the element is at home: the home's PE knows.
    AtHomeOrNowhere,
    Keep,
    /// That PE refuses it, or sends it back because the element is not there.
    Ask {
        to: PeId,
        sought: Sought,
    },
    /// There is such an element.
    Exists,
}

/// What has become final of an element.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Settled<E> {
    Nothing,
    /// It is at home, and its journey is over: the home's PE keeps its standing again.
    AtHome(Standing),
    /// It has ended, and had this standing. What was kept for it is looked at again.
    Over(Standing, E),
}
