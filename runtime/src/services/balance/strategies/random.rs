//! Random placement: every object to some PE. For tests.

use super::rotate::place_each;
use crate::model::ids::PeId;
use crate::model::loads::{Loads, Moves};
use chare_lrts::dice;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Moves each object to a PE that is drawn, by the dice of a seed or else by those of the thread, where there is room.
pub(super) fn random(loads: &Loads, moves: &mut Moves, seed: Option<u64>) {
    let mut seeded = seed.map(ChaCha8Rng::seed_from_u64);
    let mut draw = |pes: u32| match &mut seeded {
        Some(dice) => dice.random_range(0..pes),
        None => dice::below(u64::from(pes)) as u32,
    };
    place_each(loads, moves, |_| PeId(draw(loads.pes())));
}
