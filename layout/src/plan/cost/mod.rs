//! The cost model: what a way to transfer a layout will take, from the lines of the cache that it touches.
//!
//! Lines are counted in closed form. What a line, a run and a vector cost is measured elsewhere and given as [`Rates`].

use crate::Raw;
use crate::value::bounds;
use crate::value::op::{Body, Op, lengths};

/// Bytes of a line.
const LINE: f64 = 64.0;

/// Which end of a copy is meant.
#[derive(Clone, Copy)]
enum Side {
    /// It is read.
    Source,
    /// It is written.
    Target,
}

/// A way in which what a layout selects of another process's memory comes to where it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A pass from layout to layout by the receiver, over memory that it maps.
    Step,
    /// The owner packs, the receiver unpacks.
    Stream,
    /// The receiver reads all that lies around the runs, then copies the runs from there.
    Sieve,
    /// The receiver reads the runs alone, by a vector for each.
    Vectors,
    /// A pass from layout to layout, half by the receiver, half by the owner, over memory that both map.
    Shared,
}

/// What things cost on one machine, in nanoseconds; tables by where the data lies: in the second cache, in the last, beyond.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Bytes that the second and the last cache hold.
    pub cache_bytes: [u64; 2],
    /// A line read.
    pub read_line_ns: [f64; 3],
    /// A line written.
    pub write_line_ns: [f64; 3],
    /// A run, whatever its length.
    pub run_ns: f64,
    /// A copy, whatever it copies.
    pub setup_ns: f64,
    /// One vector of a call that reads another process's memory.
    pub vector_ns: f64,
    /// A byte that such a call copies.
    pub vector_byte_ns: f64,
    /// To ask the owner for help, and to hear that it is done.
    pub help_ns: f64,
}

/// Lines of the cache that a layout touches, on average over where its buffer starts within a line (at multiples of the largest
/// power of two that its grain has).
///
/// Exact for nests of loops that do not interleave; pieces of lists that do not touch are counted each for itself, and what is on the same
/// line counts again.
///
/// ```
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// use chare_layout::{Raw, lines};
/// assert_eq!(lines(&Raw::bytes_of(64)?.vector(100, 1, 4)?), 100.0);
/// assert_eq!(lines(&Raw::bytes_of(8)?.vector(100, 1, 100)?), 100.0);
/// // Neighbours within a line are on it together.
/// assert_eq!(lines(&Raw::bytes_of(8)?.vector(8, 1, 4)?), 1.0 + (7.0 * 32.0 + 8.0 - 8.0) / 64.0);
/// # Ok(())
/// # }
/// ```
pub fn lines(layout: &Raw) -> f64 {
    let grain = layout.grain().max(1);
    let aligned = (grain & grain.wrapping_neg()).min(64) as f64;
    // Where a block of a list touches the one before, the line on which it begins was counted.
    lines_of(&layout.ops, aligned) - touching(layout) as f64 * (1.0 - aligned / LINE)
}

/// Pieces of lists that touch the one before; of lists within loops nobody counts them.
fn touching(layout: &Raw) -> u64 {
    let pieces = |op: &Op| match (&op.loops[..], &op.body) {
        ([], Body::Block(_)) => Some(1),
        ([], Body::Indexed { indices, .. }) => Some(indices.len() as u64),
        ([], Body::Runs(pieces)) => Some(pieces.len() as u64),
        _ => None,
    };
    layout.ops.iter().map(pieces).sum::<Option<u64>>().map_or(0, |pieces| pieces - layout.run_count())
}

fn lines_of(ops: &[Op], aligned: f64) -> f64 {
    ops.iter().map(|op| lines_of_op(op, aligned)).sum()
}

/// Lines of `len` bytes in a row.
fn in_a_row(len: f64, aligned: f64) -> f64 {
    1.0 + (len - aligned).max(0.0) / LINE
}

fn lines_of_op(op: &Op, aligned: f64) -> f64 {
    let spread = |of: &[Op]| {
        bounds::facts(of).ok().flatten().map_or(0.0, |facts| facts.high.abs_diff(facts.low) as f64)
    };
    // A body whose gaps are shorter than a line is as good as one run.
    let (mut segment, mut lines) = match &op.body {
        Body::Block(len) => (*len as f64, None),
        Body::Indexed { block, indices, .. } => {
            (f64::INFINITY, Some(indices.len() as f64 * in_a_row(*block as f64, aligned)))
        }
        Body::Runs(pieces) => {
            (f64::INFINITY, Some(lengths(pieces).map(|(_, len)| in_a_row(len as f64, aligned)).sum()))
        }
        Body::Each { offsets, of } => (f64::INFINITY, Some(offsets.len() as f64 * lines_of(of, aligned))),
        Body::Group(of) => (spread(of), Some(lines_of(of, aligned).min(in_a_row(spread(of), aligned)))),
    };
    let is_list = segment.is_infinite();
    let mut loops: Vec<(f64, f64)> =
        op.loops.iter().map(|one| (one.stride.unsigned_abs() as f64, one.count as f64)).collect();
    loops.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut apart = 1.0;
    for (stride, count) in loops {
        if !is_list && apart == 1.0 && stride - segment < LINE {
            segment += stride * (count - 1.0);
            lines = None;
        } else {
            apart *= count;
        }
    }
    apart * lines.unwrap_or_else(|| in_a_row(segment, aligned))
}

impl Rates {
    /// Where so many bytes lie: an index of the tables.
    fn class(&self, bytes: u64) -> usize {
        self.cache_bytes.iter().filter(|held| bytes > **held).count()
    }

    fn lines_ns(&self, layout: &Raw, side: Side) -> f64 {
        let class = self.class(layout.span());
        let table = match side {
            Side::Source => &self.read_line_ns,
            Side::Target => &self.write_line_ns,
        };
        lines(layout) * table[class]
    }

    fn runs_ns(&self, layout: &Raw) -> f64 {
        layout.run_count() as f64 * self.run_ns
    }

    /// One core copies from layout to layout, in one pass: both sides' lines, and the runs of the finer side.
    pub fn step_ns(&self, source: &Raw, target: &Raw) -> f64 {
        let runs = self.runs_ns(source).max(self.runs_ns(target));
        self.setup_ns + runs + self.lines_ns(source, Side::Source) + self.lines_ns(target, Side::Target)
    }

    /// Two cores copy from layout to layout, each half of it.
    pub fn shared_ns(&self, source: &Raw, target: &Raw) -> f64 {
        self.help_ns + self.step_ns(source, target) / 2.0
    }

    /// The owner packs, then the reader unpacks, each with the stream as its other side, which goes from processor to processor by the
    /// last cache. Neither begins before the other has ended.
    pub fn stream_ns(&self, source: &Raw, target: &Raw) -> f64 {
        let (stream, class) = (source.bytes() as f64 / LINE, self.class(source.bytes()).max(1));
        let pack =
            self.runs_ns(source) + self.lines_ns(source, Side::Source) + stream * self.write_line_ns[class];
        let unpack =
            self.runs_ns(target) + self.lines_ns(target, Side::Target) + stream * self.read_line_ns[class];
        2.0 * self.setup_ns + pack + unpack
    }

    /// One wide read of the whole span, then a local step out of the cache.
    pub fn sieve_ns(&self, source: &Raw, target: &Raw) -> f64 {
        let wide = self.vector_ns + source.span() as f64 * self.vector_byte_ns;
        let local = lines(source) * self.read_line_ns[0] + self.lines_ns(target, Side::Target);
        2.0 * self.setup_ns + wide + local + self.runs_ns(source).max(self.runs_ns(target))
    }

    /// What a method takes from `source` to `target`, in nanoseconds.
    pub fn method_ns(&self, method: Method, source: &Raw, target: &Raw) -> f64 {
        match method {
            Method::Step => self.step_ns(source, target),
            Method::Stream => self.stream_ns(source, target),
            Method::Sieve => self.sieve_ns(source, target),
            Method::Vectors => self.vectors_ns(source, target),
            Method::Shared => self.shared_ns(source, target),
        }
    }

    /// The quicker one of two methods; the first one if they take the same.
    ///
    /// ```
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// use chare_layout::{Method, Rates, Raw};
    /// let rates = Rates {
    ///     cache_bytes: [1 << 20, 32 << 20],
    ///     read_line_ns: [1.0, 1.5, 4.0],
    ///     write_line_ns: [1.0, 2.5, 6.0],
    ///     run_ns: 1.0,
    ///     setup_ns: 500.0,
    ///     vector_ns: 200.0,
    ///     vector_byte_ns: 0.08,
    ///     help_ns: 3000.0,
    /// };
    /// let quicker = |block: u64, every: i64| -> Result<Method, chare_layout::LayoutError> {
    ///     let source = Raw::bytes_of(block)?.vector((1 << 20) / block, 1, every)?;
    ///     Ok(rates.quicker([Method::Sieve, Method::Vectors], &source, &Raw::bytes_of(1 << 20)?))
    /// };
    /// assert_eq!(quicker(64, 4)?, Method::Sieve);
    /// assert_eq!(quicker(4096, 2)?, Method::Vectors);
    /// # Ok(())
    /// # }
    /// ```
    pub fn quicker(&self, [first, second]: [Method; 2], source: &Raw, target: &Raw) -> Method {
        let ns = |method| self.method_ns(method, source, target);
        if ns(second) < ns(first) { second } else { first }
    }

    /// A vector for each run of the finer side.
    pub fn vectors_ns(&self, source: &Raw, target: &Raw) -> f64 {
        let runs = source.run_count().max(target.run_count()) as f64;
        self.setup_ns + runs * self.vector_ns + source.bytes() as f64 * self.vector_byte_ns
    }
}

#[cfg(test)]
mod tests;
