//! Launches: a plan as copies and nests, which are arguments of a kernel, and as a table of what is too many for that.
//!
//! 1. Places are counted from the first bytes of two buffers: the launches of a plan serve every pair, so that its table is made and copied to
//!    the device once (`tables`).
//! 2. A block in no loop is a copy; blocks in loops are a nest, whose long blocks are cut so that all teams have work.
//! 3. A plan of many nests is a table of them. Short nests, and those that are too deep for the kernel, are pieces of the table
//!    ([`sections`]).

pub(crate) mod sections;

use crate::launch::sections::{Job, LOOPS_MAX, Nest, PIECE_BYTES_MAX, Piece, Section};
use chare_layout::{Copies, Pair, Plan};

/// Longer blocks are cut. A multiple of the longest word; eight words for each lane of the widest team. An estimate, as well.
pub(crate) const BLOCK_BYTES_MAX: u64 = 4096;

/// More copies than this are a table: a launch takes as long as many pieces. An estimate, which no device has judged yet.
const LAUNCHES_MAX: usize = 16;

/// Nests of fewer blocks are pieces, in a table: a nest takes as many bytes of it as so many pieces.
const JOB_BLOCKS_MIN: u64 = (size_of::<Job>() / PIECE_BYTES_MAX) as u64;

/// What a stream is given without a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Single {
    Copy(Piece),
    Nest(Nest),
}

/// What carries a plan out.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    pub(crate) singles: Vec<Single>,
    /// What is launched with a part of the table each.
    pub(crate) sections: Vec<Section>,
    pub(crate) table: Vec<u8>,
}

impl Launches {
    /// What carries a plan out between any two buffers.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut singles = Vec::new();
        let mut is_table = false;
        plan.for_each_copy(&mut |copies| {
            is_table |= singles.len() >= LAUNCHES_MAX || !is_nest(&copies);
            if !is_table {
                cut(&copies, &mut |single| singles.push(single));
            }
        });
        if !is_table {
            return Self { singles, ..Self::default() };
        }
        singles.clear();
        let (mut nests, mut pieces) = (Vec::new(), Vec::new());
        plan.for_each_copy(&mut |copies| {
            let blocks: u64 = copies.loops.iter().map(|pair| pair.count).product();
            if blocks >= JOB_BLOCKS_MIN && is_nest(&copies) {
                cut(&copies, &mut |single| match single {
                    Single::Nest(nest) => nests.push(nest),
                    copy @ Single::Copy(_) => singles.push(copy),
                });
            } else {
                spread(first(&copies), copies.loops, &mut pieces);
            }
        });
        let mut table = Vec::new();
        let mut all = sections::of_nests(nests, &mut table);
        all.extend(sections::of_pieces(pieces, &mut table));
        Self { singles, sections: all, table }
    }
}

/// The first block.
fn first(copies: &Copies<'_>) -> Piece {
    Piece { source: copies.source, target: copies.target, bytes: copies.block }
}

/// Whether the kernel takes its loops, one more of them where its blocks are cut.
fn is_nest(copies: &Copies<'_>) -> bool {
    copies.loops.len() + usize::from(copies.block >= BLOCK_BYTES_MAX) <= LOOPS_MAX
}

/// Calls with a copy or a nest, and the rest where blocks are cut.
fn cut(copies: &Copies<'_>, call: &mut dyn FnMut(Single)) {
    let first = first(copies);
    if copies.loops.is_empty() {
        return call(Single::Copy(first));
    }
    let cuts = first.bytes / BLOCK_BYTES_MAX;
    if cuts == 0 {
        return call(Single::Nest(Nest::new(first, copies.loops)));
    }
    let mut loops = copies.loops.to_vec();
    let step = BLOCK_BYTES_MAX as i64;
    loops.push(Pair { count: cuts, source: step, target: step });
    call(Single::Nest(Nest::new(Piece { bytes: BLOCK_BYTES_MAX, ..first }, &loops)));
    let done = cuts * BLOCK_BYTES_MAX;
    if first.bytes > done {
        call(Single::Nest(Nest::new(first.behind(done), copies.loops)));
    }
}

/// All blocks of a nest as pieces, long ones cut.
fn spread(first: Piece, loops: &[Pair], pieces: &mut Vec<Piece>) {
    let Some((outer, rest)) = loops.split_first() else {
        let mut left = first;
        while left.bytes > BLOCK_BYTES_MAX {
            pieces.push(Piece { bytes: BLOCK_BYTES_MAX, ..left });
            left = left.behind(BLOCK_BYTES_MAX);
        }
        pieces.push(left);
        return;
    };
    let mut at = first;
    for _ in 0..outer.count {
        spread(at, rest, pieces);
        at.source = at.source.wrapping_add(outer.source);
        at.target = at.target.wrapping_add(outer.target);
    }
}
