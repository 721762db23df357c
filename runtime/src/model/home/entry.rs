//! An entry: where one element lives, and what its home keeps of it while it is on a journey.

use super::contributions::InOrder;
use super::rules::{Rule, Rules};
use crate::model::ids::PeId;
use crate::model::registry::Standing;
use crate::model::travel::{Journey, Sought, Stay};

/// Where an element lives, and what is under way. `E` comes along with the news of an end.
pub(super) enum Residence<E> {
    /// At home; something of the journey is still out.
    Home,
    /// On the way to that PE from its home, where it lived or its construction was granted.
    Coming {
        to: PeId,
        stay: Stay,
    },
    Elsewhere {
        at: PeId,
        stay: Stay,
    },
    /// It may go, and has gone perhaps.
    Moving {
        from: PeId,
        left: Stay,
        to: PeId,
        stay: Stay,
    },
    /// It has ended there; the news of that are under way.
    Lost {
        at: PeId,
        stay: Stay,
    },
    /// The news of its end have come; contributions lag.
    Ended(E),
}

impl<E> Residence<E> {
    /// The stay that begins when the news of an arrival come.
    pub(super) fn coming(&self) -> Option<Stay> {
        match self {
            Self::Coming { stay, .. } | Self::Moving { stay, .. } => Some(*stay),
            _ => None,
        }
    }
}

/// The element that a call was looking for.
pub(super) enum Search {
    Home,
    UnderWay,
    Ended,
    On(PeId, Sought),
}

/// The entry of one element.
pub(super) struct Entry<C, E> {
    pub(super) residence: Residence<E>,
    pub(super) journey: Journey,
    /// Where it lives: calls that were sent for the second time, and of which nobody has said that they were delivered.
    pub(super) pins: u32,
    /// Copies of broadcasts of which the home does not know that the element heard them.
    pub(super) copies: u64,
    pub(super) standing: Standing,
    pub(super) contributions: InOrder<C>,
}

impl<C, E> Entry<C, E> {
    /// That of an element at home, of which nothing is out.
    pub(super) fn new(journey: Journey, standing: Standing) -> Self {
        let contributions = InOrder::default();
        Self { residence: Residence::Home, journey, pins: 0, copies: 0, standing, contributions }
    }

    /// What is under way of the element, in words.
    #[cfg(feature = "sim")]
    pub(super) fn unsettled(&self) -> Option<&'static str> {
        match self.residence {
            Residence::Coming { .. } | Residence::Moving { .. } => Some("the news of its arrival"),
            Residence::Lost { .. } => Some("the news of its end"),
            Residence::Home | Residence::Ended(_) => Some("something of its journey, which is over"),
            Residence::Elsewhere { .. } => (self.pins > 0).then_some("the delivery of a pinned call"),
        }
    }

    /// Finds the element, for a call that has come to its home, perhaps back; pins it where the call is sent for the second time.
    pub(super) fn search(&mut self, sought: Option<Sought>, rules: Rules) -> Search {
        let (at, stay) = match self.residence {
            Residence::Home => return Search::Home,
            Residence::Coming { .. } | Residence::Moving { .. } => return Search::UnderWay,
            Residence::Lost { .. } | Residence::Ended(_) => return Search::Ended,
            Residence::Elsewhere { at, stay } => (at, stay),
        };
        if sought.is_some_and(|sought| sought.stay == stay) && rules.hold(Rule::ProofOfEnd) {
            chare_lrts::sometimes!("a call that came back proved that its element had ended");
            self.residence = Residence::Lost { at, stay };
            return Search::Ended;
        }
        let is_pinned = sought.is_some() && rules.hold(Rule::Pins);
        if is_pinned {
            chare_lrts::sometimes!("a call chased an element through two homes and was pinned");
        }
        self.pins += u32::from(is_pinned);
        Search::On(at, Sought { stay, is_pinned })
    }
}
