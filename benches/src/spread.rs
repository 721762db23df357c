//! Spread of samples: their median and quartiles.

use std::fmt;

/// Median and quartiles of samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// A quarter of the samples are smaller.
    pub lower: f64,
    /// Half of the samples are smaller.
    pub median: f64,
    /// A quarter of the samples are larger.
    pub upper: f64,
}

impl Spread {
    /// The spread of some samples; `None` without any. Sorts a copy.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted.get(((sorted.len() as f64 - 1.0) * part).round() as usize).copied();
        Some(Self { lower: at(0.25)?, median: at(0.5)?, upper: at(0.75)? })
    }

    /// As of samples that are so many times as large.
    pub fn times(self, factor: f64) -> Self {
        let Self { lower, median, upper } = self;
        Self { lower: lower * factor, median: median * factor, upper: upper * factor }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lower, median, upper } = self;
        out.pad(&format!("{median:.1} ({lower:.1} .. {upper:.1})"))
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn quartiles_of_known_samples() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[7.0]), Some(Spread { lower: 7.0, median: 7.0, upper: 7.0 }));
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(spread, Some(Spread { lower: 2.0, median: 3.0, upper: 4.0 }));
        assert_eq!(spread.map(|spread| spread.to_string()).as_deref(), Some("3.0 (2.0 .. 4.0)"));
    }
}
