//! Kernels of CUDA devices: those that carry launches out, how wide their teams are, and what they take as arguments.

#![expect(unsafe_code, reason = "launches kernels with the arguments that they take")]

use crate::cuda::sys::{Code, Function, Module, Stream};
use crate::launch::sections::{Nest, Nests, Piece, Pieces, Section, lane_bits, word_bits};
use crate::launch::{BLOCK_BYTES_MAX, Launches, Single, sections};
use std::ffi::{CStr, c_void};

/// Threads of a block.
pub(crate) const THREADS: u32 = 256;

/// Blocks of threads of a launch at most: more than any device runs at once; teams take turns.
const BLOCKS_MAX: u64 = 1 << 14;

/// First addresses of a source and a target.
pub(crate) type Bases = (u64, u64);

/// The kernels of `kernels/step.cu`, by the bits of their words.
pub(crate) struct Kernels {
    nest: [Function; 5],
    pieces: [Function; 5],
    nests: [Function; 5],
    /// Keeps them loaded.
    _module: Module,
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

/// Pieces of a table, as the kernel reads them. A column that is null is computed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct PiecesArgument {
    source: u64,
    target: u64,
    sources: u64,
    targets: u64,
    lengths: u64,
    bytes: u64,
    count: u64,
}

impl Kernels {
    /// Loads them into the context that was entered.
    pub(crate) fn load() -> Result<Self, Code> {
        const PTX: &CStr = match CStr::from_bytes_with_nul(
            concat!(include_str!("../../../kernels/step.ptx"), "\0").as_bytes(),
        ) {
            Ok(text) => text,
            Err(_) => panic!("the kernels are one text"),
        };
        let module = Module::load(PTX)?;
        let all = |names: [&CStr; 5]| -> Result<[Function; 5], Code> {
            let mut functions = Vec::with_capacity(names.len());
            for name in names {
                functions.push(module.function(name)?);
            }
            Ok(std::array::from_fn(|word_bits| functions[word_bits]))
        };
        let nest = all([c"step_nest_1", c"step_nest_2", c"step_nest_4", c"step_nest_8", c"step_nest_16"])?;
        let pieces =
            all([c"step_pieces_1", c"step_pieces_2", c"step_pieces_4", c"step_pieces_8", c"step_pieces_16"])?;
        let nests =
            all([c"step_nests_1", c"step_nests_2", c"step_nests_4", c"step_nests_8", c"step_nests_16"])?;
        Ok(Self { nest, pieces, nests, _module: module })
    }

    /// Launches what needs no table, between two addresses.
    ///
    /// # Safety
    /// As for [`Stream::launch`], for what it names.
    pub(crate) unsafe fn launch(&self, on: &Stream, single: &Single, bases: Bases) -> Result<(), Code> {
        match at(*single, bases) {
            // SAFETY: the caller's promise.
            Single::Copy(Piece { source, target, bytes }) => unsafe {
                on.copy(source as u64, target as u64, bytes)
            },
            Single::Nest(mut nest) => {
                let shape = Shape::of_nest(&nest);
                let (kernel, mut lane_bits) = (self.nest[shape.word_bits as usize], shape.lane_bits);
                let mut arguments: [*mut c_void; 2] = [(&raw mut nest).cast(), (&raw mut lane_bits).cast()];
                // SAFETY: the kernel takes a nest and a number of 32 bits; the rest is the caller's promise.
                unsafe { on.launch(kernel, shape.blocks, THREADS, &mut arguments) }
            }
        }
    }

    /// Launches a section of a table, which starts at an address of the device, between two addresses.
    ///
    /// # Safety
    /// As for [`Stream::launch`], for what it names; the table is there until the stream is past it.
    pub(crate) unsafe fn launch_section(
        &self,
        on: &Stream,
        section: &Section,
        table: u64,
        bases: Bases,
    ) -> Result<(), Code> {
        match section {
            // SAFETY: the caller's promise.
            Section::Nests(nests) => unsafe { self.launch_nests(on, nests, table, bases) },
            Section::Pieces(pieces) => {
                let mut argument = PiecesArgument::new(pieces, table, bases);
                let shape = Shape::of_pieces(pieces, bases);
                let (kernel, mut lane_bits) = (self.pieces[shape.word_bits as usize], shape.lane_bits);
                let mut arguments: [*mut c_void; 2] =
                    [(&raw mut argument).cast(), (&raw mut lane_bits).cast()];
                // SAFETY: the kernel takes such a structure and a number of 32 bits; the rest is the caller's promise.
                unsafe { on.launch(kernel, shape.blocks, THREADS, &mut arguments) }
            }
        }
    }

    /// # Safety
    /// As for [`launch_section`](Self::launch_section).
    unsafe fn launch_nests(
        &self,
        on: &Stream,
        nests: &Nests,
        table: u64,
        (mut source, mut target): Bases,
    ) -> Result<(), Code> {
        let shape = Shape::of_nests(nests, (source, target));
        let (kernel, mut lane_bits) = (self.nests[shape.word_bits as usize], shape.lane_bits);
        let (mut jobs, mut count, mut blocks) = (table + nests.at, nests.count, nests.blocks);
        let mut arguments: [*mut c_void; 6] = [
            (&raw mut jobs).cast(),
            (&raw mut count).cast(),
            (&raw mut blocks).cast(),
            (&raw mut source).cast(),
            (&raw mut target).cast(),
            (&raw mut lane_bits).cast(),
        ];
        // SAFETY: the kernel takes an address, four numbers of 64 bits and one of 32; the rest is the caller's promise.
        unsafe { on.launch(kernel, shape.blocks, THREADS, &mut arguments) }
    }
}

impl Shape {
    /// For blocks of at most `longest` bytes, where `grain` has the bits of all addresses, strides and lengths.
    fn of(grain: u64, longest: u64, blocks: u64) -> Self {
        let word_bits = word_bits(grain);
        let lane_bits = lane_bits(longest, word_bits);
        let teams = u64::from(THREADS >> lane_bits);
        Self { word_bits, lane_bits, blocks: blocks.div_ceil(teams).clamp(1, BLOCKS_MAX) as u32 }
    }

    /// For a nest at its addresses.
    pub(crate) fn of_nest(nest: &Nest) -> Self {
        Self::of(nest.grain(), nest.block, nest.blocks)
    }

    pub(crate) fn of_nests(nests: &Nests, (source, target): Bases) -> Self {
        Self::of(nests.grain | source | target, nests.longest, nests.blocks)
    }

    pub(crate) fn of_pieces(pieces: &Pieces, (source, target): Bases) -> Self {
        Self::of(pieces.grain | source | target, pieces.bytes, pieces.count)
    }
}

impl PiecesArgument {
    pub(crate) fn new(pieces: &Pieces, table: u64, (source, target): Bases) -> Self {
        let column = |column: Option<u64>| column.map_or(0, |at| table + at);
        Self {
            source: source.wrapping_add_signed(pieces.source),
            target: target.wrapping_add_signed(pieces.target),
            sources: column(pieces.sources),
            targets: column(pieces.targets),
            lengths: column(pieces.lengths),
            bytes: pieces.bytes,
            count: pieces.count,
        }
    }
}

/// The same between two addresses.
pub(crate) fn at(single: Single, (source, target): Bases) -> Single {
    let (source, target) = (source as i64, target as i64);
    match single {
        Single::Copy(mut piece) => {
            piece.source = piece.source.wrapping_add(source);
            piece.target = piece.target.wrapping_add(target);
            Single::Copy(piece)
        }
        Single::Nest(mut nest) => {
            nest.source = nest.source.wrapping_add(source);
            nest.target = nest.target.wrapping_add(target);
            Single::Nest(nest)
        }
    }
}

/// What needs no table, each at its addresses, as few launches; they are done in any order. Long copies in no loop stay copies of the driver.
pub(crate) fn gathered(given: impl IntoIterator<Item = Single>) -> Launches {
    let (mut singles, mut nests) = (Vec::new(), Vec::new());
    for single in given {
        match single {
            Single::Copy(piece) if piece.bytes <= BLOCK_BYTES_MAX => nests.push(Nest::new(piece, &[])),
            copy @ Single::Copy(_) => singles.push(copy),
            Single::Nest(nest) => nests.push(nest),
        }
    }
    if let [nest] = nests[..] {
        singles.push(Single::Nest(nest));
        return Launches { singles, ..Launches::default() };
    }
    let mut table = Vec::new();
    let sections = sections::of_nests(nests, &mut table);
    Launches { singles, sections, table }
}

#[cfg(test)]
mod tests;
