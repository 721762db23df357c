//! Interesting lengths: every number that could be mistaken for a length, at every place where one could stand.

use std::collections::BTreeSet;

/// Numbers at the edges of what lengths, counts and offsets can be; `real` is what stood there.
fn interesting(real: u64) -> [u64; 16] {
    [
        0,
        1,
        real.wrapping_sub(1),
        real.wrapping_add(1),
        (1 << 31) - 1,
        1 << 31,
        (1 << 31) + 1,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        (1 << 62) + 1,
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX - 1,
        u64::MAX,
    ]
}

/// Calls `run` with `seed`, changed in one place: each position in turn holds each interesting number in four and in eight
/// bytes. Then with every beginning of it.
pub fn for_each_change(seed: &[u8], mut run: impl FnMut(&[u8])) {
    for start in 0..seed.len() {
        for width in [4, 8] {
            let Some(place) = seed.get(start..start + width) else { continue };
            let mut real = [0; 8];
            real[..width].copy_from_slice(place);
            let numbers = interesting(u64::from_le_bytes(real)).map(u64::to_le_bytes);
            let different: BTreeSet<&[u8]> = numbers.iter().map(|number| &number[..width]).collect();
            for number in different {
                let mut changed = seed.to_vec();
                changed[start..start + width].copy_from_slice(number);
                run(&changed);
            }
        }
    }
    (0..seed.len()).for_each(|len| run(&seed[..len]));
}
