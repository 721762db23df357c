//! Reservoir: a sample of bounded size of things that come one by one, each as likely in it as any other, however many come.
//!
//! Li's algorithm L ("Reservoir-sampling algorithms of time complexity O(n(1 + log(N/n)))", 1994): which thing is taken next is drawn ahead,
//! so that all others cost a comparison.

/// A sample.
#[derive(Debug)]
pub(crate) struct Reservoir<T> {
    kept: Vec<T>,
    kept_max: usize,
    /// How many things have come.
    come: u64,
    /// How many have come when the next one is taken.
    next: u64,
    /// The largest of as many numbers between 0 and 1 as there are places.
    largest: f64,
}

impl<T> Reservoir<T> {
    /// An empty one of so many places, at least one.
    pub(crate) fn new(kept_max: usize) -> Self {
        debug_assert!(kept_max > 0, "a sample of nothing");
        Self { kept: Vec::new(), kept_max, come: 0, next: 0, largest: 1.0 }
    }

    /// Takes note that a thing has come; `make` makes it if it is taken, and `draw` draws 64 bits.
    #[inline]
    pub(crate) fn offer(&mut self, draw: impl FnMut() -> u64, make: impl FnOnce() -> T) {
        self.come += 1;
        if self.come > self.next {
            self.take_in(draw, make());
        }
    }

    fn take_in(&mut self, mut draw: impl FnMut() -> u64, thing: T) {
        // From 2^-53 to 1: its logarithm is a number.
        let mut number = || ((draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        if self.kept.len() < self.kept_max {
            self.kept.push(thing);
            self.next = self.come;
            if self.kept.len() < self.kept_max {
                return;
            }
        } else {
            let place = (number() * self.kept_max as f64) as usize;
            self.kept[place.min(self.kept_max - 1)] = thing;
        }
        self.largest *= (number().ln() / self.kept_max as f64).exp();
        let skipped = (number().ln() / (1.0 - self.largest).ln()).floor();
        self.next = self.come.saturating_add(if skipped.is_finite() { skipped as u64 } else { 0 });
    }

    /// How many things have come for each that is kept.
    pub(crate) fn weight(&self) -> f64 {
        if self.kept.is_empty() { 1.0 } else { self.come as f64 / self.kept.len() as f64 }
    }

    /// What is kept.
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{Rng, SeedableRng};

    fn sample(come: u64, places: usize, seed: u64) -> Reservoir<u64> {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let mut reservoir = Reservoir::new(places);
        (0..come).for_each(|thing| reservoir.offer(|| dice.next_u64(), || thing));
        reservoir
    }

    #[test]
    fn all_are_kept_while_there_is_room() {
        for come in [0, 1, 7, 8] {
            let reservoir = sample(come, 8, 1);
            assert_eq!(reservoir.kept(), (0..come).collect::<Vec<_>>());
            assert_eq!(reservoir.weight(), 1.0);
        }
        assert_eq!(sample(9, 8, 1).weight(), 9.0 / 8.0);
    }

    #[test]
    fn each_is_as_likely_as_any_other() {
        let mut kept = [0_u32; 100];
        for seed in 0..4000 {
            sample(100, 10, seed).kept().iter().for_each(|thing| kept[*thing as usize] += 1);
        }
        // 400 each, of which the deviation is 19.
        assert!(kept.iter().all(|times| (300..500).contains(times)), "{kept:?}");
    }

    #[test]
    fn few_of_many_are_made() {
        let mut dice = ChaCha8Rng::seed_from_u64(5);
        let (mut reservoir, mut made) = (Reservoir::new(100), 0);
        (0..1_000_000).for_each(|_| reservoir.offer(|| dice.next_u64(), || made += 1));
        // 100 and 100 times the logarithm of how many there are for each.
        assert!((700..1400).contains(&made), "{made}");
    }
}
