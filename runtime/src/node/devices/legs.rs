//! Legs of chunks: how fast the quickest chunk has come to each other node and back, for who chooses the length of the next ones.

use chare_lrts::NodeId;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Shorter chunks say more of the start than of the speed: the shortest that a model chooses.
const TOLD_BYTES_MIN: u64 = 64 << 10;

/// Bytes of a second to each node from which a chunk has come back. A chunk that waited behind others looks slow, so the quickest counts.
#[derive(Default)]
pub(crate) struct Legs(Mutex<FxHashMap<NodeId, f64>>);

impl Legs {
    /// A chunk of so many bytes has come back from a node, after this time.
    pub(crate) fn note(&self, peer: NodeId, bytes: u64, took: Duration) {
        if bytes < TOLD_BYTES_MIN || took.is_zero() {
            return;
        }
        let told = bytes as f64 / took.as_secs_f64();
        let mut quickest = self.0.lock();
        let known = quickest.entry(peer).or_insert(told);
        *known = known.max(told);
    }

    /// Bytes of a second to a node, if a chunk has come back from there.
    pub(crate) fn bytes_per_second(&self, peer: NodeId) -> Option<f64> {
        self.0.lock().get(&peer).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_long_chunk_counts() {
        let (legs, peer) = (Legs::default(), NodeId(3));
        legs.note(peer, TOLD_BYTES_MIN - 1, Duration::from_micros(1));
        legs.note(peer, TOLD_BYTES_MIN, Duration::ZERO);
        assert_eq!(legs.bytes_per_second(peer), None);
        for millis in [4, 2, 8] {
            legs.note(peer, 1 << 20, Duration::from_millis(millis));
        }
        assert_eq!(legs.bytes_per_second(peer), Some(f64::from(1 << 20) * 500.0));
        assert_eq!(legs.bytes_per_second(NodeId(1)), None);
    }
}
