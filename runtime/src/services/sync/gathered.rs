//! Measurements on PE 0: what PEs have told of the sync that is under way.

use super::message::MeasuredHere;
use crate::model::ids::PeId;

/// What PE 0 knows of the sync that is under way.
#[derive(Default)]
pub(super) struct Gathered {
    /// Syncs that have begun: all before this one.
    begun: u64,
    measured: Vec<(PeId, MeasuredHere)>,
}

impl Gathered {
    /// Takes note that a sync has begun; returns whether that is news.
    pub(super) fn begin(&mut self, sync: u64) -> bool {
        let is_new = sync >= self.begun;
        self.begun = self.begun.max(sync.saturating_add(1));
        is_new
    }

    /// Takes what a PE has; returns what all have, when all of so many have said it.
    pub(super) fn take(
        &mut self,
        from: PeId,
        measured: MeasuredHere,
        pes: u32,
    ) -> Option<Vec<(PeId, MeasuredHere)>> {
        self.measured.push((from, measured));
        (self.measured.len() >= pes as usize).then(|| std::mem::take(&mut self.measured))
    }
}
