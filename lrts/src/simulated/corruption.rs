//! Corruption: the one frame of a simulated job that is changed on its way.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The stream of the seed's dice that corruption draws from.
const STREAM: u64 = u64::MAX - 5;

/// How many bytes at the front of a frame are changed as often as all others together: there stands what the runtime reads.
const FRONT_BYTES: usize = 96;

/// Which frame is changed, and how.
pub(super) struct Corruption {
    /// Frames that are sent before it.
    before: u64,
    dice: ChaCha8Rng,
}

impl Corruption {
    /// That of this seed: half of the seeds have none.
    pub(super) fn draw(seed: u64) -> Option<Self> {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(STREAM);
        let within = 10_u64.pow(dice.random_range(1..5));
        let before = dice.random_range(0..within);
        dice.random_ratio(1, 2).then_some(Self { before, dice })
    }

    /// Changes the bytes of a frame if it is the one; returns whether it is.
    pub(super) fn strike(&mut self, bytes: &mut Vec<u8>) -> bool {
        let is_struck = self.before == 0 && !bytes.is_empty();
        self.before = self.before.checked_sub(1).unwrap_or(u64::MAX);
        if is_struck {
            self.change(bytes);
        }
        is_struck
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let dice = &mut self.dice;
        let among = if dice.random_ratio(1, 2) { bytes.len().min(FRONT_BYTES) } else { bytes.len() };
        let at = dice.random_range(0..among);
        let was = bytes[at];
        match dice.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_slice(&[0; 3]),
            2 => bytes[at] = !was,
            3 => bytes[at] = if was == u8::MAX { 0 } else { u8::MAX },
            4 => bytes[at] = was.wrapping_add(1),
            5 => bytes[at] = was.wrapping_sub(1),
            _ => bytes[at] ^= 1 << dice.random_range(0..8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_of_half_of_the_jobs_is_changed() {
        let (mut jobs, mut lengths) = (0, std::collections::BTreeSet::new());
        for mut corruption in (0..400).filter_map(Corruption::draw) {
            let mut struck = 0;
            for _ in 0..20_000 {
                let mut bytes = vec![7; 200];
                let is_struck = corruption.strike(&mut bytes);
                assert_eq!(is_struck, bytes != [7; 200]);
                struck += u32::from(is_struck);
                lengths.insert(bytes.len());
            }
            assert_eq!(struck, 1);
            jobs += 1;
        }
        assert!((150..250).contains(&jobs), "half of 400: {jobs}");
        assert!(lengths.contains(&203) && lengths.len() > 10, "some are cut, some are longer: {lengths:?}");
    }
}
