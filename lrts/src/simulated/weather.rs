//! Weather of a simulated network: how long frames are on their way, and how many there is room for; and bursts without room, when for a
//! while a way between two nodes takes no frame, as a network's that is congested.

use super::chance::{Chance, Chances};
use crate::ids::NodeId;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use rustc_hash::FxHashMap;

/// The stream of the seed's dice that bursts draw from.
const STREAM: u64 = u64::MAX - 2;

/// One frame in so many is late.
const LATE_ONE_IN: u64 = 64;

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

    /// Whether a way takes nothing now.
    pub(super) fn is_under_way(&self, way: (NodeId, NodeId), now: u64) -> bool {
        self.until.get(&way).is_some_and(|until| *until > now)
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

/// How a network treats frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weather {
    /// Least time on the way, in nanoseconds.
    pub least_ns: u64,
    /// How much longer most take at the most, in nanoseconds.
    pub spread_ns: u64,
    /// How much longer one frame in 64 takes at the most, in nanoseconds.
    pub late_ns: u64,
    /// Time of each KiB on the way, in nanoseconds.
    pub kib_ns: u64,
    /// How many frames of one node to another there is room for, until they are taken there.
    pub room: usize,
}

impl Weather {
    /// What there is where a model describes the network: room.
    pub(super) const NONE: Self = Self { least_ns: 1, spread_ns: 1, late_ns: 1, kib_ns: 0, room: usize::MAX };

    /// Whether there may be no room.
    pub(super) fn is_limited(&self) -> bool {
        self.room < usize::MAX
    }

    /// Draws one: what is rare where all is drawn from one distribution comes often where each seed draws its own.
    pub(super) fn draw(dice: &mut ChaCha8Rng) -> Self {
        let mut one_of = |among: &[u64]| among[dice.random_range(0..among.len())];
        Self {
            least_ns: one_of(&[1, 500, 2_000]),
            spread_ns: one_of(&[1, 300, 5_000, 100_000]),
            late_ns: one_of(&[1, 50_000, 2_000_000]),
            kib_ns: one_of(&[0, 80]),
            room: one_of(&[1, 4, 64, 4_096, 4_096]) as usize,
        }
    }

    /// The same, where these parts alone are left to chance.
    pub(super) fn under(mut self, chances: Chances) -> Self {
        if !chances.has(Chance::Weather) {
            (self.least_ns, self.spread_ns, self.kib_ns) = (1_000, 1, 0);
        }
        if !chances.has(Chance::Late) {
            self.late_ns = 1;
        }
        if !chances.has(Chance::Room) {
            self.room = 4_096;
        }
        self
    }

    /// How long a frame of so many bytes is on its way.
    pub(super) fn delay_ns(&self, bytes: usize, dice: &mut ChaCha8Rng) -> u64 {
        let late =
            if dice.next_u64().is_multiple_of(LATE_ONE_IN) { dice.random_range(0..self.late_ns) } else { 0 };
        let length = (bytes as u64 * self.kib_ns) >> 10;
        self.least_ns + dice.random_range(0..self.spread_ns) + late + length
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
