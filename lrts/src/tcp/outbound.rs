//! Outbound half of a connection: the bytes that wait to leave, and which events it is watched for.
//!
//! 1. A frame goes to the kernel at once, from where it lies, while nothing waits. What the kernel does not take of it is
//!    copied and waits.
//! 2. While bytes wait, short frames wait behind them, up to a bound; they leave together. A long frame is refused instead:
//!    copying it would cost as much as sending it.
//! 3. Epoll tells a refused sender when the kernel has room again.
//! 4. Where frames are protected, their tags are computed before the first byte leaves, over the body where it lies ([`Seal`]); a body that is
//!    sealed is copied.

use super::header::Header;
use super::seal::{Seal, lead_bytes};
use crate::frame::{Channel, Frame};
use crate::lrts::{NoRoom, PathUse};
use crate::wrappers::Flip;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown};
use std::io::IoSlice;

/// Bytes of short frames that wait for one peer before its senders are refused: some milliseconds of a fast network. A
/// slow peer fills its own queue only.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// Frames of more bytes do not wait.
const SHORT_FRAME_BYTES: usize = 16 << 10;

/// Memory that an empty queue keeps.
const KEPT_BYTES: usize = 64 << 10;

/// One connection's way out. Held by one thread at a time.
pub(super) struct Outbound {
    /// What protects it, unless it goes in clear.
    seal: Option<Seal>,
    /// How a protected frame begins, while it is handed over; empty between frames.
    staged: Vec<u8>,
    flip: Option<Flip>,
    /// Headers and frames, of which the first `written` bytes are gone.
    waiting: Vec<u8>,
    written: usize,
    /// A sender was refused.
    starves: bool,
    said_goodbye: bool,
    /// Frames of the runtime.
    sent: PathUse,
    /// The connection takes nothing more: it broke, or the peer is given up.
    broken: Option<String>,
    watched: Watched,
}

/// The events that epoll watches a connection for.
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
    /// The data that its events carry.
    pub(super) data: u64,
}

impl Outbound {
    /// Registers a connection for reading.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn register(
        socket: &Socket<'_>,
        seal: Option<Seal>,
        flip: Option<Flip>,
    ) -> Result<Self, Errno> {
        let watched = Watched { registered: true, reading: true, writing: false };
        epoll::add(socket.epoll, socket.socket, EventData::new_u64(socket.data), watched.flags())?;
        Ok(Self {
            seal,
            staged: Vec::new(),
            flip,
            waiting: Vec::new(),
            written: 0,
            starves: false,
            said_goodbye: false,
            sent: PathUse::default(),
            broken: None,
            watched,
        })
    }

    /// Hands the kernel a frame, or queues what it does not take. A broken connection swallows frames.
    ///
    /// # Errors
    /// When there is no room or the last word was said.
    pub(super) fn send(&mut self, frame: Frame<'_>, socket: &Socket<'_>) -> Result<(), NoRoom> {
        if self.broken.is_some() {
            return Ok(());
        }
        if self.said_goodbye {
            return Err(NoRoom);
        }
        self.push(Header::Frame { channel: frame.channel, len: frame.len() }, frame, socket)?;
        if frame.channel == Channel::Runtime {
            self.sent.add(frame.len());
        }
        Ok(())
    }

    /// The runtime's frames that were taken.
    pub(super) fn sent(&self) -> PathUse {
        self.sent
    }

    /// Says the last word; it always has room.
    pub(super) fn say_goodbye(&mut self, socket: &Socket<'_>) {
        if !self.said_goodbye && self.broken.is_none() {
            self.said_goodbye = true;
            // All that is short has room then.
            let _ = self.push(Header::Goodbye, Frame::runtime(&[]), socket);
        }
    }

    /// Hands over or queues a frame, with all that goes before it.
    fn push(&mut self, header: Header, frame: Frame<'_>, socket: &Socket<'_>) -> Result<(), NoRoom> {
        let (is_last, header, len) = (header == Header::Goodbye, header.encode(), frame.len());
        if !self.waiting.is_empty() && !self.may_wait(len) {
            self.starves = true;
            return Err(NoRoom);
        }
        let Some(seal) = &mut self.seal else {
            return self.push_parts([&header, frame.head, frame.body], len, socket);
        };
        let number = seal.number();
        let mut staged = std::mem::take(&mut self.staged);
        let rest = seal.stage(&header, frame, &mut staged);
        // What happens to the last word comes too late to be told.
        let flip = self.flip.as_mut().filter(|_| !is_last);
        let flipped = flip.and_then(|flip| flip.strike([&staged, rest]));
        let parts = flipped.as_ref().map_or([&staged[..], rest, &[]], |flipped| [flipped, &[], &[]]);
        let pushed = self.push_parts(parts, len, socket);
        staged.clear();
        self.staged = staged;
        if pushed.is_err()
            && let Some(seal) = &mut self.seal
        {
            seal.rewind(number);
        }
        pushed
    }

    /// Whether a frame of `len` bytes may wait behind others.
    fn may_wait(&self, len: usize) -> bool {
        let has_room = self.waiting.len() + lead_bytes(len) + len <= WAITING_BYTES_MAX;
        (len <= SHORT_FRAME_BYTES && has_room) || self.said_goodbye
    }

    /// Hands over or queues the parts of a frame of `body` bytes.
    fn push_parts(&mut self, parts: [&[u8]; 3], body: usize, socket: &Socket<'_>) -> Result<(), NoRoom> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let mut taken = 0;
        if self.waiting.is_empty() {
            taken = match hand_over(socket, &parts) {
                Ok(taken) => taken,
                Err(errno) => {
                    self.break_off(errno.to_string(), socket);
                    return Ok(());
                }
            };
            if taken == len {
                return Ok(());
            }
        }
        let has_room = taken > 0 || self.may_wait(body);
        self.starves |= !has_room;
        if has_room {
            for part in parts {
                let skipped = taken.min(part.len());
                taken -= skipped;
                self.waiting.extend_from_slice(&part[skipped..]);
            }
        }
        self.watch(Watched { writing: true, ..self.watched }, socket);
        if has_room { Ok(()) } else { Err(NoRoom) }
    }

    /// Hands the kernel all it takes now. Returns whether it took anything, or a refused sender should try again.
    pub(super) fn write(&mut self, socket: &Socket<'_>) -> bool {
        let mut happened = false;
        while !self.waiting.is_empty() {
            match hand_over(socket, &[&self.waiting[self.written..]]) {
                Ok(0) => return happened,
                Ok(taken) => self.written += taken,
                Err(errno) => {
                    self.break_off(errno.to_string(), socket);
                    return true;
                }
            }
            happened = true;
            if self.written == self.waiting.len() {
                self.reset();
            }
        }
        happened |= std::mem::take(&mut self.starves);
        self.watch(Watched { writing: false, ..self.watched }, socket);
        happened
    }

    /// Forgets what is gone.
    fn reset(&mut self) {
        self.waiting.clear();
        self.waiting.shrink_to(KEPT_BYTES);
        self.written = 0;
    }

    /// Takes nothing more. The reader sees the end of the connection and reports it.
    pub(super) fn break_off(&mut self, cause: String, socket: &Socket<'_>) {
        self.broken.get_or_insert(cause);
        self.reset();
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
        self.said_goodbye && self.waiting.is_empty() && self.broken.is_none()
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

/// Gives the kernel bytes; returns how many it took, 0 when it has no room.
///
/// # Errors
/// The kernel's, when the connection is broken.
fn hand_over(socket: &Socket<'_>, parts: &[&[u8]]) -> Result<usize, Errno> {
    let mut slices = [IoSlice::new(&[]); 3];
    for (slice, part) in slices.iter_mut().zip(parts) {
        *slice = IoSlice::new(part);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let send = || rustix::net::sendmsg(socket.socket, &slices, &mut SendAncillaryBuffer::default(), flags);
    match rustix::io::retry_on_intr(send) {
        Err(Errno::AGAIN) => Ok(0),
        taken => taken,
    }
}
