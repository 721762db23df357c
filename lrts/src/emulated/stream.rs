//! Streams: the data of one operation, cut into chunks, read out on one side and filled in on the other.
//!
//! 1. A [`Source`] or [`Destination`] owns what keeps its bytes valid (claim or memory) until it is over.
//! 2. Chunks come in order and without gaps; one that starts elsewhere or reaches past the end is refused
//!    before a byte is written.

#![expect(unsafe_code, reason = "reads and fills memory held by a claim or an operation")]

use super::wire::{Header, OperationId};
use crate::memory::{Memory, MemoryMut};
use crate::region::Claim;

/// Bytes to send: a claimed range of a region (get), or the operation's memory (put).
pub(super) enum Source {
    Region(Claim),
    Memory(Memory),
}

impl Source {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Region(claim) => claim.len(),
            Self::Memory(memory) => memory.len(),
        }
    }

    /// `len` bytes, from `start` on.
    ///
    /// # Panics
    /// If they lie outside.
    pub(super) fn part(&self, start: usize, len: usize) -> &[u8] {
        let whole = match self {
            // SAFETY: the server claims a get's range for reading: until the claim ends, which this borrow does not
            // outlive, the bytes stay allocated and nobody writes them.
            Self::Region(claim) => unsafe { std::slice::from_raw_parts(claim.address(), claim.len()) },
            Self::Memory(memory) => memory.as_slice(),
        };
        &whole[start..start + len]
    }
}

enum Room {
    Region(Claim),
    /// The memory of a get, of which the first `len` bytes are asked for.
    Memory {
        into: MemoryMut,
        len: usize,
    },
}

/// Bytes to fill: a claimed range of a region (put), or the operation's memory (get).
pub(super) struct Destination {
    room: Room,
    filled: usize,
}

impl Destination {
    pub(super) fn region(claim: Claim) -> Self {
        Self { room: Room::Region(claim), filled: 0 }
    }

    /// # Panics
    /// If the memory has less than `len` bytes.
    pub(super) fn memory(into: MemoryMut, len: usize) -> Self {
        assert!(len <= into.len(), "checked before a get is posted");
        Self { room: Room::Memory { into, len }, filled: 0 }
    }

    fn len(&self) -> usize {
        match &self.room {
            Room::Region(claim) => claim.len(),
            Room::Memory { len, .. } => *len,
        }
    }

    fn address(&self) -> *mut u8 {
        match &self.room {
            Room::Region(claim) => claim.address(),
            Room::Memory { into, .. } => into.address(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.filled == self.len()
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.filled == 0
    }

    /// The operation's memory; `None` for a region's, whose claim ends.
    pub(super) fn into_memory(self) -> Option<MemoryMut> {
        match self.room {
            Room::Region(_) => None,
            Room::Memory { into, .. } => Some(into),
        }
    }

    /// Compares a chunk of `len` bytes with what is missing.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn check(&self, at: u64, len: usize) -> Result<(), String> {
        if at != self.filled as u64 || len == 0 || len > self.len() - self.filled {
            return Err(format!(
                "it sent {len} bytes at {at}, where {} of {} bytes had arrived",
                self.filled,
                self.len()
            ));
        }
        Ok(())
    }

    /// Lets `read` write the next bytes of a chunk that was checked, at most `len`; it returns how many it wrote.
    ///
    /// # Panics
    /// If less is missing, or `read` wrote more than it could.
    pub(super) fn read(&mut self, len: usize, read: impl FnOnce(&mut [u8]) -> usize) -> usize {
        assert!(len <= self.len() - self.filled, "a chunk was checked before");
        // SAFETY: the place lies inside memory that is initialised and that this value alone may write (write claim, or exclusive
        // handle), for as long as it is borrowed.
        let place = unsafe { std::slice::from_raw_parts_mut(self.address().add(self.filled), len) };
        let count = read(place);
        assert!(count <= len, "{count} bytes in a place of {len}");
        self.filled += count;
        count
    }

    /// Writes the next chunk.
    ///
    /// # Errors
    /// What is wrong with it, in words; nothing is written then.
    pub(super) fn fill(&mut self, at: u64, data: &[u8]) -> Result<(), String> {
        self.check(at, data.len())?;
        self.read(data.len(), |place| {
            place.copy_from_slice(data);
            data.len()
        });
        Ok(())
    }
}

/// The half of a talk that a chunk is for.
#[derive(Clone, Copy)]
pub(super) enum Half {
    /// Data of a get of this node.
    Poster,
    /// Data of a put of the peer.
    Server,
}

/// A chunk of which a part has arrived.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub(super) half: Half,
    pub(super) id: OperationId,
    /// Bytes that are still to come. At least one.
    pub(super) missing: usize,
}

impl Chunk {
    /// The chunk that a frame of `len` bytes carries, if it carries one: where it starts in its operation, and the data that `begun`,
    /// the first bytes of the frame, have of it.
    pub(super) fn begin(begun: &[u8], len: usize) -> Option<(Self, u64, &[u8])> {
        let (half, id, at, data) = match Header::decode(begun) {
            Ok((Header::GetChunk { id, at }, data)) => (Half::Poster, id, at, data),
            Ok((Header::PutChunk { id, at }, data)) => (Half::Server, id, at, data),
            _ => return None,
        };
        Some((Self { half, id, missing: len - begun.len() }, at, data))
    }
}
