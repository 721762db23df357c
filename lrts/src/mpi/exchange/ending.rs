//! End of a matched exchange: what MPI does not give back, and what waits for that.

use super::{MatchedExchange, Purpose, Running};
use crate::lrts::Completion;

impl MatchedExchange {
    /// Ends the operations of lost peers whose memory MPI does not give back.
    pub(super) fn give_up_lingering(&mut self) {
        self.lingering = None;
        let Self { flows, peering, poster, tags, .. } = self;
        let lost = flows.extract_if(.., |one| peering.peers.is_lost(one.peer));
        let ended = lost.filter_map(|Running { purpose, flow, .. }| match purpose {
            Purpose::Posted(id) => poster.lose(id, flow, tags),
            Purpose::Served(_) => None,
        });
        let ended: Vec<Completion> = ended.collect();
        peering.complete(ended);
    }

    /// Whether something ends by the clock, or by what MPI alone knows.
    pub(in crate::mpi) fn watches_clock(&self) -> bool {
        !self.flows.is_empty() || self.endpoint.is_sending() || self.lingering.is_some()
    }

    /// Whether all goodbyes were heard, no operation is open, and MPI needs no buffer any more, except for messages to lost peers.
    pub(in crate::mpi) fn is_closed(&self) -> bool {
        self.peering.peers.are_over()
            && self.poster.is_idle()
            && self.endpoint.under_way().all(|slot| self.peering.peers.is_lost(self.sends[slot]))
    }
}
