//! Orders of items, the same whatever machine sorts.

use super::domain::Item;

/// Sorts positions in `items` by falling load, those of equal load by their numbers.
pub(super) fn sort_descending(positions: &mut Vec<u32>, items: &[Item]) {
    // The bits of numbers that are not negative are in the order of the numbers; keys beside the positions spare a look at each item for
    // each comparison.
    let key = |position: &u32| (!items[*position as usize].load.to_bits(), *position);
    let mut keys: Vec<(u64, u32)> = positions.iter().map(key).collect();
    keys.sort_unstable();
    positions.clear();
    positions.extend(keys.into_iter().map(|(_, position)| position));
}
