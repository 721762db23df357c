//! Legs of transfers: how fast the quickest one has come to each other node or from there, for who chooses the next ones' way and length.

use chare_lrts::NodeId;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Bytes of a second to each node that transfers have gone to. One that waited behind others looks slow, so the quickest counts.
pub(crate) struct Legs {
    /// Shorter transfers say more of the start than of the speed.
    bytes_min: u64,
    /// Fewer transfers may all have waited: until then the speed is not below the estimate, lest there be no more of them.
    count_min: u32,
    told: Mutex<FxHashMap<NodeId, Told>>,
}

/// What transfers to a node have told.
#[derive(Default)]
struct Told {
    bytes_per_second: f64,
    count: u32,
}

impl Legs {
    /// Those of chunks, of which the shortest that a model chooses tells; there will be more of them, whatever it tells.
    pub(crate) fn of_chunks() -> Self {
        Self { bytes_min: 64 << 10, count_min: 1, told: Mutex::default() }
    }

    /// Those of whole transfers, which are not made if they seem to be slow: so they tell less each. Both numbers are estimates.
    pub(crate) fn of_whole() -> Self {
        Self { bytes_min: 1 << 20, count_min: 8, told: Mutex::default() }
    }

    /// So many bytes have come to a node, or from there, after this time.
    pub(crate) fn note(&self, peer: NodeId, bytes: u64, took: Duration) {
        if bytes < self.bytes_min || took.is_zero() {
            return;
        }
        let mut told = self.told.lock();
        let told = told.entry(peer).or_default();
        told.bytes_per_second = told.bytes_per_second.max(bytes as f64 / took.as_secs_f64());
        told.count = told.count.saturating_add(1);
    }

    /// Bytes of a second to a node, of which this is the estimate.
    pub(crate) fn bytes_per_second(&self, peer: NodeId, estimate: f64) -> f64 {
        match self.told.lock().get(&peer) {
            None => estimate,
            Some(told) if told.count < self.count_min => told.bytes_per_second.max(estimate),
            Some(told) => told.bytes_per_second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_long_chunk_counts() {
        let (legs, peer) = (Legs::of_chunks(), NodeId(3));
        legs.note(peer, (64 << 10) - 1, Duration::from_micros(1));
        legs.note(peer, 64 << 10, Duration::ZERO);
        assert_eq!(legs.bytes_per_second(peer, 5e9), 5e9);
        for millis in [4, 2, 8] {
            legs.note(peer, 1 << 20, Duration::from_millis(millis));
        }
        assert_eq!(legs.bytes_per_second(peer, 5e9), f64::from(1 << 20) * 500.0);
        assert_eq!(legs.bytes_per_second(NodeId(1), 5e9), 5e9);
    }

    #[test]
    fn one_slow_transfer_does_not_end_all_others() {
        let (legs, peer) = (Legs::of_whole(), NodeId(3));
        legs.note(peer, (1 << 20) - 1, Duration::from_nanos(1));
        assert_eq!(legs.bytes_per_second(peer, 5e9), 5e9, "it was short");
        for count in 1..=8 {
            assert_eq!(legs.bytes_per_second(peer, 5e9), 5e9, "{count}");
            legs.note(peer, 1 << 20, Duration::from_secs(1));
        }
        assert_eq!(legs.bytes_per_second(peer, 5e9), f64::from(1 << 20), "all eight were slow");
        legs.note(peer, 2 << 20, Duration::from_secs(1));
        assert_eq!(legs.bytes_per_second(peer, 5e9), f64::from(2 << 20));
    }
}
