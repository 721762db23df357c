//! Costs of entries in a simulated job: how long each takes in virtual time, beside what it [computes](crate::sim::compute) itself.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

/// The name that stands for all entries that have no line of their own.
const ALL_OTHERS: &str = "*";

/// How long entries take in a simulated job.
///
/// ```
/// use chare::sim::Costs;
/// use std::time::Duration;
///
/// let costs: Costs = "Tile::sweep 12000\n* 300".parse().unwrap();
/// let outcome = chare::Simulation::new(1, 1).costs(costs).run(|| async {});
/// assert_eq!(outcome.code().unwrap(), 0);
/// # let _ = Costs::Fixed(Duration::from_nanos(300));
/// ```
///
/// As text a table has a line for each entry, chare's name, `::`, entry's name and nanoseconds, and one with `*` for all others; a number
/// alone is for all entries.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Costs {
    /// No time.
    #[default]
    Zero,
    /// Each the same.
    Fixed(Duration),
    /// Each its own, by chare and entry (`Tile::sweep`); `*` is for all others.
    Table(BTreeMap<String, Duration>),
}

impl Costs {
    /// The time of an entry of a chare.
    pub(super) fn of(&self, chare: &str, entry: &str) -> Duration {
        match self {
            Self::Zero => Duration::ZERO,
            Self::Fixed(time) => *time,
            Self::Table(times) => {
                let own = times.get(&format!("{chare}::{entry}"));
                own.or_else(|| times.get(ALL_OTHERS)).copied().unwrap_or_default()
            }
        }
    }
}

impl FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |number: &str| {
            let time = number.parse().map(Duration::from_nanos);
            time.map_err(|_| format!("{number} is no number of nanoseconds"))
        };
        if let (Some(number), None) = (lines().next(), lines().nth(1))
            && !number.contains(char::is_whitespace)
        {
            return read(number).map(Self::Fixed);
        }
        let row = |line: &str| {
            let (name, number) = line.rsplit_once(char::is_whitespace).ok_or_else(|| {
                format!("{line} is no cost of an entry: write its chare, `::`, its name and nanoseconds, as in Tile::sweep 12000")
            })?;
            Ok((name.trim_end().to_owned(), read(number)?))
        };
        lines().map(row).collect::<Result<_, String>>().map(Self::Table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read() {
        assert_eq!("300\n".parse(), Ok(Costs::Fixed(Duration::from_nanos(300))));
        let table: Costs = "# measured\nTile::sweep 12000\n\n* 7\n".parse().expect("it is a table");
        assert_eq!(table.of("Tile", "sweep"), Duration::from_micros(12));
        assert_eq!(table.of("Tile", "new"), Duration::from_nanos(7));
        assert_eq!("A::b 1\nA::c 2".parse::<Costs>().expect("it is a table").of("A", "d"), Duration::ZERO);
        for (text, words) in
            [("x", "x is no number"), ("A::b 1\nA::c", "A::c is no cost"), ("A::b -1", "-1 is no number")]
        {
            let error = text.parse::<Costs>().expect_err("it is none");
            assert!(error.contains(words), "{error}");
        }
    }
}
