//! Answers of a home: where an element lives, where what is for it goes, and what has become final of it.

use crate::model::ids::PeId;
use crate::model::registry::Standing;
use crate::model::travel::{Sought, Stay};

/// Where the home of an element believes that it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// At home, or nowhere: the home's PE knows.
    AtHomeOrNowhere,
    On(PeId),
    /// Something is under way: what is for the element is kept.
    UnderWay,
}

/// The answer to a wish to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// The element may go, and is on that stay when it has arrived.
    Granted(Stay),
    /// Not now: the wish is kept.
    Keep,
    /// The wish of an element that has left meanwhile, or has ended; there is no answer.
    Obsolete,
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
