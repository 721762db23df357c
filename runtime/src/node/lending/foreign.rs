//! Copies of foreign memory: what a plan selects of another process's memory, read or written by the kernel, in pieces that threads
//! share.
//!
//! 1. *Vectors* read or write the runs alone, by one system call for up to a thousand of them.
//! 2. *The sieve* reads all that lies around the runs of a piece, at most [`WINDOW_BYTES`], then copies the runs from there. Only reads are
//!    sieved: what lies between runs that are written is somebody else's. A piece whose runs lie further apart is read by vectors.
//! 3. Plans count their places from the first byte of the claimed range; they are compared with its length once, before anything is copied.

#![expect(
    unsafe_code,
    reason = "copies by plans between owned memory and a claimed range of another process"
)]

use chare_layout::{LayoutError, Pieces, Plan};
use chare_lrts::claim::ClaimMode;
use chare_lrts::reach::{PIECE_BYTES, PiecewiseCopy, Reach};
use chare_lrts::{ClaimedRange, Memory, MemoryMut, RegionKey, TransferError, Vector};
use std::cell::RefCell;

/// Bytes that the sieve reads at once: they stay in a second cache until the runs have been copied from there.
const WINDOW_BYTES: u64 = 256 << 10;

/// Vectors of a piece: some 20 us, of which the system call takes one before its first byte. Pieces of
/// [`PIECE_BYTES`] of longer runs would be more calls than need be.
const PIECE_VECTORS: u64 = 64;

/// Fewer bytes are not worth a piece: where a window holds no more of them, vectors read them.
const PIECE_BYTES_MIN: u64 = 4 << 10;

thread_local! {
    /// What this thread's sieve has read last.
    static WINDOW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A range of a peer's region, from whose first byte a plan counts.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) key: RegionKey,
    /// The first byte within the region.
    pub(crate) at: u64,
    pub(crate) bytes: usize,
}

/// A range that is claimed.
pub(crate) struct ClaimedSpan {
    range: ClaimedRange,
    bytes: u64,
}

impl Span {
    /// Claims the range. `None` where the kernel does not copy it, or not now.
    pub(crate) fn claim(self, network: &Reach, mode: ClaimMode) -> Option<ClaimedSpan> {
        let Self { key, at, bytes } = self;
        let range = network.claim_foreign(&key, (at, bytes), mode)?;
        Some(ClaimedSpan { range, bytes: bytes as u64 })
    }
}

/// A copy between a claimed range of another process and memory of this one.
pub(crate) struct CopyOfForeign<M> {
    range: ClaimedRange,
    pieces: Pieces,
    here: M,
    is_sieved: bool,
}

/// A copy that reads.
pub(crate) type Read = CopyOfForeign<MemoryMut>;

/// A copy that writes.
pub(crate) type Write = CopyOfForeign<Memory>;

impl<M> CopyOfForeign<M>
where
    Self: PiecewiseCopy,
{
    /// Bytes of all pieces.
    pub(crate) fn bytes_of_all(&self) -> usize {
        (0..self.len()).map(|piece| self.bytes(piece)).sum()
    }

    /// Copies all pieces with this thread; returns how many bytes those were.
    ///
    /// # Errors
    /// Why one of them cannot be copied.
    pub(crate) fn copy_all(&mut self) -> Result<usize, TransferError> {
        // SAFETY: each piece once, of a value that nobody else has.
        (0..self.len()).try_for_each(|piece| unsafe { self.copy(piece) })?;
        Ok(self.bytes_of_all())
    }
}

impl<M> CopyOfForeign<M> {
    /// The memory of this process, once the copy is over. The claim goes.
    pub(crate) fn into_here(self) -> M {
        self.here
    }
}

impl Read {
    /// A read, by a plan, of a range that is claimed for reading: by the sieve or by vectors.
    ///
    /// # Errors
    /// A plan for other memory.
    pub(crate) fn new(
        ClaimedSpan { range, bytes }: ClaimedSpan,
        (plan, is_sieved): (&Plan, bool),
        here: MemoryMut,
    ) -> Result<Self, LayoutError> {
        plan.check_bounds(bytes, here.len() as u64)?;
        // As many bytes of the stream as lie in a window, on average.
        let in_window = plan.bytes() as f64 / bytes.max(1) as f64 * WINDOW_BYTES as f64;
        let piece = if is_sieved {
            (in_window as u64).clamp(PIECE_BYTES_MIN, PIECE_BYTES as u64)
        } else {
            piece_of_vectors(plan)
        };
        Ok(Self { range, pieces: plan.pieces(piece), here, is_sieved })
    }

    /// # Safety
    /// As for [`PiecewiseCopy::copy`].
    unsafe fn sieve(&self, piece: usize, first: usize, len: usize) -> Result<(), TransferError> {
        WINDOW.with_borrow_mut(|window| {
            window.resize(window.len().max(len), 0);
            let window = window.as_mut_ptr();
            // SAFETY: the piece's places lie within the range (rule 3), the window has room for what is around them and is this thread's
            // alone; a plan's places are counted from the range's first byte, which is `first` before the window's. The memory here is
            // this value's alone, and the piece this thread's.
            unsafe {
                self.range.read(first, window, len)?;
                self.pieces.run(piece, window.wrapping_sub(first), self.here.address());
            }
            Ok(())
        })
    }
}

impl PiecewiseCopy for Read {
    fn len(&self) -> usize {
        self.pieces.len()
    }

    fn bytes(&self, piece: usize) -> usize {
        self.pieces.bytes(piece) as usize
    }

    unsafe fn copy(&self, piece: usize) -> Result<(), TransferError> {
        if self.is_sieved {
            let span = self.pieces.source_span(piece);
            let (first, len) = (span.start as usize, (span.end - span.start) as u64);
            if len <= WINDOW_BYTES {
                // SAFETY: the caller's promise.
                return unsafe { self.sieve(piece, first, len as usize) };
            }
        }
        let vectors = vectors(&self.pieces, piece, |source, target, len| Vector {
            at: source,
            here: self.here.address().wrapping_add(target),
            len,
        });
        // SAFETY: the plan's places lie within the range and the memory (rule 3), which is this value's alone; of the threads that copy,
        // each has another piece, by the caller's promise, and no two pieces write the same byte.
        unsafe { self.range.read_each(&vectors) }
    }
}

impl Write {
    /// A write, by a plan, to a range that is claimed for writing.
    ///
    /// # Errors
    /// A plan for other memory.
    pub(crate) fn new(
        ClaimedSpan { range, bytes }: ClaimedSpan,
        plan: &Plan,
        here: Memory,
    ) -> Result<Self, LayoutError> {
        plan.check_bounds(here.len() as u64, bytes)?;
        Ok(Self { range, pieces: plan.pieces(piece_of_vectors(plan)), here, is_sieved: false })
    }
}

impl PiecewiseCopy for Write {
    fn len(&self) -> usize {
        self.pieces.len()
    }

    fn bytes(&self, piece: usize) -> usize {
        self.pieces.bytes(piece) as usize
    }

    unsafe fn copy(&self, piece: usize) -> Result<(), TransferError> {
        let vectors = vectors(&self.pieces, piece, |source, target, len| Vector {
            at: target,
            here: self.here.address().wrapping_add(source).cast_mut(),
            len,
        });
        // SAFETY: the plan's places lie within the memory, which is only read, and the range (rule 3), which was claimed for writing; of
        // the threads that copy, each has another piece, by the caller's promise.
        unsafe { self.range.write_each(&vectors) }
    }
}

/// Bytes of the pieces that vectors copy.
fn piece_of_vectors(plan: &Plan) -> u64 {
    let mut blocks = 0;
    plan.for_each_copy(&mut |copies| blocks += copies.loops.iter().map(|pair| pair.count).product::<u64>());
    (plan.bytes() / blocks.max(1) * PIECE_VECTORS).clamp(PIECE_BYTES as u64, WINDOW_BYTES)
}

/// A vector for each block of a piece, of its places in the source and in the target and its length.
fn vectors(pieces: &Pieces, piece: usize, vector: impl Fn(usize, usize, usize) -> Vector) -> Vec<Vector> {
    let mut vectors = Vec::new();
    pieces.for_each_copy(piece, &mut |copies| {
        let len = copies.block as usize;
        copies.for_each_block(&mut |source, target| {
            vectors.push(vector(source as usize, target as usize, len));
        });
    });
    vectors
}
