//! Choice of a method and of the length of chunks: the least time of a transfer whose stages overlap, computed from tables.

use super::facts::Facts;
use super::table::{CHUNK_BYTES, Table, column, row};
use crate::method::{Method, Way};
use std::fmt;
use std::time::Duration;

/// The length of chunks where nothing was measured: between those that are mostly start-up and those that do not overlap. An estimate.
const CHUNK_BYTES_UNMEASURED: u64 = 512 << 10;

/// How a transfer is carried out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// How each chunk is packed or unpacked.
    pub method: Method,
    /// Bytes of a chunk; the last one may be shorter.
    pub chunk_bytes: u64,
    /// How long all of it takes, if the device was measured.
    pub expected: Option<Duration>,
}

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, in chunks of {} KiB", self.method, self.chunk_bytes >> 10)?;
        match self.expected {
            Some(time) => write!(out, " (some {time:.1?})"),
            None => out.write_str(" (not measured)"),
        }
    }
}

/// What each chunk goes through beside its method, such as a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// However short the chunk.
    pub start: Duration,
    /// Bytes of a second.
    pub bytes_per_second: f64,
}

impl Leg {
    fn time(self, bytes: u64) -> Duration {
        let seconds = bytes as f64 / self.bytes_per_second;
        self.start + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 2)
    }
}

/// The best of what was measured; none if no method was tried for such blocks.
pub(super) fn best(table: &Table, facts: Facts, way: Way, beside: &[Leg]) -> Option<Choice> {
    let all = CHUNK_BYTES.into_iter().flat_map(|chunk| Method::ALL.map(|method| (chunk, method)));
    let timed = all.filter_map(|(chunk_bytes, method)| {
        let len = facts.bytes.min(chunk_bytes);
        let time = table.times(way, method)[row(len)][column(facts.block_bytes(), len)]?;
        let stages = beside.iter().map(|leg| leg.time(len)).chain([time]);
        let (first, slowest) = stages.fold((Duration::ZERO, Duration::ZERO), |(sum, most), stage| {
            (sum.saturating_add(stage), most.max(stage))
        });
        let others = u32::try_from(facts.bytes.div_ceil(chunk_bytes).saturating_sub(1)).unwrap_or(u32::MAX);
        let expected = first.saturating_add(slowest.saturating_mul(others));
        Some(Choice { method, chunk_bytes, expected: Some(expected) })
    });
    // Of equals the first: shorter chunks, and simpler methods.
    timed.min_by_key(|choice| choice.expected)
}

/// An order of methods, by what can be said without a measurement.
pub(super) fn unmeasured(facts: Facts) -> Choice {
    let method = match facts {
        Facts { blocks: 0 | 1, .. } => Method::Blocks,
        Facts { bytes, .. } if bytes <= CHUNK_BYTES[0] => Method::OneShot,
        _ => Method::Packed,
    };
    Choice { method, chunk_bytes: CHUNK_BYTES_UNMEASURED, expected: None }
}

#[cfg(test)]
mod tests {
    use super::super::table::COLUMNS;
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    /// A method that starts in so many microseconds, and takes so many for each 64 KiB.
    fn fill(table: &mut Table, method: Method, columns: std::ops::Range<usize>, start: u64, each: u64) {
        for (row, bytes) in CHUNK_BYTES.into_iter().enumerate() {
            for column in columns.clone() {
                table.times_mut(Way::Out, method)[row][column] =
                    Some(micros(start + each * (bytes / (64 * KIB))));
            }
        }
    }

    fn table() -> Table {
        let mut table = Table::default();
        // A step writes slowly over the bus, packing starts twice, blocks pay for each start and were tried for long ones.
        fill(&mut table, Method::OneShot, 0..COLUMNS, 5, 40);
        fill(&mut table, Method::Packed, 0..COLUMNS, 12, 10);
        fill(&mut table, Method::Blocks, 3..4, 5, 20);
        fill(&mut table, Method::Blocks, 4..5, 3, 9);
        table
    }

    fn chosen(bytes: u64, blocks: u64, beside: &[Leg]) -> (Method, u64, Duration) {
        let choice = best(&table(), Facts { bytes, blocks }, Way::Out, beside).expect("it was measured");
        (choice.method, choice.chunk_bytes, choice.expected.expect("it was measured"))
    }

    #[test]
    fn one_stage_takes_the_chunk_with_the_least_start_up() {
        let longest = (4 * MIB / 4, 4 * MIB);
        assert_eq!(chosen(longest.1, longest.0, &[]), (Method::Packed, 4 * MIB, micros(12 + 640)));
        assert_eq!(chosen(longest.1, 1, &[]), (Method::Blocks, 4 * MIB, micros(3 + 576)));
        // What fits the shortest chunk is one.
        assert_eq!(chosen(4 * KIB, 1, &[]), (Method::Blocks, 64 * KIB, micros(12)));
        assert_eq!(chosen(0, 0, &[]).2, micros(12));
    }

    #[test]
    fn stages_that_overlap_take_chunks_in_between() {
        // 64 KiB in 10 us, as packing: whole, both stages take one after the other; in chunks they overlap.
        let network = Leg { start: micros(12), bytes_per_second: 64.0 * 1024.0 / 10e-6 };
        let (method, chunk, time) = chosen(4 * MIB, MIB, &[network]);
        // 2 x 52 us, and 15 more chunks of 52: 884; whole: 1,304; in chunks of 1 MiB: 2 x 172 + 3 x 172 = 860.
        assert_eq!((method, chunk), (Method::Packed, MIB));
        assert!(time.abs_diff(micros(860)) < micros(1), "{time:?}");
    }

    #[test]
    fn what_was_not_tried_is_not_chosen() {
        let mut table = Table::default();
        fill(&mut table, Method::Blocks, 4..5, 1, 1);
        let scattered = Facts { bytes: MIB, blocks: MIB / 4 };
        assert_eq!(best(&table, scattered, Way::Out, &[]), None);
        assert_eq!(best(&table, Facts { bytes: MIB, blocks: 1 }, Way::In, &[]), None);
    }

    #[test]
    fn without_a_measurement_there_is_an_order() {
        let method = |bytes, blocks| unmeasured(Facts { bytes, blocks }).method;
        assert_eq!(method(MIB, 1), Method::Blocks);
        assert_eq!(method(64 * KIB, 100), Method::OneShot);
        assert_eq!(method(64 * KIB + 1, 100), Method::Packed);
        let said = unmeasured(Facts { bytes: MIB, blocks: 100 }).to_string();
        assert_eq!(said, "packed on the device, then copied, in chunks of 512 KiB (not measured)");
    }
}
