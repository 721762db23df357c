//! Fault plan: which faults, and how often, as the user types them after `+fault`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// A delay that is longer is a mistyped one.
const DELAY_US_MAX: u32 = 1_000_000;

/// Faults by chance, from a seed: the same seed on the same node draws the same numbers. (Threads of a node, and what the
/// network makes of time, decide who draws them.)
///
/// Typed as a list without blanks:
///
/// | word | fault | default |
/// |---|---|---|
/// | `refuse=N` | one of N sends, gets and puts finds no room, for now | none |
/// | `delay=US` | whatever arrives is held for up to so many microseconds, in its order | none |
/// | `corrupt=N` | one of N frames arrives as noise of the same length, before anything has checked it | none |
/// | `flip=N` | one bit of one of N frames that leave changes on the way, where a backend has tags that tell (TCP between hosts) | none |
/// | `drop=N` | one of N frames, gets and puts cuts its peer off: from then on nothing passes to or from it | none |
/// | `seed=S` | where the numbers come from | 0 |
///
/// ```
/// use chare_lrts::wrappers::FaultPlan;
///
/// let plan: FaultPlan = "refuse=10,delay=500,seed=7".parse().unwrap();
/// assert_eq!(plan.to_string(), "refuse=10,delay=500,seed=7");
/// assert!("refuse=never".parse::<FaultPlan>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FaultPlan {
    /// One of how many operations finds no room.
    pub refuse: Option<NonZeroU32>,
    /// How long arrivals are held at most.
    pub delay: Duration,
    /// One of how many arriving frames is noise.
    pub corrupt: Option<NonZeroU32>,
    /// One of how many leaving frames loses a bit on the way.
    pub flip: Option<NonZeroU32>,
    /// One of how many frames, gets and puts cuts its peer off.
    pub drop: Option<NonZeroU32>,
    /// Of all chances.
    pub seed: u64,
}

/// A list of faults that is none.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error(
    "`{0}` is no fault; a list has words such as refuse=10, delay=500 (microseconds, at most {DELAY_US_MAX}), corrupt=1000, flip=1000, drop=1000, seed=7"
)]
pub struct FaultPlanError(String);

impl FromStr for FaultPlan {
    type Err = FaultPlanError;

    fn from_str(list: &str) -> Result<Self, FaultPlanError> {
        let mut plan = Self::default();
        for word in list.split(',') {
            plan.add(word).ok_or_else(|| FaultPlanError(word.to_owned()))?;
        }
        Ok(plan)
    }
}

impl FaultPlan {
    fn add(&mut self, word: &str) -> Option<()> {
        let (name, value) = word.split_once('=')?;
        match name {
            "refuse" => self.refuse = Some(value.parse().ok()?),
            "delay" => {
                let us: u32 = value.parse().ok().filter(|us| *us <= DELAY_US_MAX)?;
                self.delay = Duration::from_micros(us.into());
            }
            "corrupt" => self.corrupt = Some(value.parse().ok()?),
            "flip" => self.flip = Some(value.parse().ok()?),
            "drop" => self.drop = Some(value.parse().ok()?),
            "seed" => self.seed = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

impl fmt::Display for FaultPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chances =
            [("refuse", self.refuse), ("corrupt", self.corrupt), ("flip", self.flip), ("drop", self.drop)];
        for (name, chance) in chances {
            if let Some(one_of) = chance {
                write!(out, "{name}={one_of},")?;
            }
            if name == "refuse" && !self.delay.is_zero() {
                write!(out, "delay={},", self.delay.as_micros())?;
            }
        }
        write!(out, "seed={}", self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_alike() {
        for list in
            ["seed=0", "refuse=1,delay=1000000,corrupt=2,flip=3,drop=4294967295,seed=18446744073709551615"]
        {
            assert_eq!(list.parse::<FaultPlan>().map(|plan| plan.to_string()), Ok(list.to_owned()));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for word in
            ["", "refuse", "refuse=0", "refuse=-1", "delay=1000001", "delay=1ms", "explode=3", "seed="]
        {
            let error = format!("seed=1,{word}").parse::<FaultPlan>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{word}` is no fault")), "{error}");
        }
    }
}
