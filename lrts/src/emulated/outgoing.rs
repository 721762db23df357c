//! Outgoing queue of one peer: short frames first, then the chunks of all open streams in turn.
//!
//! Nothing is copied here: a frame is a header and the memory it speaks of, and leaves from there.

use super::stream::Source;
use super::wire::{Encoded, Header, OperationId};
use crate::frame::{Channel, Frame};
use crate::lrts::NoRoom;
use crate::memory::Memory;
use std::collections::VecDeque;

/// Whose operation a stream belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StreamOwner {
    /// A get of the peer, served here.
    GetServed,
    /// A put of ours, granted by the peer.
    PutPosted,
}

/// A frame that is short or carries a whole put.
struct Single {
    header: Encoded,
    data: Option<Memory>,
}

struct Stream {
    kind: StreamOwner,
    id: OperationId,
    source: Source,
    sent: usize,
}

/// Result of one push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pushed {
    /// There was nothing to send.
    Nothing,
    /// A frame.
    Frame,
    /// The last frame of a stream.
    End(StreamOwner, OperationId),
}

/// Frames and streams for one peer. Bounded by the operations that two nodes may have open.
pub(super) struct Outgoing {
    chunk_bytes_max: usize,
    singles: VecDeque<Single>,
    streams: VecDeque<Stream>,
}

impl Outgoing {
    pub(super) fn new(chunk_bytes_max: usize) -> Self {
        Self { chunk_bytes_max, singles: VecDeque::new(), streams: VecDeque::new() }
    }

    pub(super) fn chunk_bytes_max(&self) -> usize {
        self.chunk_bytes_max
    }

    pub(super) fn is_empty(&self) -> bool {
        self.singles.is_empty() && self.streams.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.singles.clear();
        self.streams.clear();
    }

    /// How many frames wait that are short or carry a whole put.
    pub(super) fn singles(&self) -> usize {
        self.singles.len()
    }

    /// Queues a header alone.
    pub(super) fn push(&mut self, header: Header) {
        self.singles.push_back(Single { header: header.encode(), data: None });
    }

    /// Queues a header with all the data that it announces.
    pub(super) fn push_with(&mut self, header: Header, data: Memory) {
        self.singles.push_back(Single { header: header.encode(), data: Some(data) });
    }

    /// Starts a stream of at least one byte.
    pub(super) fn start(&mut self, kind: StreamOwner, id: OperationId, source: Source) {
        self.streams.push_back(Stream { kind, id, source, sent: 0 });
    }

    /// Whether bytes of this stream remain to be sent.
    pub(super) fn is_sending(&self, kind: StreamOwner, id: OperationId) -> bool {
        self.streams.iter().any(|stream| stream.kind == kind && stream.id == id)
    }

    /// Sends the next frame.
    ///
    /// # Errors
    /// When there is no room for it; it is still the next.
    pub(super) fn push_out(
        &mut self,
        send: impl FnOnce(Frame<'_>) -> Result<(), NoRoom>,
    ) -> Result<Pushed, NoRoom> {
        if let Some(Single { header, data }) = self.singles.front() {
            send(frame(header, data.as_ref().map_or(&[], Memory::as_slice)))?;
            self.singles.pop_front();
            return Ok(Pushed::Frame);
        }
        let Some(stream) = self.streams.front_mut() else { return Ok(Pushed::Nothing) };
        let (id, at) = (stream.id, stream.sent as u64);
        let header = match stream.kind {
            StreamOwner::GetServed => Header::GetChunk { id, at },
            StreamOwner::PutPosted => Header::PutChunk { id, at },
        };
        let len = (stream.source.len() - stream.sent).min(self.chunk_bytes_max);
        send(frame(&header.encode(), stream.source.part(stream.sent, len)))?;
        stream.sent += len;
        if stream.sent == stream.source.len() {
            let kind = stream.kind;
            self.streams.pop_front();
            return Ok(Pushed::End(kind, id));
        }
        if self.streams.len() > 1 {
            crate::sometimes!("two long gets or puts took turns");
        }
        self.streams.rotate_left(1);
        Ok(Pushed::Frame)
    }
}

fn frame<'a>(header: &'a Encoded, data: &'a [u8]) -> Frame<'a> {
    Frame { channel: Channel::Emulated, head: header.as_slice(), body: data }
}
