//! Bursts without room: for a while a way between two nodes takes no frame, as a network's that is congested.

use crate::ids::NodeId;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

/// The stream of the seed's dice that bursts draw from.
const STREAM: u64 = u64::MAX - 2;

/// The bursts of one job.
pub(super) struct Bursts {
    /// One frame in so many finds that a burst begins.
    one_in: u64,
    /// How long one lasts at the most, in nanoseconds.
    longest_ns: u64,
    /// From when on there are none, in nanoseconds.
    calm_from: u64,
    /// Until when a way takes nothing.
    until: FxHashMap<(NodeId, NodeId), u64>,
    dice: ChaCha8Rng,
}

impl Bursts {
    /// Those of this seed, until this moment: half of the seeds have none.
    pub(super) fn draw(seed: u64, calm_from: u64) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(STREAM);
        let calm_from = if dice.random_ratio(1, 2) { calm_from } else { 0 };
        let one_in = [4, 64, 1_024][dice.random_range(0..3)];
        let longest_ns = [2_000, 100_000, 5_000_000][dice.random_range(0..3)];
        Self { one_in, longest_ns, calm_from, until: FxHashMap::default(), dice }
    }

    /// No bursts.
    pub(super) fn none() -> Self {
        Self::draw(0, 0)
    }

    /// Until when there is no room for a frame that is sent now, if there is none.
    pub(super) fn until(&mut self, way: (NodeId, NodeId), now: u64) -> Option<u64> {
        if now >= self.calm_from {
            return None;
        }
        if let Some(until) = self.until.get(&way).filter(|until| **until > now) {
            return Some(*until);
        }
        if !self.dice.random_ratio(1, self.one_in as u32) {
            return None;
        }
        let until = (now + self.dice.random_range(1..=self.longest_ns)).min(self.calm_from);
        self.until.insert(way, until);
        Some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_lasts_until_it_is_over_and_none_lasts_into_the_calm() {
        const CALM_FROM: u64 = 50_000;
        let ways = [(NodeId(0), NodeId(1)), (NodeId(1), NodeId(0))];
        let mut with_bursts = 0;
        for seed in 0..40 {
            let mut bursts = Bursts::draw(seed, CALM_FROM);
            let mut lasting = [None; 2];
            let mut any = false;
            for now in 0..2 * CALM_FROM {
                for (way, lasts) in ways.into_iter().zip(&mut lasting) {
                    let until = bursts.until(way, now);
                    assert!(until.is_none_or(|until| now < until && until <= CALM_FROM));
                    if let Some(begun) = lasts.filter(|until| *until > now) {
                        assert_eq!(until, Some(begun), "it neither ends early nor grows");
                    }
                    *lasts = until;
                    any |= until.is_some();
                }
            }
            with_bursts += u32::from(any);
        }
        assert!((8..32).contains(&with_bursts), "some seeds have them: {with_bursts} of 40");
        assert_eq!(Bursts::none().until(ways[0], 0), None);
    }
}
