//! State of syncs on one PE: who waits there, what is counted there, and on PE 0 what has been measured.

use super::counts::Counts;
use super::gathered::Gathered;
use super::message::{ID, SyncMessage};
use crate::delivery::outbox;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::Envelope;
use crate::model::ids::{PeId, Target};
use crate::pe::Pe;
use chare_lrts::clock;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The way in which an element goes on that waits.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum GoesOn {
    ByCallback(ErasedCallback),
    /// By the task that waits, or by the call that is made again instead.
    Again,
}

/// An element that waits until a sync is over.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) sync: u64,
    pub(super) goes_on: GoesOn,
}

/// What an element takes along.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Luggage {
    /// Its next sync, if it has come to one.
    pub(super) next: Option<u64>,
    pub(super) waiting: Option<Waiting>,
    /// The time that its entries have taken since a balancer asked last.
    pub(super) time: Duration,
}

/// The syncs as one PE knows them.
#[derive(Default)]
pub(super) struct Syncs {
    /// All syncs before this one are over.
    pub(super) over: u64,
    /// The next sync of each element that lives here and has come to one.
    pub(super) next: FxHashMap<Target, u64>,
    /// Elements that live here and wait.
    pub(super) waiting: FxHashMap<Target, Waiting>,
    /// As a home.
    pub(super) counts: Counts,
    /// On the first PE of a node: how many PEs of the node, and of the nodes below, are complete for the sync that is under way.
    pub(super) complete: u64,
    /// On PE 0.
    pub(super) gathered: Gathered,
    pub(super) carrying_out: CarryingOut,
}

/// How long it takes until moves have come, from the end of a balancing to the last arrival before the next.
#[derive(Default)]
pub(super) struct CarryingOut {
    since: Option<Instant>,
    took: Duration,
}

impl CarryingOut {
    /// Takes note that a balancing is over.
    pub(super) fn begin(&mut self) {
        *self = Self { since: Some(clock::now()), took: Duration::ZERO };
    }

    /// Takes note that an element has come.
    pub(super) fn arrive(&mut self) {
        if let Some(since) = self.since {
            self.took = clock::since(since);
        }
    }

    /// How long it took.
    pub(super) fn take(&mut self) -> Duration {
        std::mem::take(self).took
    }
}

pub(super) fn state(pe: &Pe) -> &RefCell<Syncs> {
    pe.state(ID)
}

pub(super) fn send(pe: &Pe, to: PeId, message: SyncMessage) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

/// Sends a message to all PEs.
pub(super) fn tell_all(pe: &Pe, message: &SyncMessage) {
    (0..pe.node.topology.pes()).for_each(|to| send(pe, PeId(to), message.clone()));
}
