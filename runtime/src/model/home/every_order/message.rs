//! Messages between PEs of the explored world, and what an element does when it is called.

use super::super::{Journey, Sought, Stay, Traveller};
use crate::model::registry::Standing;

/// What an element does when it is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Nothing,
    /// It wishes to go there; it is not free so many times when it may go.
    Move {
        to: usize,
        refusals: u32,
    },
    End,
    /// It ends and has its index inserted anew, on a PE and with this identity.
    Succeed {
        on: usize,
        id: u64,
    },
    /// It contributes to the reduction with this callback.
    Contribute(u64),
}

/// A call of one element.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) index: u64,
    pub(super) act: Act,
    pub(super) number: u64,
    pub(super) sought: Option<Sought>,
    /// How often it was sent in search of one element, and which that is.
    pub(super) sends: u32,
    pub(super) seeks: Option<u64>,
}

/// A copy of a broadcast, for one element.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) index: u64,
    pub(super) journey: Journey,
    pub(super) broadcast: u64,
    pub(super) sought: Option<Sought>,
    pub(super) sends: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Insert {
    pub(super) index: u64,
    pub(super) on: usize,
    pub(super) id: u64,
    pub(super) sought: Option<Sought>,
    /// How many were born with the index before it was asked for, if all of them have ended by then.
    pub(super) after: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Contribution {
    pub(super) callback: u64,
    pub(super) within: Option<u64>,
    /// Who made it, and as which of his.
    pub(super) by: u64,
    pub(super) nth: u64,
}

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) id: u64,
    /// At home, where there is no entry.
    pub(super) standing: Option<Standing>,
    /// Elsewhere.
    pub(super) traveller: Option<Traveller>,
    /// Where it wishes to be.
    pub(super) wants: Option<usize>,
    pub(super) has_wished: bool,
    pub(super) refusals: u32,
    pub(super) contributed: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    Call(Call),
    Copy(Copy),
    Insert(Insert),
    /// To a home: it carries out a broadcast, to which each element contributes so many times.
    Broadcast {
        number: u64,
    },
    /// Elements of a bond come: they move, or one is constructed.
    State(Vec<(u64, Element)>),
    Wish {
        index: u64,
        from: usize,
        stay: Stay,
        to: usize,
    },
    /// The elements of a bond may go: from which stays, for which ones.
    Go {
        members: Vec<(u64, Stay, Stay)>,
        to: usize,
    },
    Stayed {
        index: u64,
        from: usize,
        stay: Stay,
    },
    Arrived {
        index: u64,
        at: usize,
        stay: Stay,
    },
    Gone {
        index: u64,
        from: usize,
        stay: Stay,
        contributed: u64,
    },
    Found {
        index: u64,
        sought: Sought,
    },
    Contribution {
        index: u64,
        number: u64,
        contribution: Contribution,
    },
}
