//! The frames that wait to leave on one connection, and which events it is watched for.

use super::header::{HEADER_BYTES, Header};
use crate::frame::Frame;
use crate::lrts::Refused;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown};
use std::collections::VecDeque;
use std::io::IoSlice;

/// Bytes that wait for one peer before its senders are refused: some milliseconds of a fast network. A
/// slow peer fills its own queue only.
const QUEUE_BYTES_MAX: usize = 4 << 20;

/// What a waiting frame costs besides its bytes, so that empty ones are bounded too.
const FRAME_COST: usize = 64;

/// Frames handed to the kernel at a time: two slices each, far below its limit of 1,024.
const BATCH: usize = 32;

struct Waiting {
    header: [u8; HEADER_BYTES],
    bytes: Vec<u8>,
}

impl Waiting {
    fn cost(&self) -> usize {
        self.bytes.len() + FRAME_COST
    }

    fn len(&self) -> usize {
        HEADER_BYTES + self.bytes.len()
    }
}

/// One connection's way out. Held by one thread at a time.
pub(super) struct Outbound {
    queue: VecDeque<Waiting>,
    queued_cost: usize,
    /// Bytes of the first waiting frame, header included, that the kernel has taken.
    first_written: usize,
    said_goodbye: bool,
    /// The connection takes nothing more: it broke, or the peer is given up.
    broken: Option<String>,
    watched: Watched,
}

/// What epoll tells about the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Watched {
    registered: bool,
    reading: bool,
    writing: bool,
}

impl Watched {
    fn flags(self) -> EventFlags {
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, self.reading);
        flags.set(EventFlags::OUT, self.writing);
        flags
    }
}

/// A connection as the kernel knows it.
pub(super) struct Socket<'a> {
    pub(super) epoll: &'a OwnedFd,
    pub(super) socket: &'a OwnedFd,
    /// What its events carry.
    pub(super) data: u64,
}

impl Outbound {
    /// Registers a connection for reading.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn register(socket: &Socket<'_>) -> Result<Self, Errno> {
        let watched = Watched { registered: true, reading: true, writing: false };
        epoll::add(socket.epoll, socket.socket, EventData::new_u64(socket.data), watched.flags())?;
        Ok(Self {
            queue: VecDeque::new(),
            queued_cost: 0,
            first_written: 0,
            said_goodbye: false,
            broken: None,
            watched,
        })
    }

    /// Queues a frame and hands the kernel what it takes. A broken connection swallows frames.
    ///
    /// # Errors
    /// The frame when the queue is full or the last word was said.
    pub(super) fn send(&mut self, frame: Frame, socket: &Socket<'_>) -> Result<(), Refused<Frame>> {
        if self.broken.is_some() {
            return Ok(());
        }
        let cost = frame.bytes.len() + FRAME_COST;
        if self.said_goodbye || (!self.queue.is_empty() && self.queued_cost + cost > QUEUE_BYTES_MAX) {
            return Err(Refused(frame));
        }
        let header = Header::Frame { channel: frame.channel, len: frame.bytes.len() }.encode();
        self.push(Waiting { header, bytes: frame.bytes }, socket);
        Ok(())
    }

    /// Queues the last word. It needs no room.
    pub(super) fn say_goodbye(&mut self, socket: &Socket<'_>) {
        if !self.said_goodbye && self.broken.is_none() {
            self.said_goodbye = true;
            self.push(Waiting { header: Header::Goodbye.encode(), bytes: Vec::new() }, socket);
        }
    }

    fn push(&mut self, waiting: Waiting, socket: &Socket<'_>) {
        let was_empty = self.queue.is_empty();
        self.queued_cost += waiting.cost();
        self.queue.push_back(waiting);
        // Otherwise the kernel is full, and says when it is not.
        if was_empty {
            self.write(socket);
        }
    }

    /// Hands the kernel all it takes now. Returns whether it took anything.
    pub(super) fn write(&mut self, socket: &Socket<'_>) -> bool {
        let mut happened = false;
        while !self.queue.is_empty() {
            match self.write_batch(socket) {
                Ok(count) => self.took(count),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(errno) => {
                    self.break_off(errno.to_string(), socket);
                    return true;
                }
            }
            happened = true;
        }
        self.watch(Watched { writing: !self.queue.is_empty(), ..self.watched }, socket);
        happened
    }

    fn write_batch(&self, socket: &Socket<'_>) -> Result<usize, Errno> {
        let mut slices = Vec::with_capacity(2 * BATCH);
        let mut skip = self.first_written;
        for waiting in self.queue.iter().take(BATCH) {
            for part in [&waiting.header[..], &waiting.bytes[..]] {
                let skipped = skip.min(part.len());
                skip -= skipped;
                if skipped < part.len() {
                    slices.push(IoSlice::new(&part[skipped..]));
                }
            }
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::sendmsg(socket.socket, &slices, &mut SendAncillaryBuffer::default(), flags)
    }

    fn took(&mut self, count: usize) {
        self.first_written += count;
        while let Some(first) = self.queue.front().filter(|first| first.len() <= self.first_written) {
            self.first_written -= first.len();
            self.queued_cost -= first.cost();
            self.queue.pop_front();
        }
    }

    /// Takes nothing more. The reader sees the end of the connection and reports it.
    pub(super) fn break_off(&mut self, cause: String, socket: &Socket<'_>) {
        self.broken.get_or_insert(cause);
        self.queue.clear();
        self.queued_cost = 0;
        self.first_written = 0;
        // Fails when the connection is gone already: then the reader sees its end anyway.
        let _ = rustix::net::shutdown(socket.socket, Shutdown::Both);
        self.watch(Watched { writing: false, ..self.watched }, socket);
    }

    /// Why the connection broke, if it did.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Whether the kernel has all, the last word included.
    pub(super) fn is_finished(&self) -> bool {
        self.said_goodbye && self.queue.is_empty()
    }

    /// Reads no more; keeps writing what waits.
    pub(super) fn stop_reading(&mut self, socket: &Socket<'_>) {
        self.watch(Watched { reading: false, ..self.watched }, socket);
    }

    /// Hears nothing more about the connection.
    pub(super) fn forget(&mut self, socket: &Socket<'_>) {
        if std::mem::replace(&mut self.watched.registered, false) {
            // Cannot fail for a registered socket that is open.
            let _ = epoll::delete(socket.epoll, socket.socket);
        }
    }

    fn watch(&mut self, wanted: Watched, socket: &Socket<'_>) {
        if self.watched != wanted && wanted.registered {
            self.watched = wanted;
            // Cannot fail for a registered socket that is open.
            let _ =
                epoll::modify(socket.epoll, socket.socket, EventData::new_u64(socket.data), wanted.flags());
        }
    }
}
