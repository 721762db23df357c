//! Recent results: what a pure function gave for the arguments of the last few calls, so that a loop that asks again need not compute again.

/// How many results are kept; the oldest goes first. As many as there are faces of a block, and planes and edges beside them.
const LEN: usize = 16;

/// Arguments and their results.
pub(crate) struct Recent<K, V> {
    results: Vec<(K, V)>,
    oldest: usize,
}

impl<K, V: Clone> Recent<K, V> {
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
    use super::{LEN, Recent};

    #[test]
    fn the_last_results_are_found_and_older_ones_are_gone() {
        let mut recent = Recent::new();
        for number in 0..LEN + 3 {
            assert_eq!(recent.find(|known| *known == number), None);
            recent.keep(number, number * number);
        }
        for number in 0..LEN + 3 {
            let kept = recent.find(|known| *known == number);
            assert_eq!(kept, (number >= 3).then_some(number * number));
        }
    }
}
