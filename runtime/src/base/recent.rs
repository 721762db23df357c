//! Recent results: what a pure function gave for the arguments of the last few calls, so that a loop that asks again need not compute again.

/// How many results are kept where each is small: those of the 26 neighbours of a block of three dimensions, there and back, and some beside
/// them. A loop over one more than are kept would find none, for the oldest goes first.
pub(crate) const MANY: usize = 64;

/// Arguments and their results; the last `LEN` of them are kept.
pub(crate) struct Recent<K, V, const LEN: usize = 16> {
    results: Vec<(K, V)>,
    oldest: usize,
}

impl<K, V: Clone, const LEN: usize> Recent<K, V, LEN> {
    /// No results.
    pub(crate) const fn new() -> Self {
        Self { results: Vec::new(), oldest: 0 }
    }

    /// The result for arguments of which `are_these` holds.
    pub(crate) fn find(&self, are_these: impl Fn(&K) -> bool) -> Option<V> {
        self.look_up(are_these).cloned()
    }

    /// The same, where it lies.
    #[inline]
    pub(crate) fn look_up(&self, are_these: impl Fn(&K) -> bool) -> Option<&V> {
        self.results.iter().find(|(arguments, _)| are_these(arguments)).map(|(_, result)| result)
    }

    /// Keeps a result.
    pub(crate) fn keep(&mut self, arguments: K, result: V) {
        if self.results.len() < LEN {
            self.results.push((arguments, result));
        } else {
            self.results[self.oldest] = (arguments, result);
            self.oldest = (self.oldest + 1) % LEN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MANY, Recent};

    #[test]
    fn the_last_results_are_found_and_older_ones_are_gone() {
        const LEN: usize = 16;
        let mut recent = Recent::<_, _, LEN>::new();
        for number in 0..LEN + 3 {
            assert_eq!(recent.find(|known| *known == number), None);
            recent.keep(number, number * number);
        }
        for number in 0..LEN + 3 {
            let kept = recent.find(|known| *known == number);
            assert_eq!(kept, (number >= 3).then_some(number * number));
        }
    }

    #[test]
    fn a_turn_of_a_block_with_all_its_neighbours_finds_the_results_of_the_turn_before() {
        let mut recent = Recent::<_, _, MANY>::new();
        let sides = || (0..26).flat_map(|neighbour| [(neighbour, "there"), (neighbour, "back")]);
        sides().for_each(|side| recent.keep(side, ()));
        assert!(sides().all(|side| recent.find(|known| *known == side).is_some()));
    }
}
