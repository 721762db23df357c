//! Chunk: a stretch of an operation's data that arrives in several reads, each to where it belongs, without a second copy.

use super::wire::{Header, OperationId};

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
