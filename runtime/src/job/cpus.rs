//! Lists of CPUs as users write them: `0-3,8,10-14:2`.

use std::str::FromStr;
use thiserror::Error;

/// The highest CPU number that a list may name: above what Linux counts to, and low enough that a list of all of them takes little
/// memory.
const CPU_MAX: u32 = 65_535;

/// The most CPUs in one list, repetitions included.
const CPUS_MAX: usize = 65_536;

/// CPUs in the order in which PEs take them; never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuList(Vec<u32>);

/// A text that is no list of CPUs.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuListError {
    /// A part is neither a number nor a range.
    #[error("`{0}` is no CPU or range of CPUs such as 3, 0-3 or 0-14:2")]
    Malformed(String),
    /// A range runs backwards or steps by zero.
    #[error("`{0}` is an empty range")]
    EmptyRange(String),
    /// A number is beyond any machine.
    #[error("`{0}` names a CPU above {CPU_MAX}")]
    TooHigh(String),
    /// There are more entries than any job has PEs.
    #[error("it has more than {CPUS_MAX} CPUs")]
    TooLong,
}

impl CpuList {
    /// The CPU of the PE at this position of a node; the list starts again where it ends.
    pub fn cpu(&self, position: usize) -> u32 {
        self.0[position % self.0.len()]
    }

    /// All CPUs, in order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let Some((first, last, step)) = range(part) else {
                return Err(CpuListError::Malformed(part.to_owned()));
            };
            if first > last || step == 0 {
                return Err(CpuListError::EmptyRange(part.to_owned()));
            }
            if last > u64::from(CPU_MAX) {
                return Err(CpuListError::TooHigh(part.to_owned()));
            }
            let step = usize::try_from(step).unwrap_or(usize::MAX);
            // Both ends were compared with `CPU_MAX` above.
            cpus.extend((first as u32..=last as u32).step_by(step));
            if cpus.len() > CPUS_MAX {
                return Err(CpuListError::TooLong);
            }
        }
        Ok(Self(cpus))
    }
}

/// First, last and step of `3`, `0-3` or `0-14:2`.
fn range(part: &str) -> Option<(u64, u64, u64)> {
    let Some((first, rest)) = part.split_once('-') else {
        let cpu = number(part)?;
        return Some((cpu, cpu, 1));
    };
    let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
    Some((number(first)?, number(last)?, number(step)?))
}

/// A number made of digits only: no sign, no blank. More digits than the type holds are still a number, one that is too high.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}
