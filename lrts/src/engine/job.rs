//! Job: a long copy in fragments, which any number of threads and engines carry out: of a range of bytes, or piecewise, as from layout to
//! layout, cut by whoever knows how.
//!
//! 1. A job owns what its copy needs: the claim on the peer's range and the memory at this end, or pieces that own theirs.
//! 2. A fragment is a range of the copy that one holder has to itself. It is split, never cloned, so no byte is copied twice.
//! 3. Every fragment holds on to its job. The job ends when its last fragment is dropped: nobody touches its memory any more then. The
//!    claim goes first, then the end is told, once.
//! 4. A fragment that is dropped before all of it was copied makes its job end with an error: whoever loses fragments, by a panic too,
//!    loses no job.

#![expect(unsafe_code, reason = "copies pieces of claimed ranges from and to memory that a transfer owns")]

use crate::ambient::caller::may_block;
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::Token;
use crate::operation::{LocalMemory, Operation};
use crate::region::ClaimedRange;
use crossbeam_queue::SegQueue;
use std::sync::{Arc, OnceLock};

/// Bytes of a line of the cache: fragments begin and end on those of the memory that is written, so that two threads write no line in turn.
const LINE_BYTES: usize = 64;

/// A copy in pieces, which threads carry out at the same time and in any order. It owns what it reads and writes.
///
/// The pieces of one copy write no byte that another one of them reads or writes. They should be about
/// [`PIECE_BYTES`](crate::reach::PIECE_BYTES) long: a thread copies one or a few, then looks for messages.
pub trait PiecewiseCopy: Send + Sync {
    /// How many pieces there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a piece.
    fn bytes(&self, piece: usize) -> usize;

    /// Whether another process copies, too, what this one has not begun: threads here take other copies first.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether another process makes the copy without this one, only later: threads that have nothing else to do copy pieces of it, and the one
    /// that posted it does not.
    fn is_help(&self) -> bool {
        false
    }

    /// Whether all that is left is copied by others. A piece costs next to nothing then, and a thread takes all that are left at once.
    fn is_left_to_others(&self) -> bool {
        false
    }

    /// Copies a piece.
    ///
    /// # Errors
    /// Why it cannot be copied: the copy ends with that, and some of the other pieces may not be copied any more.
    ///
    /// # Safety
    /// It is called at most once for each piece, of those that there are.
    unsafe fn copy(&self, piece: usize) -> Result<(), TransferError>;
}

/// A piece of which there is nothing to copy: its job costs what any job costs.
pub(super) struct NoPiece;

impl PiecewiseCopy for NoPiece {
    fn len(&self) -> usize {
        1
    }

    fn bytes(&self, _: usize) -> usize {
        0
    }

    unsafe fn copy(&self, _: usize) -> Result<(), TransferError> {
        Ok(())
    }
}

/// The path that a job's transfer took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CopyPath {
    /// Within this process.
    Within,
    /// To and from memory that both processes map.
    Mapping,
    /// By the kernel.
    Kernel,
}

/// A copy that is over, or was given up.
pub(crate) enum Ended {
    Transfer {
        operation: Operation,
        path: CopyPath,
        result: Result<(), TransferError>,
    },
    /// Pieces, whose owner has them to itself again.
    Pieces {
        token: Token,
        result: Result<usize, TransferError>,
    },
}

/// What a job copies.
enum Work {
    Transfer {
        operation: Operation,
        range: ClaimedRange,
        path: CopyPath,
    },
    /// Pieces that know what they copy.
    Pieces {
        pieces: Arc<dyn PiecewiseCopy>,
        bytes: usize,
        node: NodeId,
        token: Token,
    },
}

struct Job {
    /// `None` only once the end is being told.
    work: Option<Work>,
    /// Why it cannot be completed: the first reason.
    fault: OnceLock<TransferError>,
    told: Arc<SegQueue<Ended>>,
}

impl Job {
    fn work(&self) -> &Work {
        self.work.as_ref().expect("a job has its work while a fragment holds it")
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let result = self.fault.take().map_or(Ok(()), Err);
        let ended = match self.work.take() {
            Some(Work::Transfer { operation, range, path }) => {
                drop(range);
                Ended::Transfer { operation, path, result }
            }
            Some(Work::Pieces { pieces, bytes, token, .. }) => {
                drop(pieces);
                Ended::Pieces { token, result: result.map(|()| bytes) }
            }
            None => return,
        };
        self.told.push(ended);
    }
}

/// A range of a job's copy, for one thread or engine alone: bytes of a transfer, or pieces by their numbers.
pub(crate) struct Fragment {
    job: Arc<Job>,
    at: usize,
    end: usize,
}

impl Fragment {
    /// All of a transfer's copy. Its end goes to `told`.
    pub(crate) fn whole(
        operation: Operation,
        range: ClaimedRange,
        path: CopyPath,
        told: &Arc<SegQueue<Ended>>,
    ) -> Self {
        let end = operation.len;
        Self::all_of(Work::Transfer { operation, range, path }, end, told)
    }

    /// All pieces of a copy that knows what it copies. Its end goes to `told`, after `pieces` was dropped.
    pub(crate) fn all_pieces(
        pieces: Arc<dyn PiecewiseCopy>,
        (node, token): (NodeId, Token),
        told: &Arc<SegQueue<Ended>>,
    ) -> Self {
        let end = pieces.len();
        let bytes = (0..end).map(|piece| pieces.bytes(piece)).sum();
        Self::all_of(Work::Pieces { pieces, bytes, node, token }, end, told)
    }

    fn all_of(work: Work, end: usize, told: &Arc<SegQueue<Ended>>) -> Self {
        let job = Job { work: Some(work), fault: OnceLock::new(), told: Arc::clone(told) };
        Self { job: Arc::new(job), at: 0, end }
    }

    /// Bytes, or pieces, that are left to copy.
    pub(crate) fn len(&self) -> usize {
        self.end - self.at
    }

    /// Bytes of memory that are copied one by one, and not in pieces: of these, all take the same time.
    pub(super) fn plain_bytes(&self) -> Option<usize> {
        matches!(self.job.work(), Work::Transfer { .. }).then(|| self.len())
    }

    /// Whether another process copies, too, what this one has not begun.
    pub(crate) fn is_shared(&self) -> bool {
        match self.job.work() {
            Work::Transfer { .. } => false,
            Work::Pieces { pieces, .. } => pieces.is_shared(),
        }
    }

    /// Whether another process makes the copy without this one.
    pub(crate) fn is_help(&self) -> bool {
        match self.job.work() {
            Work::Transfer { .. } => false,
            Work::Pieces { pieces, .. } => pieces.is_help(),
        }
    }

    /// Whether others copy all of it.
    pub(crate) fn is_left_to_others(&self) -> bool {
        match self.job.work() {
            Work::Transfer { .. } => false,
            Work::Pieces { pieces, .. } => pieces.is_left_to_others(),
        }
    }

    /// Whether its job will end with an error, whatever becomes of this fragment.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.job.fault.get().is_some()
    }

    /// Splits about `bytes` off its front, up to a line of the memory that is written or to the end of a piece; all of it, if it has no
    /// more.
    pub(crate) fn split(&mut self, bytes: usize) -> Self {
        let taken = match self.job.work() {
            Work::Transfer { operation, range, .. } => {
                let target = match &operation.local {
                    LocalMemory::Get(into) => into.address(),
                    // Of memory that is not here, the line is not known.
                    LocalMemory::Put(from) => range.address().unwrap_or(from.address().cast_mut()),
                };
                // Addresses differ from run to run: where each run is to be the same, places within the transfer count.
                let end =
                    if may_block() { target.wrapping_add(self.at + bytes).addr() } else { self.at + bytes };
                let past_line = end % LINE_BYTES;
                if bytes > past_line { bytes - past_line } else { bytes }
            }
            Work::Pieces { .. } if self.is_left_to_others() => self.len(),
            Work::Pieces { pieces, .. } => {
                let mut before = 0;
                let is_wanted = |piece: &usize| {
                    let has_room = before < bytes;
                    before += pieces.bytes(*piece);
                    has_room
                };
                (self.at..self.end).take_while(is_wanted).count()
            }
        };
        let taken = taken.min(self.len());
        let front = Self { job: Arc::clone(&self.job), at: self.at, end: self.at + taken };
        self.at += taken;
        front
    }

    /// First byte to read, and first to write, if both are in this process's address space, side by side. They are this fragment's while it
    /// lives: an engine that uses them keeps it until it has stopped.
    #[cfg_attr(
        not(any(feature = "dsa", test)),
        expect(dead_code, reason = "processors reach other address spaces, too")
    )]
    pub(crate) fn places(&self) -> Option<(*const u8, *mut u8)> {
        let Work::Transfer { operation, range, .. } = self.job.work() else { return None };
        let there = range.address()?.wrapping_add(self.at);
        Some(match &operation.local {
            LocalMemory::Get(into) => (there.cast_const(), into.address().wrapping_add(self.at)),
            LocalMemory::Put(from) => (from.address().wrapping_add(self.at), there),
        })
    }

    /// Notes that its first `bytes` have been copied.
    ///
    /// # Panics
    /// If it has fewer.
    pub(crate) fn advance(&mut self, bytes: usize) {
        assert!(bytes <= self.len(), "more was copied than there was");
        self.at += bytes;
    }

    /// Copies what is left of it with this thread.
    pub(crate) fn copy(mut self) {
        let copied = match self.job.work() {
            // SAFETY: `at..end` lies within the operation's length, for which the range was claimed and the memory at this end has room
            // (whoever made the job compared). Fragments never overlap (rule 2), so nobody else touches these bytes at either end. Both
            // ends live as long as the job.
            Work::Transfer { operation, range, .. } => unsafe {
                match &operation.local {
                    LocalMemory::Get(into) => {
                        range.read(self.at, into.address().wrapping_add(self.at), self.len())
                    }
                    LocalMemory::Put(from) => {
                        range.write(self.at, from.address().wrapping_add(self.at), self.len())
                    }
                }
            },
            Work::Pieces { pieces, .. } => {
                // SAFETY: fragments never overlap (rule 2), so nobody else copies this piece; it is one of those that there are.
                (self.at..self.end).try_for_each(|piece| unsafe { pieces.copy(piece) })
            }
        };
        match copied {
            Ok(()) => self.at = self.end,
            Err(cause) => self.fail(cause),
        }
    }

    fn fail(&self, cause: TransferError) {
        // The first reason stays.
        let _ = self.job.fault.set(cause);
    }
}

impl Drop for Fragment {
    fn drop(&mut self) {
        if self.at < self.end {
            let node = match self.job.work() {
                Work::Transfer { operation, .. } => operation.key.node,
                Work::Pieces { node, .. } => *node,
            };
            self.fail(TransferError::Refused { node, cause: "the copy was given up".to_owned() });
        }
    }
}
