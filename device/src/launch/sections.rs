//! Sections of a table: nests of blocks, or single pieces, that one launch takes, and how wide its teams are.
//!
//! 1. A team has as many lanes as its longest block has words: blocks of one section are about as long as each other, unless they are few.
//! 2. A piece takes 4 bytes of the table for each place, and 4 for its length; what can be computed from the piece's number takes none, such
//!    as the places on the side that is one piece of memory, and lengths that are all the same.
//! 3. Places of a section lie within 2^32 bytes of its first; further ones are another section's.

use bytemuck::{Pod, Zeroable};
use chare_layout::Pair;
use std::collections::BTreeMap;

/// Loops of a nest that the kernel takes. As in `kernels/step.cu`.
pub(super) const LOOPS_MAX: usize = 6;

/// Bytes of a table that a piece takes at most.
pub(super) const PIECE_BYTES_MAX: usize = 12;

/// The longest word of a kernel, as a power of two.
const WORD_BITS_MAX: u32 = 4;

/// Lanes of a team at most, as a power of two.
const LANE_BITS_MAX: u32 = 5;

/// Fewer blocks have no section for their width: no more threads than a small device runs at once, whatever their teams have. An estimate, which no
/// device has judged yet.
const SECTION_BLOCKS_MIN: u64 = 1024;

/// One loop, as the kernel reads it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Loop {
    pub(crate) count: u64,
    pub(crate) source: i64,
    pub(crate) target: i64,
}

/// Blocks in loops, as the kernel reads them. Places are counted from the first bytes of two buffers, or from address zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Nest {
    pub(crate) source: i64,
    pub(crate) target: i64,
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

/// One block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) source: i64,
    pub(crate) target: i64,
    pub(crate) bytes: u64,
}

/// What one launch takes of a table.
#[derive(Debug)]
pub(crate) enum Section {
    Nests(Nests),
    Pieces(Pieces),
}

/// Nests of a table.
#[derive(Debug)]
pub(crate) struct Nests {
    /// Where they stand in the table, in bytes.
    pub(crate) at: u64,
    pub(crate) count: u64,
    /// Blocks of all of them.
    pub(crate) blocks: u64,
    /// The bits of all places, strides and lengths.
    pub(crate) grain: u64,
    /// Bytes of the longest block.
    pub(crate) longest: u64,
}

/// Pieces of a table. Each column stands in the table, in bytes from there on, or is computed: places go on by [`bytes`](Self::bytes) from piece
/// to piece, and all lengths are that.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// The places that those of the table are counted from.
    pub(crate) source: i64,
    pub(crate) target: i64,
    pub(crate) sources: Option<u64>,
    pub(crate) targets: Option<u64>,
    pub(crate) lengths: Option<u64>,
    /// Bytes of the longest piece.
    pub(crate) bytes: u64,
    pub(crate) count: u64,
    /// The bits of all places and lengths.
    pub(crate) grain: u64,
}

impl Nest {
    /// A block in at most [`LOOPS_MAX`] loops.
    pub(crate) fn new(first: Piece, loops: &[Pair]) -> Self {
        let mut each = [Loop::default(); LOOPS_MAX];
        for (place, pair) in each.iter_mut().zip(loops) {
            *place = Loop { count: pair.count, source: pair.source, target: pair.target };
        }
        let blocks = loops.iter().map(|pair| pair.count).product();
        let Piece { source, target, bytes: block } = first;
        Self { source, target, block, blocks, loops: loops.len() as u64, each }
    }

    /// Those around its blocks, outermost first.
    pub(crate) fn loops(&self) -> &[Loop] {
        &self.each[..self.loops as usize]
    }

    /// The bits of all its places, strides and lengths, by which the longest word is chosen.
    pub(crate) fn grain(&self) -> u64 {
        let strides = self.loops().iter().fold(0, |ored, one| ored | one.source | one.target);
        (self.source | self.target | strides) as u64 | self.block
    }
}

impl Piece {
    /// As [`Nest::grain`].
    pub(crate) fn grain(&self) -> u64 {
        (self.source | self.target) as u64 | self.bytes
    }

    /// What is left of it.
    pub(super) fn behind(self, done: u64) -> Self {
        let moved = |place: i64| place + done as i64;
        Self { source: moved(self.source), target: moved(self.target), bytes: self.bytes - done }
    }
}

/// The longest word that all bits allow, as a power of two.
pub(crate) fn word_bits(grain: u64) -> u32 {
    (grain | 1 << WORD_BITS_MAX).trailing_zeros()
}

/// Lanes of a team, as a power of two, for blocks of so many bytes.
pub(crate) fn lane_bits(bytes: u64, word_bits: u32) -> u32 {
    (bytes >> word_bits).max(1).next_power_of_two().trailing_zeros().min(LANE_BITS_MAX)
}

/// Nests as few sections, behind what the table has.
pub(crate) fn of_nests(nests: Vec<Nest>, table: &mut Vec<u8>) -> Vec<Section> {
    let mut words = [const { Vec::new() }; WORD_BITS_MAX as usize + 1];
    for nest in nests {
        words[word_bits(nest.grain()) as usize].push(nest);
    }
    let mut sections = Vec::new();
    for (word_bits, nests) in (0..).zip(words) {
        let width = |nest: &Nest| lane_bits(nest.block, word_bits);
        for nests in by_width(nests, width, |nest| nest.blocks) {
            sections.push(Section::Nests(Nests::of(&nests, table)));
        }
    }
    sections
}

/// Pieces as few sections, behind what the table has.
pub(super) fn of_pieces(pieces: Vec<Piece>, table: &mut Vec<u8>) -> Vec<Section> {
    let grain = pieces.iter().fold(0, |ored, piece| ored | piece.grain());
    let word_bits = word_bits(grain);
    let by_width = by_width(pieces, |piece| lane_bits(piece.bytes, word_bits), |_| 1);
    let by_window = by_width.flat_map(|pieces| within_reach(&pieces));
    by_window.map(|pieces| Section::Pieces(Pieces::of(&pieces, table))).collect()
}

/// What is given, by the width of its teams; what is too little for a section of its own goes with the next wider.
fn by_width<T>(
    given: Vec<T>,
    lane_bits: impl Fn(&T) -> u32,
    blocks: impl Fn(&T) -> u64,
) -> impl Iterator<Item = Vec<T>> {
    let mut widths = [const { Vec::new() }; LANE_BITS_MAX as usize + 1];
    for one in given {
        widths[lane_bits(&one) as usize].push(one);
    }
    let mut left = Vec::new();
    (0..).zip(widths).filter_map(move |(bits, some)| {
        left.extend(some);
        let is_enough = bits == LANE_BITS_MAX || left.iter().map(&blocks).sum::<u64>() >= SECTION_BLOCKS_MIN;
        (is_enough && !left.is_empty()).then(|| std::mem::take(&mut left))
    })
}

/// Pieces whose places on either side lie within 2^32 bytes.
fn within_reach(pieces: &[Piece]) -> impl Iterator<Item = Vec<Piece>> + use<> {
    let first = first_places(pieces);
    let mut windows = BTreeMap::<_, Vec<Piece>>::new();
    for piece in pieces {
        let window = (piece.source.abs_diff(first.0) >> 32, piece.target.abs_diff(first.1) >> 32);
        windows.entry(window).or_default().push(*piece);
    }
    windows.into_values()
}

fn first_places(pieces: &[Piece]) -> (i64, i64) {
    let least =
        |(source, target): (i64, i64), piece: &Piece| (source.min(piece.source), target.min(piece.target));
    pieces.iter().fold((i64::MAX, i64::MAX), least)
}

impl Nests {
    fn of(nests: &[Nest], table: &mut Vec<u8>) -> Self {
        let (at, mut blocks) = (table.len() as u64, 0);
        for nest in nests {
            table.extend_from_slice(bytemuck::bytes_of(&Job { first: blocks, nest: *nest }));
            blocks += nest.blocks;
        }
        let grain = nests.iter().fold(0, |ored, nest| ored | nest.grain());
        let longest = nests.iter().map(|nest| nest.block).max().unwrap_or(0);
        Self { at, count: nests.len() as u64, blocks, grain, longest }
    }
}

impl Pieces {
    /// Of pieces whose places lie within 2^32 bytes.
    fn of(pieces: &[Piece], table: &mut Vec<u8>) -> Self {
        let (source, target) = first_places(pieces);
        let bytes = pieces.iter().map(|piece| piece.bytes).max().unwrap_or(0);
        let grain = pieces.iter().fold((source | target) as u64, |ored, piece| ored | piece.grain());
        let mut column = |number: &dyn Fn(&Piece) -> u64, computed: &dyn Fn(u64) -> u64| {
            let is_computed = (0..).zip(pieces).all(|(at, piece)| number(piece) == computed(at));
            let numbers = pieces.iter().map(|piece| number(piece) as u32);
            (!is_computed).then(|| {
                let at = table.len() as u64;
                table.extend(numbers.flat_map(u32::to_ne_bytes));
                at
            })
        };
        let is_even = |at: u64| at * bytes;
        let sources = column(&|piece| piece.source.abs_diff(source), &is_even);
        let targets = column(&|piece| piece.target.abs_diff(target), &is_even);
        let lengths = column(&|piece| piece.bytes, &|_| bytes);
        Self { source, target, sources, targets, lengths, bytes, count: pieces.len() as u64, grain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(places: impl IntoIterator<Item = (i64, i64, u64)>) -> Vec<Piece> {
        places.into_iter().map(|(source, target, bytes)| Piece { source, target, bytes }).collect()
    }

    fn sections(pieces: Vec<Piece>) -> (Vec<Pieces>, usize) {
        let mut table = Vec::new();
        let sections = of_pieces(pieces, &mut table);
        let only = |section| match section {
            Section::Pieces(pieces) => pieces,
            Section::Nests(_) => unreachable!("there are no nests"),
        };
        (sections.into_iter().map(only).collect(), table.len())
    }

    #[test]
    fn a_list_of_blocks_that_are_packed_takes_four_bytes_a_block() {
        let list = pieces((0..5000).map(|at| (at * (at + 3) / 2 * 4, at * 4, 4)));
        let (sections, bytes) = sections(list);
        assert_eq!((sections.len(), bytes), (1, 4 * 5000));
        assert!(sections[0].targets.is_none() && sections[0].lengths.is_none());
    }

    #[test]
    fn short_pieces_have_a_section_of_their_own_where_there_are_many() {
        let mixed = |short: i64| {
            let short = (0..short).map(|at| (at * at * 4, at * 64, 4));
            pieces(short.chain((0..3).map(|at| (at * 9000 - 90_000, at * 7000 - 90_000, 4096))))
        };
        let lengths =
            |of| sections(of).0.iter().map(|section| (section.count, section.bytes)).collect::<Vec<_>>();
        assert_eq!(lengths(mixed(1024)), [(1024, 4), (3, 4096)]);
        assert_eq!(lengths(mixed(1023)), [(1026, 4096)], "few are no launch of their own");
        assert_eq!(lengths(pieces((0..9).map(|at| (at * at, at, 1)))), [(9, 1)]);
    }

    #[test]
    fn places_that_are_far_from_each_other_are_other_sections() {
        let far = pieces([(-8, 0, 8), (100, 8, 8), (1 << 33, 16, 8), ((1 << 33) + 24, 24, 8)]);
        let (sections, _) = sections(far);
        let firsts: Vec<_> = sections.iter().map(|one| (one.source, one.target, one.count)).collect();
        assert_eq!(firsts, [(-8, 0, 2), (1 << 33, 16, 2)]);
    }
}
