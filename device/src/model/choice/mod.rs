//! Choice of a method and of the length of chunks: the least time of a transfer whose stages overlap, computed from the transfer's facts and
//! from tables.

use super::table::{CHUNK_BYTES, COLUMNS, LENGTHS, Table, column, row};
use crate::method::{Method, Way, are_planes, are_rows};
use chare_layout::Plan;
use std::fmt;
use std::time::Duration;

/// The longest arguments that are short where nothing was measured: what a message of its own would carry as soon. An estimate.
const SHORT_BYTES_UNMEASURED: u64 = LENGTHS[0];

/// The longest that are short at all: longer ones gain by chunks.
const SHORT_BYTES_MAX: u64 = LENGTHS[1];

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
        let stages = stages(table, facts, (way, method), len)?;
        let legs = beside.iter().map(|leg| leg.time(len));
        let expected = overlapped(facts.bytes.div_ceil(chunk_bytes), stages.into_iter().chain(legs));
        Some(Choice { method, chunk_bytes, expected: Some(expected) })
    });
    // Of equals the first: shorter chunks, and simpler methods.
    timed.min_by_key(|choice| choice.expected)
}

/// How long a method takes for one of the chunks, stage by stage; none if it was not tried, or is not for such blocks.
fn stages(table: &Table, facts: Facts, (way, method): (Way, Method), len: u64) -> Option<[Duration; 2]> {
    if method == Method::Rows && !facts.are_rows {
        return None;
    }
    let whole = table.times(way, method)[row(len)][column(facts.block_bytes(), len)]?;
    // Its copy is that of one block; the rest of its time, the step goes on beside the copy of another chunk.
    let copied = match method {
        Method::Packed => table.times(way, Method::Blocks)[row(len)][COLUMNS - 1].unwrap_or_default(),
        Method::OneShot | Method::Rows | Method::Blocks => Duration::ZERO,
    };
    Some([whole.saturating_sub(copied), copied.min(whole)])
}

/// The time of chunks whose stages overlap: of the first through all stages, and of the slowest stage for each other one.
fn overlapped(chunks: u64, stages: impl Iterator<Item = Duration>) -> Duration {
    let (first, slowest) = stages.fold((Duration::ZERO, Duration::ZERO), |(sum, most), stage| {
        (sum.saturating_add(stage), most.max(stage))
    });
    let others = u32::try_from(chunks.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_add(slowest.saturating_mul(others))
}

/// Whether one step over memory of another process, which is mapped, takes no longer than chunks by way of the host; none if it was not
/// measured. Of the owner's side only the bytes are known, so its blocks are taken for one: the step is not chosen too often.
pub(super) fn pulls(table: &Table, facts: Facts, beside: &[Leg]) -> Option<bool> {
    let pulled = stepped(table, facts)?;
    Some(staged(table, (Facts::whole(facts.bytes), facts), beside).is_none_or(|staged| pulled <= staged))
}

/// Whether a network that reads memory of devices, in the time of the `direct` leg, brings an argument no later than chunks by way of the host;
/// none if it was not measured. Blocks are packed on the device first, or unpacked behind the network: nothing of that overlaps.
pub(super) fn goes_directly(
    table: &Table,
    facts: Facts,
    (way, direct): (Way, Leg),
    beside: &[Leg],
) -> Option<bool> {
    let step = if facts.blocks > 1 { stepped(table, facts)? } else { Duration::ZERO };
    let whole = Facts::whole(facts.bytes);
    let sides = match way {
        Way::Out => (facts, whole),
        Way::In => (whole, facts),
    };
    let directly = step.saturating_add(direct.time(facts.bytes));
    Some(staged(table, sides, beside).is_none_or(|staged| directly <= staged))
}

/// How long one step within the device takes.
fn stepped(table: &Table, facts: Facts) -> Option<Duration> {
    let longest = LENGTHS[LENGTHS.len() - 1];
    let len = facts.bytes.min(longest);
    let part = table.pulled[row(len)][column(facts.block_bytes(), len)]?;
    let parts = u32::try_from(facts.bytes.div_ceil(longest).max(1)).unwrap_or(u32::MAX);
    Some(part.saturating_mul(parts))
}

/// The least time of chunks by way of the host, from one device to another; none if no method was tried for such blocks.
fn staged(table: &Table, (from, to): (Facts, Facts), beside: &[Leg]) -> Option<Duration> {
    let staged = CHUNK_BYTES.into_iter().filter_map(|chunk_bytes| {
        let len = to.bytes.min(chunk_bytes);
        let quickest = |way, facts| {
            let all = Method::ALL.into_iter().filter_map(|method| stages(table, facts, (way, method), len));
            all.min_by_key(|[one, other]| *one + *other)
        };
        let (out, into) = (quickest(Way::Out, from)?, quickest(Way::In, to)?);
        let legs = beside.iter().map(|leg| leg.time(len));
        let stages = out.into_iter().chain(into).chain(legs);
        Some(overlapped(to.bytes.div_ceil(chunk_bytes), stages))
    });
    staged.min()
}

/// Whether an argument is so short that one step into pinned memory takes no longer than packing on the device.
pub(super) fn is_short(table: Option<&Table>, facts: Facts) -> bool {
    let Some(table) = table else { return facts.bytes <= SHORT_BYTES_UNMEASURED };
    let time =
        |method| table.times(Way::Out, method)[row(facts.bytes)][column(facts.block_bytes(), facts.bytes)];
    facts.bytes <= SHORT_BYTES_MAX
        && time(Method::OneShot).is_some_and(|one| time(Method::Packed).is_none_or(|packed| one <= packed))
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

/// How much there is to copy, in how many pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of all blocks.
    pub bytes: u64,
    /// Blocks of memory, in which bytes lie side by side on both sides.
    pub blocks: u64,
    /// Whether the blocks are rows at equal distances, or planes of such, which one copy of two or three dimensions takes.
    pub are_rows: bool,
}

impl Facts {
    /// Those of a plan. Cost: one step for each nest, and for each piece of a list.
    pub fn of(plan: &Plan) -> Self {
        let (mut blocks, mut nests, mut are_all_rows) = (0, 0, true);
        plan.for_each_copy(&mut |copies| {
            blocks += copies.loops.iter().map(|pair| pair.count).product::<u64>();
            nests += 1;
            are_all_rows &= match copies.loops {
                [row] => are_rows(row, copies.block),
                [plane, row] => are_planes(plane, row, copies.block),
                _ => false,
            };
        });
        Self { bytes: plan.bytes(), blocks, are_rows: nests == 1 && are_all_rows }
    }

    /// Those of bytes that lie side by side.
    pub fn whole(bytes: u64) -> Self {
        Self { bytes, blocks: 1, are_rows: false }
    }

    /// Bytes of a block, on average.
    pub(crate) fn block_bytes(self) -> u64 {
        self.bytes / self.blocks.max(1)
    }
}

#[cfg(test)]
mod tests;
