//! Lists of indices, by chance as DDTBench makes them.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// `count` different indices below `all`, in no order; the same in every process.
///
/// Each place of the list of all indices is swapped with one by chance, and the first ones are taken: that is DDTBench's shuffle, whose
/// seed is the time.
pub(super) fn shuffled(count: usize, all: usize) -> Vec<usize> {
    let mut chance = SmallRng::seed_from_u64(1);
    let mut indices: Vec<usize> = (0..all).collect();
    for place in 0..all {
        indices.swap(place, chance.random_range(0..all));
    }
    indices.truncate(count);
    indices
}
