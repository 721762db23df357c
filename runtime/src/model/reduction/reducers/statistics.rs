//! Statistics of numbers: how many there are, their mean and how far they spread.

use super::custom::{Reducer, ReducerRegistration};
use serde::{Deserialize, Serialize};

/// The count, the mean and the spread of some numbers, without the numbers themselves; contributed by
/// [`statistics`](crate::statistics()).
///
/// Two of them fold by the formula of Chan, Golub and LeVeque (1979), which loses no precision where the mean is large and the spread small.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// How many numbers there are.
    pub count: u64,
    /// The mean of the numbers; 0 of none.
    pub mean: f64,
    /// The sum of the squares of the numbers' distances to the mean.
    pub m2: f64,
}

impl Statistics {
    /// The statistics of a single number.
    pub fn of(number: f64) -> Self {
        Self { count: 1, mean: number, m2: 0.0 }
    }

    /// The variance of the numbers themselves; NaN of none.
    pub fn variance(&self) -> f64 {
        self.m2 / self.count as f64
    }

    /// The unbiased estimate of the variance of the population that the numbers are a sample of; NaN of fewer than two.
    pub fn sample_variance(&self) -> f64 {
        self.m2 / (self.count as f64 - 1.0)
    }
}

impl FromIterator<f64> for Statistics {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let mut all = Self::default();
        numbers.into_iter().for_each(|number| all.fold(Self::of(number)));
        all
    }
}

impl Reducer for Statistics {
    const NAME: &'static str = "chare::Statistics";

    fn fold(&mut self, other: Self) {
        let count = self.count.saturating_add(other.count);
        if count > 0 {
            let distance = other.mean - self.mean;
            let weight = other.count as f64 / count as f64;
            self.mean += distance * weight;
            self.m2 += other.m2 + distance * distance * self.count as f64 * weight;
            self.count = count;
        }
    }
}

inventory::submit! { ReducerRegistration::of::<Statistics>() }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fold_to_the_whole() {
        let numbers: Vec<f64> = (0..1000).map(|number| 1e9 + f64::from(number * 7919 % 1000)).collect();
        for parts in [1, 3, 10, 400] {
            let mut whole = Statistics::default();
            numbers.chunks(parts).for_each(|part| whole.fold(part.iter().copied().collect()));
            assert_eq!(whole.count, 1000);
            assert!((whole.mean - (1e9 + 499.5)).abs() < 1e-5, "{whole:?}");
            assert!((whole.variance() - 83_333.25).abs() < 1e-2, "{whole:?}");
        }
    }

    #[test]
    fn none_and_one() {
        let mut none = Statistics::default();
        none.fold(Statistics::default());
        assert_eq!(none, Statistics::default());
        none.fold(Statistics::of(4.0));
        assert_eq!((none.count, none.mean, none.variance()), (1, 4.0, 0.0));
        assert!(none.sample_variance().is_nan());
    }
}
