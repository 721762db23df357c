//! Commands of a stream of a software device, and how what touches memory is carried out.
//!
//! Kernels are closures that are called with the bytes that a command names.

#![expect(unsafe_code, reason = "copies between memory of the device, and shows it to closures")]

use crate::backend::{Call, Kernel, Pitch, Rows, Step};
use crate::launch::Single;
use crate::launch::sections::{Job, Loop, Nest, Piece, Section, word_bits};
use crate::memory::span::Span;
use crate::software::faults::Chances;
use crate::software::mapped::working_address;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
use crate::tables::Ready;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a stream is asked to do.
pub(crate) enum Command {
    Work(Work),
    Fire(Arc<SoftwareSignal>),
    Wait(Arc<SoftwareSignal>),
    Call(Call),
    /// The span is dropped when the stream is here.
    Keep(Span),
}

/// A command that touches memory.
pub(crate) enum Work {
    /// Between spans of one length that share no byte, and that nobody else uses meanwhile.
    Copy(Span, Span),
    /// As a copy, for rows that lie within the spans, apart.
    CopyRows(Rows, Span, Span),
    /// Each within its spans; what is read and what is written nobody else uses meanwhile, and it shares no byte. What has a table is done by
    /// it, as a kernel would.
    Steps(Vec<(Arc<Ready>, Step)>),
    /// Nobody else uses it meanwhile.
    Zero(Span),
    /// From the sources to the target, which shares no byte with them, and which nobody else uses meanwhile.
    Compute(Kernel, Vec<Span>, Span),
}

impl Command {
    /// Loses the device here, if chance will have it.
    pub(crate) fn strike(&self, shared: &Shared, chances: &mut Chances) {
        if chances.loses() {
            shared.lose("its faults said so");
        } else if let Self::Work(work) = self
            && chances.faults()
        {
            shared.lose(&format!("{}: an illegal address was touched (its faults said so)", work.name()));
        }
    }
}

impl Work {
    /// What it is, in errors.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Copy(..) | Self::CopyRows(..) => "a copy",
            Self::Steps(_) => "a step by a plan",
            Self::Zero(_) => "writing zeros",
            Self::Compute(..) => "a kernel",
        }
    }

    /// Does it. A kernel that panics loses the device.
    pub(crate) fn carry_out(self, shared: &Shared) {
        match self {
            Self::Copy(from, to) => {
                let (source, target) = (working_address(&from), working_address(&to));
                // SAFETY: both spans are mapped as long as they live, and of one length; who sent the command promised the rest.
                unsafe { std::ptr::copy_nonoverlapping(source, target, from.len() as usize) };
            }
            Self::CopyRows(rows, from, to) => {
                let (source, target) = (working_address(&from), working_address(&to));
                let places = (0..rows.planes).flat_map(|plane| (0..rows.count).map(move |row| (plane, row)));
                for (plane, row) in places {
                    let place = |side: Pitch| ((plane * side.rows + row) * side.row) as usize;
                    let (skipped, past) = (place(rows.source), place(rows.target));
                    // SAFETY: both spans are mapped as long as they live, and have all rows; who sent the command promised the rest.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            source.add(skipped),
                            target.add(past),
                            rows.bytes as usize,
                        );
                    }
                }
            }
            Self::Steps(steps) => {
                for (ready, Step { plan, from, to }) in &steps {
                    let (from, to) = (working_address(from), working_address(to));
                    // SAFETY: both spans are mapped as long as they live, and have what the plan selects; who sent the command
                    // promised the rest.
                    unsafe {
                        match &ready.table {
                            None => plan.run(from, to),
                            Some(table) => by_table(ready, working_address(table), (from, to)),
                        }
                    }
                }
            }
            Self::Zero(span) => {
                // SAFETY: the span is mapped as long as it lives; who sent the command promised the rest.
                unsafe { working_address(&span).write_bytes(0, span.len() as usize) };
            }
            Self::Compute(kernel, sources, target) => {
                // SAFETY: who sent the command promised it.
                if let Err(cause) = unsafe { compute(kernel, &sources, &target) } {
                    shared.lose(&format!("a kernel panicked: {cause}"));
                }
            }
        }
    }
}

/// Does what the launches of a plan do, and looks whether a section says of its blocks what its kernel relies on.
///
/// # Safety
/// Both addresses are those of all that the plan selects, which nobody else uses meanwhile; the table is at its own.
unsafe fn by_table(ready: &Ready, table: *const u8, (from, to): (*const u8, *mut u8)) {
    let copy = |source: i64, target: i64, bytes: u64| {
        let (source, target) = (from.wrapping_offset(source as isize), to.wrapping_offset(target as isize));
        // SAFETY: the caller's promise, for a block of the plan.
        unsafe { std::ptr::copy_nonoverlapping(source, target, bytes as usize) };
    };
    let copy_nest = |nest: &Nest| {
        each_block((nest.source, nest.target), nest.loops(), &mut |source, target| {
            copy(source, target, nest.block);
        });
    };
    for single in &ready.singles {
        match single {
            Single::Copy(piece) => copy(piece.source, piece.target, piece.bytes),
            Single::Nest(nest) => copy_nest(nest),
        }
    }
    let is_word = |bits: u64, grain: u64| word_bits(bits) >= word_bits(grain);
    for section in &ready.sections {
        match section {
            Section::Nests(nests) => {
                let jobs = table.wrapping_add(nests.at as usize).cast::<Job>();
                let mut blocks = 0;
                for at in 0..nests.count as usize {
                    // SAFETY: the section has so many; the table was copied before, and nobody writes it.
                    let Job { first, nest } = unsafe { jobs.wrapping_add(at).read_unaligned() };
                    assert!(
                        first == blocks && nest.block <= nests.longest && is_word(nest.grain(), nests.grain)
                    );
                    blocks += nest.blocks;
                    copy_nest(&nest);
                }
                assert_eq!(blocks, nests.blocks, "a kernel counts on");
            }
            Section::Pieces(pieces) => {
                let number = |column: u64, at: u64| {
                    let place = table.wrapping_add((column + 4 * at) as usize).cast::<u32>();
                    // SAFETY: as above, for numbers of 32 bits.
                    u64::from(unsafe { place.read_unaligned() })
                };
                let of =
                    |column: Option<u64>, at, computed| column.map_or(computed, |column| number(column, at));
                for at in 0..pieces.count {
                    let even = at * pieces.bytes;
                    let piece = Piece {
                        source: pieces.source.wrapping_add_unsigned(of(pieces.sources, at, even)),
                        target: pieces.target.wrapping_add_unsigned(of(pieces.targets, at, even)),
                        bytes: of(pieces.lengths, at, pieces.bytes),
                    };
                    assert!(piece.bytes <= pieces.bytes && is_word(piece.grain(), pieces.grain));
                    copy(piece.source, piece.target, piece.bytes);
                }
            }
        }
    }
}

/// Calls with the places at each step of the loops.
fn each_block((source, target): (i64, i64), loops: &[Loop], call: &mut dyn FnMut(i64, i64)) {
    let Some((outer, rest)) = loops.split_first() else { return call(source, target) };
    for step in 0..outer.count as i64 {
        each_block((source + step * outer.source, target + step * outer.target), rest, call);
    }
}

/// Calls a kernel.
///
/// # Errors
/// What it said when it panicked: the target then holds a part of what it was to hold.
///
/// # Safety
/// Until this returns nobody else writes the sources or touches the target, which shares no byte with them.
unsafe fn compute(kernel: Kernel, sources: &[Span], target: &Span) -> Result<(), String> {
    let bytes = |span: &Span| (working_address(span), span.len() as usize);
    let read = |span: &Span| {
        let (start, len) = bytes(span);
        // SAFETY: the span is mapped as long as it lives, and all its bytes came initialised from the system; nobody writes them.
        let slice: &[u8] = unsafe { std::slice::from_raw_parts(start, len) };
        slice
    };
    let sources: Vec<&[u8]> = sources.iter().map(read).collect();
    let (start, len) = bytes(target);
    // SAFETY: as above, and nobody else touches them.
    let target = unsafe { std::slice::from_raw_parts_mut(start, len) };
    // What a panic leaves half done is memory of a device that is lost.
    catch_unwind(AssertUnwindSafe(|| kernel(&sources, target))).map_err(|cause| words_of(&*cause))
}

fn words_of(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".to_owned())
}
