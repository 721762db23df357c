//! Groups and orders: things by the group to which each belongs, in two flat lists, and things by their load, the same whatever machine sorts.

/// Things by the group to which each belongs, in the order of their numbers.
pub(super) struct Grouped {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Grouped {
    /// Groups things; those whose group is not below `groups` are in none.
    pub(super) fn new(group_of: &[u32], groups: u32) -> Self {
        let mut starts = vec![0; groups as usize + 1];
        let is_in_one = |group: &&u32| **group < groups;
        group_of.iter().filter(is_in_one).for_each(|group| starts[*group as usize + 1] += 1);
        (0..groups as usize).for_each(|group| starts[group + 1] += starts[group]);
        let (mut next, mut numbers) = (starts.clone(), vec![0; starts[groups as usize] as usize]);
        for (number, group) in group_of.iter().enumerate().filter(|(_, group)| is_in_one(group)) {
            let next = &mut next[*group as usize];
            numbers[*next as usize] = number as u32;
            *next += 1;
        }
        Self { starts, numbers }
    }

    /// Those of a group.
    pub(super) fn of(&self, group: u32) -> &[u32] {
        let (start, end) = (self.starts[group as usize], self.starts[group as usize + 1]);
        &self.numbers[start as usize..end as usize]
    }
}

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
