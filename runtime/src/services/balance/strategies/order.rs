//! Orders by load, the same whatever machine sorts.

/// Sorts by falling load, and what is equal by rising number: `key` gives both. Loads are not negative.
pub(super) fn sort_descending<T: Copy>(things: &mut Vec<T>, key: impl Fn(&T) -> (f64, u32)) {
    // The bits of numbers that are not negative are in the order of the numbers; keys beside the things spare a look at each load for each
    // comparison.
    let with_key = |thing: &T| {
        let (load, number) = key(thing);
        (!load.to_bits(), number, *thing)
    };
    let mut keyed: Vec<(u64, u32, T)> = things.iter().map(with_key).collect();
    keyed.sort_unstable_by_key(|(load, number, _)| (*load, *number));
    things.clear();
    things.extend(keyed.into_iter().map(|(.., thing)| thing));
}
