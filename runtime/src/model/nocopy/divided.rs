//! Divided copies: copies from layout to layout of which another process copies some pieces, too.
//!
//! Both processes cut the same plan into the same pieces, and write them one by one from the two ends of one
//! [`Divided`](chare_lrts::Divided) memory.

#![expect(unsafe_code, reason = "reads and writes what layouts select, and makes no reference to the rest")]

use chare_layout::{LayoutError, Pieces, Plan};
use chare_lrts::reach::{PIECE_BYTES, PiecewiseCopy};
use chare_lrts::{Divided, Memory, NodeId, TransferError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces of a copy, unless they would be shorter or longer than is good: so many that neither side waits long for the other's last one.
const PIECES: u64 = 16;

/// Least bytes of a piece. To cut one takes 100 ns.
const PIECE_BYTES_MIN: u64 = 4 << 10;

/// The plan in the pieces in which it is divided: the same at both ends.
pub(crate) fn pieces(plan: &Plan) -> Pieces {
    plan.pieces((plan.bytes() / PIECES).clamp(PIECE_BYTES_MIN, PIECE_BYTES as u64))
}

/// One end of a copy that is divided between two processes.
pub(crate) struct CopyOfDivided {
    pieces: Arc<Pieces>,
    source: Memory,
    target: Divided,
    /// Who could have written a wrong division.
    other: NodeId,
    is_help: bool,
    /// Pieces that this end has written.
    written: AtomicUsize,
}

impl CopyOfDivided {
    /// A copy by a plan that was cut into these pieces.
    ///
    /// # Errors
    /// A layout that selects what lies outside its memory.
    pub(crate) fn new(
        (plan, pieces): (&Plan, &Arc<Pieces>),
        source: Memory,
        target: Divided,
        other: NodeId,
    ) -> Result<Self, LayoutError> {
        plan.check_bounds(source.len() as u64, target.len() as u64)?;
        let pieces = Arc::clone(pieces);
        Ok(Self { pieces, source, target, other, is_help: false, written: AtomicUsize::new(0) })
    }

    /// Leaves the pieces to PEs that have nothing else to do: the other end copies what they do not.
    pub(crate) fn into_help(self) -> Self {
        Self { is_help: true, ..self }
    }

    /// Whether this end has copied any piece, once its part of the copy is over.
    pub(crate) fn has_written(&self) -> bool {
        self.written.load(Ordering::Relaxed) > 0
    }
}

/// As many turns as there are pieces; each copies the next piece, whichever that is, as long as one is left.
impl PiecewiseCopy for CopyOfDivided {
    fn len(&self) -> usize {
        self.pieces.len()
    }

    fn bytes(&self, turn: usize) -> usize {
        self.pieces.bytes(turn) as usize
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn is_help(&self) -> bool {
        self.is_help
    }

    fn is_left_to_others(&self) -> bool {
        self.target.is_over()
    }

    unsafe fn copy(&self, _turn: usize) -> Result<(), TransferError> {
        let write = |piece: u32| {
            let piece = piece as usize;
            if piece >= self.pieces.len() {
                let cause = format!("piece {piece} of a copy in {}", self.pieces.len());
                return Err(TransferError::Refused { node: self.other, cause });
            }
            // SAFETY: bounds were checked. The source's handle keeps others from writing what is selected there. Of what is selected of
            // the target, this piece is ours: no correct process takes it a second time, and pieces write no byte twice. The target's
            // owner reads it when all are written. Both are raw addresses, so that a process which lies spoils bytes that it could spoil
            // anyway.
            unsafe { self.pieces.run(piece, self.source.address(), self.target.address()) };
            self.written.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        self.target.write_next(write).unwrap_or(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_layout::Raw;
    use chare_lrts::{Held, MemoryMut, Regions};

    /// A copy of every second byte, to a target that says it is cut into so many pieces.
    fn divided(pieces: u32) -> (Arc<Regions>, CopyOfDivided, chare_lrts::RegionKey) {
        let regions = Arc::new(Regions::new(NodeId(0)).expect("shared memory"));
        let plan =
            Raw::bytes_of(1).and_then(|byte| byte.vector(100_000, 1, 2)).and_then(|raw| Plan::pack(&raw));
        let plan = plan.expect("it fits");
        let source = MemoryMut::from_vec((0..200_000).map(|place| place as u8).collect()).freeze();
        let target = MemoryMut::heap_zeroed(100_000);
        let (key, target) = regions.register_divided(target, pieces).expect("a free slot");
        let copy = CopyOfDivided::new((&plan, &Arc::new(super::pieces(&plan))), source, target, NodeId(1));
        (regions, copy.expect("the bounds are right"), key)
    }

    #[test]
    fn one_that_nobody_helps_copies_all() {
        let (regions, copy, key) = divided(16);
        assert_eq!(copy.len(), 16);
        for turn in 0..copy.len() {
            assert!(!copy.is_left_to_others());
            // SAFETY: each turn is taken once.
            unsafe { copy.copy(turn) }.expect("it copies");
        }
        assert!(copy.is_left_to_others() && copy.has_written());
        drop(copy);
        let Ok(Some(Held::Target(landed))) = regions.deregister(&key) else { panic!("nobody touches it") };
        assert!(landed.as_slice().iter().enumerate().all(|(place, value)| *value == (2 * place) as u8));
    }

    #[test]
    fn pieces_that_there_are_not_are_refused_in_words() {
        let (_regions, copy, _key) = divided(20);
        // SAFETY: each turn is taken once.
        let results: Vec<_> = (0..20).map(|turn| unsafe { copy.copy(turn) }).collect();
        let refused = results[16].as_ref().expect_err("there are 16 pieces").to_string();
        assert!(results[..16].iter().all(Result::is_ok) && refused.contains("piece 16"), "{refused}");
        assert!(refused.contains("node 1"), "{refused}");
    }

    #[test]
    fn layouts_that_reach_beyond_the_memory_are_refused() {
        let regions = Arc::new(Regions::new(NodeId(0)).expect("shared memory"));
        let plan = Raw::bytes_of(101).and_then(|raw| Plan::pack(&raw)).expect("it fits");
        let (pieces, memory) = (Arc::new(super::pieces(&plan)), MemoryMut::heap_zeroed);
        for (source, target) in [(100, 101), (101, 100)] {
            let (_key, target) = regions.register_divided(memory(target), 1).expect("a free slot");
            let copy = CopyOfDivided::new((&plan, &pieces), memory(source).freeze(), target, NodeId(1));
            assert!(copy.is_err());
        }
    }
}
