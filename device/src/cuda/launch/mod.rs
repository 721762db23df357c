//! Launches: a plan between two addresses as copies by the driver, nests for one kernel, and tables of pieces for the other.
//!
//! 1. A block in no loop is a copy; blocks in loops are a nest, whose long blocks are cut so that all teams have work.
//! 2. A plan of many nests is a table of them for each length of words. Short nests, and those that are too deep for the kernel, are pieces
//!    of other tables.
//! 3. Words are as long as all addresses, strides and lengths of a launch allow; a team has as many lanes as its block has words.

use bytemuck::{Pod, Zeroable};
use chare_layout::{Copies, Pair, Plan};

/// Threads of a block.
pub(crate) const THREADS: u32 = 256;

/// Blocks of threads of a launch at most: more than any device runs at once; teams take turns.
const BLOCKS_MAX: u64 = 1 << 14;

/// Loops of a nest that the kernel takes. As in `kernels/step.cu`.
const LOOPS_MAX: usize = 6;

/// Longer blocks are cut. A multiple of the longest word; eight words for each lane of the widest team. An estimate, as well.
pub(crate) const BLOCK_BYTES_MAX: u64 = 4096;

/// More copies than this are a table: a launch takes as long as many pieces. An estimate, which no device has judged yet.
const LAUNCHES_MAX: usize = 16;

/// Nests of fewer blocks are pieces, in a table: a nest takes as many bytes of it as eight pieces.
const JOB_BLOCKS_MIN: u64 = (size_of::<Job>() / size_of::<Piece>()) as u64;

/// Lengths of words.
const WORDS: usize = 5;

/// The longest word of a kernel.
const WORD_BYTES_MAX: u64 = 16;

/// Lanes of a team at most.
const LANE_BITS_MAX: u32 = 5;

/// One loop, as the kernel reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct Loop {
    count: u64,
    source: i64,
    target: i64,
}

/// Blocks in loops, as the kernel reads them.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct Nest {
    source: u64,
    target: u64,
    pub(crate) block: u64,
    /// Blocks of all loops.
    pub(crate) blocks: u64,
    loops: u64,
    each: [Loop; LOOPS_MAX],
}

/// One nest of a table, as the kernel reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct Job {
    /// Blocks of all nests before it.
    pub(crate) first: u64,
    pub(crate) nest: Nest,
}

/// One piece of a table, as the kernel reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Piece {
    pub(crate) source: u64,
    pub(crate) target: u64,
    pub(crate) bytes: u64,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// The kernel for words of two to the power of so many bytes.
    pub(crate) word_bits: u32,
    /// Teams have two to the power of so many lanes.
    pub(crate) lane_bits: u32,
    /// Blocks of threads.
    pub(crate) blocks: u32,
}

/// One thing that a stream is given.
#[derive(Debug)]
pub(crate) enum Launch {
    Copy(Piece),
    Nest(Nest, Shape),
    Pieces(Vec<Piece>, Shape),
    /// Nests of several plans, and all their blocks.
    Nests(Vec<Job>, u64, Shape),
}

impl Launch {
    /// The table that its kernel reads.
    pub(crate) fn table(&self) -> Option<&[u8]> {
        match self {
            Self::Copy(_) | Self::Nest(..) => None,
            Self::Pieces(pieces, _) => Some(bytemuck::cast_slice(pieces)),
            Self::Nests(jobs, ..) => Some(bytemuck::cast_slice(jobs)),
        }
    }
}

/// What carries a plan out between buffers at these addresses.
pub(crate) fn launches(plan: &Plan, source: u64, target: u64) -> Vec<Launch> {
    let mut all = Vec::new();
    let mut is_table = false;
    plan.for_each_copy(&mut |copies| {
        is_table |= all.len() >= LAUNCHES_MAX || !is_nest(&copies);
        if !is_table {
            nest(&copies, (source, target), &mut all);
        }
    });
    if !is_table {
        return all;
    }
    let (mut given, mut pieces) = (Vec::new(), Vec::new());
    plan.for_each_copy(&mut |copies| {
        let blocks: u64 = copies.loops.iter().map(|pair| pair.count).product();
        if blocks >= JOB_BLOCKS_MIN && is_nest(&copies) {
            nest(&copies, (source, target), &mut given);
        } else {
            spread(moved(&copies, (source, target)), copies.loops, &mut pieces);
        }
    });
    if !pieces.is_empty() {
        let ored = pieces.iter().fold(0, |ored, piece| ored | piece.source | piece.target | piece.bytes);
        let longest = pieces.iter().map(|piece| piece.bytes).max().unwrap_or(0);
        let shape = Shape::of(ored, longest, pieces.len() as u64);
        given.push(Launch::Pieces(pieces, shape));
    }
    gathered(given)
}

/// Launches as few: nests, and pieces, of one length of words are one table. They are done in any order.
pub(crate) fn gathered(given: impl IntoIterator<Item = Launch>) -> Vec<Launch> {
    let mut all = Vec::new();
    let (mut nests, mut pieces) = ([const { Vec::new() }; WORDS], [const { Vec::new() }; WORDS]);
    for given in given {
        let given = match given {
            Launch::Copy(piece) if piece.bytes <= BLOCK_BYTES_MAX => launch(piece, &[]),
            other => other,
        };
        match given {
            Launch::Nest(nest, shape) => nests[shape.word_bits as usize].push(nest),
            Launch::Nests(jobs, _, shape) => {
                nests[shape.word_bits as usize].extend(jobs.into_iter().map(|job| job.nest));
            }
            Launch::Pieces(some, shape) => pieces[shape.word_bits as usize].extend(some),
            copy @ Launch::Copy(_) => all.push(copy),
        }
    }
    all.extend((0_u32..).zip(nests).filter_map(|(word_bits, nests)| of_nests(word_bits, nests)));
    all.extend((0_u32..).zip(pieces).filter_map(|(word_bits, pieces)| of_pieces(word_bits, pieces)));
    all
}

/// The first block, at its addresses.
fn moved(copies: &Copies<'_>, (source, target): (u64, u64)) -> Piece {
    let (source, target) =
        (source.wrapping_add_signed(copies.source), target.wrapping_add_signed(copies.target));
    Piece { source, target, bytes: copies.block }
}

/// Whether the kernel takes its loops, one more of them where its blocks are cut.
fn is_nest(copies: &Copies<'_>) -> bool {
    copies.loops.len() + usize::from(copies.block >= BLOCK_BYTES_MAX) <= LOOPS_MAX
}

/// A copy or a nest, and the rest where blocks are cut.
fn nest(copies: &Copies<'_>, bases: (u64, u64), all: &mut Vec<Launch>) {
    let first = moved(copies, bases);
    if copies.loops.is_empty() {
        all.push(Launch::Copy(first));
        return;
    }
    let cuts = first.bytes / BLOCK_BYTES_MAX;
    if cuts == 0 {
        all.push(launch(first, copies.loops));
        return;
    }
    let mut loops = copies.loops.to_vec();
    let step = BLOCK_BYTES_MAX as i64;
    loops.push(Pair { count: cuts, source: step, target: step });
    all.push(launch(Piece { bytes: BLOCK_BYTES_MAX, ..first }, &loops));
    let done = cuts * BLOCK_BYTES_MAX;
    if first.bytes > done {
        all.push(launch(behind(first, done), copies.loops));
    }
}

/// What is left of a piece.
fn behind(piece: Piece, done: u64) -> Piece {
    Piece { source: piece.source + done, target: piece.target + done, bytes: piece.bytes - done }
}

/// Blocks in at most [`LOOPS_MAX`] loops.
pub(crate) fn launch(first: Piece, loops: &[Pair]) -> Launch {
    let mut each = [Loop::default(); LOOPS_MAX];
    for (place, pair) in each.iter_mut().zip(loops) {
        *place = Loop { count: pair.count, source: pair.source, target: pair.target };
    }
    let strides = loops.iter().fold(0, |ored, pair| ored | pair.source as u64 | pair.target as u64);
    let ored = strides | first.source | first.target | first.bytes;
    let blocks = loops.iter().map(|pair| pair.count).product();
    let shape = Shape::of(ored, first.bytes, blocks);
    let Piece { source, target, bytes: block } = first;
    Launch::Nest(Nest { source, target, block, blocks, loops: loops.len() as u64, each }, shape)
}

/// All blocks of a nest as pieces, long ones cut.
fn spread(first: Piece, loops: &[Pair], pieces: &mut Vec<Piece>) {
    let Some((outer, rest)) = loops.split_first() else {
        let mut left = first;
        while left.bytes > BLOCK_BYTES_MAX {
            pieces.push(Piece { bytes: BLOCK_BYTES_MAX, ..left });
            left = behind(left, BLOCK_BYTES_MAX);
        }
        pieces.push(left);
        return;
    };
    let mut at = first;
    for _ in 0..outer.count {
        spread(at, rest, pieces);
        at.source = at.source.wrapping_add_signed(outer.source);
        at.target = at.target.wrapping_add_signed(outer.target);
    }
}

fn of_nests(word_bits: u32, nests: Vec<Nest>) -> Option<Launch> {
    let longest = nests.iter().map(|nest| nest.block).max()?;
    let mut blocks = 0;
    let in_table = |nest: Nest| {
        let first = blocks;
        blocks += nest.blocks;
        Job { first, nest }
    };
    let jobs: Vec<Job> = nests.into_iter().map(in_table).collect();
    let shape = Shape::of(1 << word_bits, longest, blocks);
    Some(match jobs[..] {
        [Job { nest, .. }] => Launch::Nest(nest, shape),
        _ => Launch::Nests(jobs, blocks, shape),
    })
}

fn of_pieces(word_bits: u32, pieces: Vec<Piece>) -> Option<Launch> {
    let longest = pieces.iter().map(|piece| piece.bytes).max()?;
    let shape = Shape::of(1 << word_bits, longest, pieces.len() as u64);
    Some(Launch::Pieces(pieces, shape))
}

impl Shape {
    /// For blocks of at most `longest` bytes, where `ored` has the bits of all addresses, strides and lengths.
    pub(crate) fn of(ored: u64, longest: u64, blocks: u64) -> Self {
        let word_bits = (ored | WORD_BYTES_MAX).trailing_zeros();
        let words = (longest >> word_bits).max(1);
        let lane_bits = words.next_power_of_two().trailing_zeros().min(LANE_BITS_MAX);
        let teams = u64::from(THREADS >> lane_bits);
        Self { word_bits, lane_bits, blocks: blocks.div_ceil(teams).clamp(1, BLOCKS_MAX) as u32 }
    }
}

/// What carries out plans between buffers at these addresses, source and target, in any order.
///
/// The launches of many plans are one for each length of words, so that all halos of a turn take as long to launch as one. Long copies in no
/// loop stay copies of the driver. Plans whose words are long do not wait for those whose words are short.
pub(crate) fn fused<'a>(steps: impl IntoIterator<Item = (&'a Plan, u64, u64)>) -> Vec<Launch> {
    gathered(steps.into_iter().flat_map(|(plan, source, target)| launches(plan, source, target)))
}

#[cfg(test)]
mod tests;
