//! Turns of a balancer that has one only where that pays (`+balance_when auto`): pure, fed by what PE 0 is told.
//!
//! Between two syncs the longest PE takes longer than the average, by a *gap*; all the others wait for it.
//!
//! 1. A balancing is worth it when what was lost since the last one, and will be lost until the next chance by the trend of the last three
//!    gaps, is more than the last one has cost. Only what is more than the gap that it left counts: who cannot be divided will not be.
//! 2. What one costs nobody knows before the first, so that one is tried as soon as there is a gap.
//! 3. If two in a row have made the longest PE no shorter, the balancer rests for twice as many syncs as before, until one helps. While it
//!    rests nothing is gathered.

use std::collections::VecDeque;

/// How many gaps make a trend.
const TREND: usize = 3;

/// By how much the longest PE is to become shorter, so that a balancing was not in vain: clocks differ by as much.
const GAIN_MIN: f64 = 0.01;

/// The most syncs of a rest.
const REST_MAX: u32 = 1 << 20;

/// Seconds that PEs have taken since the last sync or balancing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Taken {
    pub(super) max: f64,
    pub(super) average: f64,
    /// The seconds until the moves of the last balancing were over.
    pub(super) carrying_out: f64,
}

/// A decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decision {
    pub(super) balances: bool,
    /// The balancer has come to rest for so many syncs.
    pub(super) rests_for: Option<u32>,
}

/// A balancing that was done.
#[derive(Clone, Copy, Debug)]
struct Done {
    /// What the longest PE took before.
    max: f64,
    /// The seconds that all waited until the plan was there, and then those until it was carried out.
    cost: f64,
    /// The gap that it left, once that is known.
    left: Option<f64>,
}

/// What decides.
#[derive(Debug)]
pub(super) struct Turns {
    gaps: VecDeque<f64>,
    lost: f64,
    last: Option<Done>,
    in_vain: u32,
    /// From one chance to the next: so many syncs.
    every: u32,
    /// Syncs since the last chance.
    syncs: u32,
}

impl Default for Turns {
    fn default() -> Self {
        Self { gaps: VecDeque::new(), lost: 0.0, last: None, in_vain: 0, every: 1, syncs: 0 }
    }
}

impl Turns {
    /// Takes note of a sync; returns whether the balancer does not rest, so that PEs are asked what they have taken.
    pub(super) fn come(&mut self) -> bool {
        self.syncs += 1;
        self.syncs >= self.every
    }

    /// Decides whether to balance now.
    pub(super) fn decide(&mut self, taken: Taken) -> Decision {
        let syncs = f64::from(std::mem::take(&mut self.syncs).max(1));
        let (max, gap) = (taken.max / syncs, (taken.max - taken.average).max(0.0) / syncs);
        let mut rests_for = None;
        if let Some(done) = self.last.as_mut().filter(|done| done.left.is_none()) {
            done.left = Some(gap);
            done.cost += taken.carrying_out;
            if max < done.max * (1.0 - GAIN_MIN) {
                (self.in_vain, self.every) = (0, 1);
            } else {
                self.in_vain += 1;
                if self.in_vain.is_multiple_of(2) {
                    self.every = (2 * self.every).min(REST_MAX);
                    rests_for = Some(self.every);
                }
            }
        }
        if self.gaps.len() == TREND {
            self.gaps.pop_front();
        }
        self.gaps.push_back(gap);
        let (left, cost) = self.last.map_or((0.0, 0.0), |done| (done.left.unwrap_or(0.0), done.cost));
        self.lost += (gap - left).max(0.0) * syncs;
        let ahead = (next(&self.gaps) - left).max(0.0) * f64::from(self.every);
        let balances = rests_for.is_none() && self.lost + ahead > cost;
        if balances {
            self.last = Some(Done { max, cost: 0.0, left: None });
            self.lost = 0.0;
            self.gaps.clear();
        }
        Decision { balances, rests_for }
    }

    /// Takes note of how long the plan of the balancing that was decided on has taken, in seconds, from the question to the answer.
    pub(super) fn plan_took(&mut self, seconds: f64) {
        if let Some(done) = &mut self.last {
            done.cost += seconds;
        }
    }
}

/// The next of some numbers, on the straight line that is nearest to them.
fn next(numbers: &VecDeque<f64>) -> f64 {
    let count = numbers.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, numbers.iter().sum::<f64>() / count);
    let along = |number: usize| number as f64 - middle;
    let spread: f64 = (0..numbers.len()).map(|number| along(number).powi(2)).sum();
    let slope = numbers.iter().enumerate().map(|(number, value)| along(number) * (value - mean)).sum::<f64>();
    if spread > 0.0 { mean + slope / spread * (count - middle) } else { mean }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(max: f64, average: f64) -> Taken {
        Taken { max, average, carrying_out: 0.0 }
    }

    /// Comes to a sync with this gap, over an average of 1 s; returns whether a balancing is decided on.
    fn sync(turns: &mut Turns, gap: f64) -> bool {
        turns.come() && turns.decide(taken(1.0 + gap, 1.0)).balances
    }

    #[test]
    fn the_first_balancing_is_tried_as_soon_as_there_is_a_gap() {
        let mut turns = Turns::default();
        assert!(!sync(&mut turns, 0.0));
        assert!(sync(&mut turns, 0.001));
    }

    #[test]
    fn the_next_one_comes_when_more_is_lost_than_it_costs() {
        let mut turns = Turns::default();
        assert!(sync(&mut turns, 1.0));
        turns.plan_took(0.5);
        // It leaves 0.1, which nobody can do anything about.
        assert!((0..20).all(|_| !sync(&mut turns, 0.1)));
        // From now on 0.15 more are lost each time: 0.15 and 0.15 to come, 0.3 and 0.15, then more than 0.5.
        let decisions: Vec<bool> = (0..3).map(|_| sync(&mut turns, 0.25)).collect();
        assert_eq!(decisions, [false, true, false], "by the trend, the third gap is larger still");
    }

    #[test]
    fn moves_that_take_long_are_a_cost() {
        let mut turns = Turns::default();
        assert!(sync(&mut turns, 1.0));
        turns.plan_took(0.1);
        assert!(!turns.come() || !turns.decide(Taken { max: 1.0, average: 1.0, carrying_out: 5.0 }).balances);
        assert!((0..20).all(|_| !sync(&mut turns, 0.2)), "four seconds lost of 5.1");
        assert!((0..10).any(|_| sync(&mut turns, 0.2)));
    }

    #[test]
    fn a_growing_gap_is_seen_coming() {
        assert_eq!(next(&VecDeque::from([0.5])), 0.5);
        assert_eq!(next(&VecDeque::from([0.5, 0.5, 0.5])), 0.5);
        assert!((next(&VecDeque::from([1.0, 2.0, 3.0])) - 4.0).abs() < 1e-12);
        assert!(
            (next(&VecDeque::from([3.0, 1.0])) + 1.0).abs() < 1e-12,
            "what is below nothing is nobody's loss"
        );
    }

    #[test]
    fn two_in_vain_make_the_balancer_rest_twice_as_long_until_one_helps() {
        let mut turns = Turns::default();
        let mut rests = Vec::new();
        // Nothing ever helps, and the gap grows, so that it always seems worth it.
        for step in 0..200 {
            if turns.come() {
                let decision = turns
                    .decide(taken(f64::from(turns.syncs) * (2.0 + f64::from(step)), f64::from(turns.syncs)));
                rests.extend(decision.rests_for);
            }
        }
        assert_eq!(rests[..4], [2, 4, 8, 16], "{rests:?}");
        while !turns.come() {}
        turns.decide(taken(1000.0 * f64::from(turns.syncs), 0.0));
        while !turns.come() {}
        turns.decide(taken(f64::from(turns.syncs), f64::from(turns.syncs)));
        assert_eq!(turns.every, 1, "one has helped");
    }
}
