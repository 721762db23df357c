//! Network of a simulated job, as a model says: LogGOPS between nodes of a shape, read from one line of text.

use super::{LogGops, Shape};
use std::fmt;
use std::str::FromStr;

/// How the text begins that names this model.
const NAME: &str = "loggops";

/// A network whose messages take as long as [`LogGops`] says, and longer where they go over more links.
///
/// As text it is `loggops:` and a list of numbers, those left out being 0: `L`, `o`, `g` and `hop` in nanoseconds, `G` and `O` in
/// nanoseconds of each byte, with up to three decimals; and `shape`.
///
/// ```
/// use chare_lrts::simulated::Network;
///
/// let text = "loggops:L=2500,o=1500,g=1000,G=0.125,hop=100,shape=torus:8x8x8";
/// let network: Network = text.parse().unwrap();
/// assert_eq!(network.loggops.latency_ns, 2_500);
/// assert_eq!(network.loggops.byte_gap_ps, 125);
/// assert_eq!(network.latency_ns(0, 1), 2_500);
/// assert_eq!(network.latency_ns(0, 2), 2_600);
/// assert_eq!(network.to_string().parse(), Ok(network));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Network {
    /// What a message between the nearest nodes takes.
    pub loggops: LogGops,
    /// The places of the nodes.
    pub shape: Shape,
    /// How much later the first byte arrives for each link more than between the nearest nodes, in nanoseconds.
    pub hop_ns: u64,
}

impl Network {
    /// The time of a byte on its way from one node to another, in nanoseconds.
    pub fn latency_ns(&self, source: u32, target: u32) -> u64 {
        self.loggops.latency_ns + u64::from(self.shape.further_links(source, target)) * self.hop_ns
    }

    /// That between the nodes that are nearest to each other.
    pub fn least_latency_ns(&self) -> u64 {
        self.loggops.latency_ns
    }

    /// That between the nodes that are farthest from each other.
    pub fn most_latency_ns(&self) -> u64 {
        self.loggops.latency_ns + u64::from(self.shape.most_further_links()) * self.hop_ns
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = |what: &str| {
            format!(
                "{what} is no model of a network: write loggops: and numbers, such as loggops:L=2500,o=1500,g=1000,G=6,O=0, \
                 and for nodes that are not all as far from each other hop=100,shape=torus:8x8x8"
            )
        };
        let (name, list) = text.split_once(':').unwrap_or((text, ""));
        if name != NAME {
            return Err(unknown(text));
        }
        let mut network = Self::default();
        for item in list.split(',').filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('=').ok_or_else(|| unknown(item))?;
            let model = &mut network.loggops;
            match key {
                "L" => model.latency_ns = whole(item, value)?,
                "o" => model.overhead_ns = whole(item, value)?,
                "g" => model.gap_ns = whole(item, value)?,
                "G" => model.byte_gap_ps = thousandths(item, value)?,
                "O" => model.byte_overhead_ps = thousandths(item, value)?,
                "hop" => network.hop_ns = whole(item, value)?,
                "shape" => network.shape = value.parse()?,
                "S" => {
                    return Err(
                        "the runtime decides itself which messages wait for their receiver: leave out S"
                            .to_owned(),
                    );
                }
                _ => return Err(unknown(item)),
            }
        }
        Ok(network)
    }
}

/// The largest number that is taken, so that sums of some of them are no longer than a clock shows: a second, in picoseconds.
const NUMBER_MAX: u64 = 1_000_000_000_000;

/// Reads a whole number of nanoseconds.
fn whole(item: &str, value: &str) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| *number <= NUMBER_MAX);
    number.ok_or_else(|| format!("{item}: write a whole number of nanoseconds, 1,000 seconds at the most"))
}

/// Reads a number with up to three decimals, in thousandths.
fn thousandths(item: &str, value: &str) -> Result<u64, String> {
    let (ones, decimals) = value.split_once('.').unwrap_or((value, "0"));
    let read = || {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = is_number(ones) && is_number(decimals) && decimals.len() <= 3;
        let ones = ones.parse::<u64>().ok().filter(|ones| fits && *ones <= NUMBER_MAX / 1_000)?;
        Some(ones * 1_000 + format!("{decimals:0<3}").parse::<u64>().ok()?)
    };
    read().ok_or_else(|| format!("{item}: write nanoseconds of a byte, with up to three decimals"))
}

impl fmt::Display for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loggops: model, shape, hop_ns } = self;
        let (latency, overhead, gap) = (model.latency_ns, model.overhead_ns, model.gap_ns);
        write!(out, "{NAME}:L={latency},o={overhead},g={gap}")?;
        for (key, ps) in [("G", model.byte_gap_ps), ("O", model.byte_overhead_ps)] {
            write!(out, ",{key}={}", ps / 1_000)?;
            if !ps.is_multiple_of(1_000) {
                write!(out, ".{:03}", ps % 1_000)?;
            }
        }
        if (*shape, *hop_ns) != (Shape::Flat, 0) {
            write!(out, ",hop={hop_ns},shape={shape}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_is_written() {
        for text in [
            "loggops:L=2500,o=1500,g=1000,G=6,O=0",
            "loggops:L=1,o=0,g=0,G=0.007,O=12.500",
            "loggops:L=1,o=2,g=3,G=4,O=5,hop=6,shape=fat-tree:16",
        ] {
            assert_eq!(text.parse::<Network>().expect("it is one").to_string(), text);
        }
        let short: Network = "loggops:G=0.5".parse().expect("it is one");
        assert_eq!(short.loggops, LogGops { byte_gap_ps: 500, ..LogGops::default() });
    }

    #[test]
    fn what_is_no_model_is_refused_in_words() {
        for (text, words) in [
            ("logp:L=1", "loggops:L=2500"),
            ("loggops:l=1", "loggops:L=2500"),
            ("loggops:L", "loggops:L=2500"),
            ("loggops:L=-1", "whole number"),
            ("loggops:L=1.5", "whole number"),
            ("loggops:L=9999999999999", "whole number"),
            ("loggops:G=0.1234", "three decimals"),
            ("loggops:G=.5", "three decimals"),
            ("loggops:S=65535", "leave out S"),
            ("loggops:shape=ring", "no shape"),
        ] {
            let error = text.parse::<Network>().expect_err("it is none");
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
