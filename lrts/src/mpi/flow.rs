//! Flow: the bytes of one long transfer with a process, cut into pieces, sent or received in order under one tag.
//!
//! 1. Both ends cut alike, and MPI matches messages of one tag between two processes in their order: no piece needs a name.
//! 2. A flow owns what keeps its bytes valid. While MPI may touch them it does not let go: dropped with pieces under way, it
//!    leaks them.
//! 3. A piece that is shorter than what was posted for it, or longer, is an error.

#![expect(unsafe_code, reason = "hands MPI addresses of memory that operations and claims hold")]

use super::callers::Ticket;
use crate::memory::{Memory, MemoryMut};
use crate::region::Claim;
use chare_mpi_sys::{Communicator, Request};
use std::collections::VecDeque;
use std::sync::Arc;

/// The longest piece: some MPIs move a piece within one call, and messages wait meanwhile for some hundred microseconds.
const PIECE_BYTES_MAX: usize = 4 << 20;

/// Pieces under way, so that one begins while another ends.
const PIECES_MAX: usize = 2;

/// A process of a communicator, at which a node receives.
#[derive(Clone)]
pub struct Process {
    /// Where it receives.
    pub communicator: Arc<Communicator>,
    /// Its rank there.
    pub rank: u32,
}

/// The memory at one end.
pub(super) enum Block {
    /// Of a get at its poster: its first `len` bytes.
    Into { memory: MemoryMut, len: usize },
    /// Of a put at its poster.
    From(Memory),
    /// At the server: claimed for reading (get) or writing (put).
    Lease(Claim),
}

impl Block {
    fn address(&self) -> *mut u8 {
        match self {
            Self::Into { memory, .. } => memory.address(),
            Self::From(memory) => memory.address().cast_mut(),
            Self::Lease(claim) => claim.address(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Into { len, .. } => *len,
            Self::From(memory) => memory.len(),
            Self::Lease(claim) => claim.len(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Send,
    Receive,
}

/// One transfer's memory, and the requests that move it.
pub(super) struct Flow {
    /// There until it is taken.
    block: Option<Block>,
    direction: Direction,
    peer: Process,
    tag: u32,
    posted: usize,
    under_way: VecDeque<(Request, usize)>,
    is_stopped: bool,
}

impl Flow {
    /// Sends to a peer: an operation's memory, or what is claimed for reading.
    pub(super) fn send(block: Block, peer: Process, tag: u32) -> Self {
        Self::new(block, Direction::Send, peer, tag)
    }

    /// Receives from a peer: into a get's memory, or what is claimed for writing.
    ///
    /// # Panics
    /// If the memory is shared, so that nobody may write it.
    pub(super) fn receive(block: Block, peer: Process, tag: u32) -> Self {
        assert!(!matches!(block, Block::From(_)), "shared memory is not written");
        Self::new(block, Direction::Receive, peer, tag)
    }

    fn new(block: Block, direction: Direction, peer: Process, tag: u32) -> Self {
        Self {
            block: Some(block),
            direction,
            peer,
            tag,
            posted: 0,
            under_way: VecDeque::with_capacity(PIECES_MAX),
            is_stopped: false,
        }
    }

    /// Whether nothing is left to do, and MPI touches nothing of it.
    pub(super) fn is_over(&self) -> bool {
        self.under_way.is_empty() && (self.is_stopped || self.posted == self.block().len())
    }

    /// Looks what has moved and posts what can. Returns whether anything happened.
    ///
    /// # Errors
    /// What broke, in words; no more pieces will be posted.
    pub(super) fn advance(&mut self, _: Ticket) -> Result<bool, String> {
        let mut happened = false;
        while let Some((request, len)) = self.under_way.front_mut() {
            // SAFETY: the ticket; a request leaves the queue when it has ended.
            let ended = unsafe { self.peer.communicator.test(request) };
            let len = *len;
            match ended {
                Ok(None) => break,
                Ok(Some(ended)) => {
                    self.under_way.pop_front();
                    happened = true;
                    if self.direction == Direction::Receive && !self.is_stopped && ended.len() != len {
                        self.is_stopped = true;
                        return Err(format!("{} bytes came where {len} were due", ended.len()));
                    }
                }
                Err(error) => {
                    self.under_way.pop_front();
                    self.is_stopped = true;
                    return Err(error.to_string());
                }
            }
        }
        while !self.is_stopped && self.posted < self.block().len() && self.under_way.len() < PIECES_MAX {
            let len = (self.block().len() - self.posted).min(PIECE_BYTES_MAX);
            let address = self.block().address().wrapping_add(self.posted);
            let Process { communicator, rank } = &self.peer;
            // SAFETY: the ticket; the piece lies inside the block, which stays until every request has ended (rule 2): memory that
            // this value holds alone, or a claim for writing, where it is received, and one that nobody writes where it is sent.
            let posted = unsafe {
                match self.direction {
                    Direction::Send => communicator.isend(address, len, *rank, self.tag),
                    Direction::Receive => communicator.irecv(address, len, Some(*rank), self.tag),
                }
            };
            let request = posted.map_err(|error| {
                self.is_stopped = true;
                error.to_string()
            })?;
            self.under_way.push_back((request, len));
            self.posted += len;
            happened = true;
        }
        Ok(happened)
    }

    /// Posts no more, and asks MPI to give back what it has. What it does not give back ends with this value, leaked.
    pub(super) fn stop(&mut self, _: Ticket) {
        self.is_stopped = true;
        for (request, _) in &mut self.under_way {
            // SAFETY: the ticket; a request in the queue has not ended. What cannot be cancelled ends by itself or not at all.
            let _ = unsafe { self.peer.communicator.cancel(request) };
        }
    }

    /// The memory; `None` while MPI may touch it: then it never comes back.
    pub(super) fn into_block(mut self) -> Option<Block> {
        if self.under_way.is_empty() { self.block.take() } else { None }
    }

    fn block(&self) -> &Block {
        self.block.as_ref().expect("it is taken with the flow")
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if !self.under_way.is_empty() {
            std::mem::forget(self.block.take());
        }
    }
}
