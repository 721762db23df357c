//! Efficiency over granularity: samples of one side at falling grains, and the least granularity at which half of the time is work, which is
//! METG(50 %) of the paper.

/// The efficiency of a side at one grain of its tasks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Efficiency {
    /// The time of a task, of all that each processor does: the granularity, in nanoseconds.
    pub granularity_ns: f64,
    /// The part of it that is work.
    pub part: f64,
}

impl Efficiency {
    /// That of a task whose kernel takes `work_ns` on a processor that does nothing else.
    pub fn new(granularity_ns: f64, work_ns: f64) -> Self {
        Self { granularity_ns, part: work_ns / granularity_ns }
    }
}

/// METG(50 %): the granularity at which the efficiency falls through one half, between the two samples that lie around it, in nanoseconds. `None` if all
/// samples are on one side of it.
pub fn metg(samples: &[Efficiency]) -> Option<f64> {
    let crossing = samples.windows(2).find(|two| two[0].part >= 0.5 && two[1].part < 0.5)?;
    let [above, below] = [crossing[0], crossing[1]];
    let part = (above.part - 0.5) / (above.part - below.part);
    let logs = [above, below].map(|sample| sample.granularity_ns.ln());
    Some((logs[0] + part * (logs[1] - logs[0])).exp())
}

#[cfg(test)]
mod tests {
    use super::{Efficiency, metg};

    #[test]
    fn the_granularity_of_half_efficiency_lies_between_those_around_it() {
        // A task costs 500 ns beside its work.
        let samples = [4_000.0, 1_000.0, 250.0].map(|work| Efficiency::new(work + 500.0, work));
        let found = metg(&samples).expect("it is crossed");
        assert!((750.0..1_500.0).contains(&found), "{found}");
        assert_eq!(metg(&samples[..2]), None);
    }
}
