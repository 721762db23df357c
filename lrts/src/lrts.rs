//! LRTS: the one trait that every network backend implements, what passes through it and how much that was, and what a backend can do by
//! itself.

use crate::error::{LrtsError, TransferError};
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::memory::{Memory, MemoryMut};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey};
use crate::runs::Runs;
use rustix::fd::BorrowedFd;

/// Names an operation to its poster; comes back in its [`Completion`]. The poster chooses it.
pub type Token = u64;

/// An operation that could not start now: no room, or the region is claimed by another operation (for which
/// [`Reach`](crate::reach::Reach) waits by itself). Not an error. It comes back whole; post it again after the next progress.
#[derive(Debug)]
pub struct Refused<T>(pub T);

/// A frame that the network has no room for now. Not an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoom;

/// Read `into.len()` bytes of a peer's region, from `offset` on, into memory of ours.
#[derive(Debug)]
pub struct Get {
    /// The peer's region.
    pub key: RegionKey,
    /// First byte within the region.
    pub offset: u64,
    /// Filled from its first byte; held by the operation until it comes back in the completion.
    pub into: MemoryMut,
    /// How many bytes; at most `into.len()`, the rest of `into` stays untouched.
    pub len: usize,
    /// Comes back in the completion.
    pub token: Token,
}

/// Write `from` into a peer's region, from `offset` on.
#[derive(Debug)]
pub struct Put {
    /// The peer's region, registered as a put target.
    pub key: RegionKey,
    /// First byte within the region.
    pub offset: u64,
    /// What to write; held by the operation until its completion.
    pub from: Memory,
    /// Comes back in the completion.
    pub token: Token,
}

/// How a transfer ended.
#[derive(Debug)]
pub struct Completion {
    /// The poster's name for it.
    pub token: Token,
    /// Bytes moved, or why none (or not all) were.
    pub result: Result<usize, TransferError>,
    /// A get's memory, filled; `None` for a put, and for a get at a lost peer whose memory the network does not give back.
    pub memory: Option<MemoryMut>,
}

/// Result of posting a get or put.
#[derive(Debug)]
pub enum Posted {
    /// Already over: the path is a memory copy. No completion will be delivered.
    Done(Completion),
    /// Under way: exactly one completion will be delivered by `progress`.
    Pending,
}

/// How the pages of a mapped range come into the page table of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entering {
    /// All that are new, before they are used: 50 us per MiB of the range.
    AtOnce,
    /// Each by the kernel when it is touched, 2 us a page: for a long range of which few pages are.
    AsUsed,
}

/// Where a backend delivers what arrives. The only way from a backend into the runtime.
pub trait Sink {
    /// A frame from `source`. The bytes are an allegation: valid only during the call, unchecked.
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]);
    /// A frame of `len` bytes has begun to arrive; `begun` are its first bytes, unchecked. Returns whether this sink knows where
    /// the others belong: it has taken `begun` then, the others come by [`Sink::rest`], and [`Sink::frame`] never sees the
    /// frame. A backend that would have to gather a long frame asks, as often as it likes.
    fn begin(&mut self, _source: NodeId, _channel: Channel, _begun: &[u8], _len: usize) -> bool {
        false
    }
    /// Calls `read` once with the place of what is missing of the frame from `source` that was begun; `read` fills it from its first
    /// byte on, and returns how many bytes have arrived. What it wrote beyond those is not to be believed yet: the next call has it
    /// at the front of its place, as it was left.
    fn rest(&mut self, source: NodeId, _read: &mut dyn FnMut(&mut [u8]) -> usize) {
        unreachable!("this sink has begun no frame from {source}");
    }
    /// A pending get or put is over.
    fn completion(&mut self, completion: Completion);
    /// A peer said goodbye and will send nothing more.
    fn peer_closed(&mut self, peer: NodeId);
    /// A peer is gone without a goodbye, or broke the protocol: said once per peer. Or, if the error names no peer, the backend cannot go on.
    fn peer_lost(&mut self, error: LrtsError);
}

/// A network backend: moves frames and memory between nodes; knows no chare.
///
/// Threads: every method may be called from any thread. `progress` called while another thread is in it returns
/// `false` at once. No method blocks.
///
/// Order: frames of one sender thread to one node arrive in the order in which `send` accepted them. On [`Channel::Emulated`] that holds
/// for the frames of all threads together: what is sent when the `send` of another frame has returned arrives behind it. Nothing is
/// promised between get, put and frames.
pub trait Lrts: Send + Sync {
    /// The name users type after `+lrts` and read in `+stats`.
    fn name(&self) -> &'static str;

    /// The operations that this backend has by itself.
    fn capabilities(&self) -> Capabilities;

    /// Queues a frame for `target`. Frames are never lost: each arrives exactly once, or
    /// `peer_lost` names the peer.
    ///
    /// # Errors
    /// [`NoRoom`]: nothing was taken. The event descriptor becomes readable when there may be room.
    ///
    /// # Panics
    /// If the frame is longer than `frame_bytes_max` or the backend has no messages: the caller asked
    /// `capabilities` first.
    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom>;

    /// Delivers arrivals and completions to `sink`, pushes what waits to go out.
    /// Returns whether anything happened.
    fn progress(&self, sink: &mut dyn Sink) -> bool;

    /// Starts reading a peer's region.
    ///
    /// # Errors
    /// The operation itself when it cannot start now. What can never succeed (stale key, range, ...)
    /// is a completion with a [`TransferError`], not a refusal.
    fn get(&self, get: Get) -> Result<Posted, Refused<Get>>;

    /// Starts writing a peer's region. Complete means: the bytes are in the target's memory.
    ///
    /// # Errors
    /// As for `get`.
    fn put(&self, put: Put) -> Result<Posted, Refused<Put>>;

    /// Starts reading runs of a peer's region under one claim, which reaches from `offset` on as far as they do: each goes to its own
    /// place in `into`, and what lies between is neither read nor written. `get.len` means nothing here.
    ///
    /// # Errors
    /// As for `get`.
    ///
    /// # Panics
    /// If the backend moves no runs: the caller asked `capabilities` first.
    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        panic!("{} moves no runs, asked for {} bytes from {}", self.name(), runs.bytes(), get.key.node);
    }

    /// Starts writing runs of a peer's region, as [`get_runs`](Lrts::get_runs) reads them.
    ///
    /// # Errors
    /// As for `get`.
    ///
    /// # Panics
    /// As for `get_runs`.
    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        panic!("{} moves no runs, asked for {} bytes to {}", self.name(), runs.bytes(), put.key.node);
    }

    /// Lends `len` bytes of a peer's region in place, from `offset` on, where this backend can.
    /// The region stays claimed for reading until the last clone is dropped: no copy is made.
    /// Where it is a mapping, its pages are entered as `entering` says.
    ///
    /// # Errors
    /// As a get would fail.
    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError>;

    /// Claims `len` bytes of a peer's region, from `offset` on, for copies that the caller carries out itself, in pieces and on any
    /// thread: where a get or put of this backend is a copy, and may be long. `None` where it is none; post it then.
    ///
    /// # Errors
    /// [`ClaimError::Busy`] when the claim cannot be had now, else why a get or put would fail.
    fn claim(
        &self,
        _key: &RegionKey,
        _offset: u64,
        _len: usize,
        _mode: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        Ok(None)
    }

    /// Announces that the caller is about to sleep on `event_fd`. Returns `false` when there is already
    /// something to do: call `progress` instead of sleeping.
    fn arm(&self) -> bool;

    /// Becomes readable when, after `arm`, something may have happened; `None`: nothing to wait for.
    fn event_fd(&self) -> Option<BorrowedFd<'_>>;

    /// Says goodbye to all peers and stops taking new operations; call `progress` until `is_closed`.
    fn shutdown(&self);

    /// Whether, after `shutdown`, all accepted frames are delivered to the wire and all peers said goodbye or are gone.
    fn is_closed(&self) -> bool;
}

/// What one backend offers. Tested set (native equals emulated) and clear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// `send` works: frames reach other nodes.
    pub messages: bool,
    /// `get` works without help from the target's processor or by the backend's own means.
    pub get: bool,
    /// `put` works likewise.
    pub put: bool,
    /// `get_runs` and `put_runs` work, each where `get` or `put` does, between this node and others.
    pub runs: bool,
    /// `view` can lend a peer's memory in place for shareable regions.
    pub view: bool,
    /// Get and put may have memory of a device at this end, and then at the peer's, too. The network reaches it by itself, as far as it
    /// registers it: what it does not is [`Refused`](crate::TransferError::Refused). Where this is clear, a region of such memory is
    /// [out of reach](crate::TransferError::DeviceMemory), and such memory at this end is a bug of the caller, which `reach` finds.
    pub device: bool,
    /// Get and put finish before the call returns: the path is a memory copy.
    pub immediate: bool,
    /// The longest frame that `send` takes, in bytes; 0 without `messages`.
    pub frame_bytes_max: usize,
}

/// A path's use so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathUse {
    /// Frames, transfers or views.
    pub operations: u64,
    /// Bytes of those that were accepted.
    pub bytes: u64,
}

impl PathUse {
    /// One more of so many bytes.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.operations += 1;
        self.bytes += bytes as u64;
    }
}
