//! Numbers of journeys and stays of elements, and what they take along.

use serde::{Deserialize, Serialize};

/// The number of an element's stay on a PE other than its home; a home gives none twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Stay(u64);

impl Stay {
    /// Before all stays.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The number of an element's journey, that of its first stay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Journey(Stay);

impl Journey {
    pub(crate) fn begin(first: Stay) -> Self {
        Self(first)
    }
}

/// What a call carries since its element's home has sent it: to the stay of the element on which the call sought it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Sought {
    pub(crate) stay: Stay,
    /// Whether the element stays until the call has found it. The PE where the call is delivered says "found".
    pub(crate) is_pinned: bool,
}

/// An element on its journey: what it takes along, and its PE keeps beside it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Traveller {
    pub(crate) journey: Journey,
    pub(crate) stay: Stay,
    /// How often it has contributed: also the number of its next contribution.
    pub(crate) contributed: u64,
    /// How many copies of broadcasts it has heard since it left its home.
    pub(crate) heard: u64,
}

impl Traveller {
    pub(crate) fn new(journey: Journey, stay: Stay, contributed: u64) -> Self {
        Self { journey, stay, contributed, heard: 0 }
    }

    /// How often it has contributed, for the news of its end.
    pub(crate) fn contributed(&self) -> u64 {
        self.contributed
    }

    /// Numbers its next contribution.
    pub(crate) fn contribute(&mut self) -> u64 {
        let number = self.contributed;
        // What another node says may be any number; its home refuses those that cannot be.
        self.contributed = number.wrapping_add(1);
        number
    }

    /// Counts a copy of a broadcast, unless it is for another element of the index. Returns whether the element hears it.
    pub(crate) fn hear(&mut self, journey: Journey) -> bool {
        let hears = journey == self.journey;
        self.heard = self.heard.wrapping_add(u64::from(hears));
        hears
    }
}
