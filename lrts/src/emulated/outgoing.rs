//! What waits to go to one peer: short frames first, then the chunks of all open streams in turn.

use super::stream::Source;
use super::wire::{Header, OperationId};
use crate::frame::Frame;
use std::collections::VecDeque;

/// Whose operation a stream belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A get of the peer, served here.
    GetServed,
    /// A put of ours, granted by the peer.
    PutPosted,
}

struct Stream {
    kind: Kind,
    id: OperationId,
    source: Source,
    sent: usize,
}

/// Frames and streams for one peer. Bounded by the operations that two nodes may have open.
pub(super) struct Outgoing {
    chunk_bytes_max: usize,
    frames: VecDeque<Frame>,
    streams: VecDeque<Stream>,
}

impl Outgoing {
    pub(super) fn new(chunk_bytes_max: usize) -> Self {
        Self { chunk_bytes_max, frames: VecDeque::new(), streams: VecDeque::new() }
    }

    pub(super) fn chunk_bytes_max(&self) -> usize {
        self.chunk_bytes_max
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.streams.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.streams.clear();
    }

    pub(super) fn push(&mut self, frame: Frame) {
        self.frames.push_back(frame);
    }

    /// Starts a stream of at least one byte.
    pub(super) fn start(&mut self, kind: Kind, id: OperationId, source: Source) {
        self.streams.push_back(Stream { kind, id, source, sent: 0 });
    }

    /// Whether bytes of this stream remain to be sent.
    pub(super) fn is_sending(&self, kind: Kind, id: OperationId) -> bool {
        self.streams.iter().any(|stream| stream.kind == kind && stream.id == id)
    }

    /// The next frame, and which stream it ends, if any.
    pub(super) fn next(&mut self) -> Option<(Frame, Option<(Kind, OperationId)>)> {
        if let Some(frame) = self.frames.pop_front() {
            return Some((frame, None));
        }
        let mut stream = self.streams.pop_front()?;
        let (id, at) = (stream.id, stream.sent as u64);
        let header = match stream.kind {
            Kind::GetServed => Header::GetChunk { id, at },
            Kind::PutPosted => Header::PutChunk { id, at },
        };
        let len = (stream.source.len() - stream.sent).min(self.chunk_bytes_max);
        let frame = header.frame(len, |bytes| stream.source.append_to(bytes, stream.sent, len));
        stream.sent += len;
        let ended = (stream.sent == stream.source.len()).then_some((stream.kind, id));
        if ended.is_none() {
            self.streams.push_back(stream);
        }
        Some((frame, ended))
    }
}
