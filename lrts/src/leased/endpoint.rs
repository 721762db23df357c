//! Endpoint: the trait that a network implements to be driven by `leased`, one value for this node, with its peers behind it.
//!
//! 1. It is used by one thread at a time, so it lives behind one lock. Nothing in it waits.
//! 2. Messages to a peer arrive once and whole, or the peer is reported as broken; where the network does not say whose message it
//!    failed to carry, [`Event::Missing`] tells of it. Order is not asked for.
//! 3. [`Refusal::Full`] means: the same call succeeds after some progress.
//! 4. Whatever was posted is over once its [`Event`] was read, or once [`Endpoint::shut`] has returned.

#![expect(unsafe_code, reason = "declares operations on memory that the caller keeps")]

use super::wire::Window;
use crate::error::LrtsError;
pub(crate) use crate::fabric::exchange::Refusal;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::memory::Place;
use rustix::fd::BorrowedFd;
use std::ffi::c_void;
use std::sync::Arc;

/// Messages on their way out whose buffers the network still needs: 4 MiB of buffers.
pub(crate) const SENDS: usize = 64;

/// One-sided operations under way.
pub(crate) const TRANSFERS: usize = 64;

/// Which way a one-sided operation moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// From the peer.
    Read,
    /// To the peer.
    Write,
}

/// A one-sided operation.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) direction: Direction,
    pub(crate) local: *mut u8,
    pub(crate) len: usize,
    pub(crate) remote: Window,
    pub(crate) peer: NodeId,
}

/// Access of the network to registered memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Our own operations read it.
    Sent,
    /// Our own operations fill it.
    Filled,
    /// Peers read it.
    Readable,
    /// Peers read and write it.
    Writable,
}

/// Registered memory. Must be given back to [`Endpoint::deregister`].
pub(crate) struct Registration {
    /// The network's object, which its endpoint knows the type of.
    pub(crate) object: *mut c_void,
    /// Its first byte and its key, as peers name them.
    pub(crate) window: Window,
}

// SAFETY: names an object of the network's library, which any thread may use in its turn.
unsafe impl Send for Registration {}

/// Event of an endpoint.
pub(crate) enum Event {
    /// A message came in.
    Received(Arrival),
    /// A buffer of the sending pool is free again.
    Sent(usize),
    /// A one-sided operation is over.
    Moved(usize),
    /// A send failed.
    SendFailed(usize, String),
    /// A one-sided operation failed.
    MoveFailed(usize, String),
    /// There may be room where there was none.
    #[cfg_attr(
        not(any(feature = "verbs", feature = "sim")),
        expect(dead_code, reason = "only verbs and the simulated network tell of it")
    )]
    Room,
    /// Some message does not arrive, for this reason, and the network does not say whose it is.
    #[cfg_attr(
        not(any(feature = "ofi", test)),
        expect(dead_code, reason = "only libfabric fails to receive without saying from whom")
    )]
    Missing(String),
    /// Nothing reaches this node or comes from it any more, for this reason.
    #[cfg_attr(
        not(any(feature = "verbs", test)),
        expect(dead_code, reason = "only verbs makes its connections on demand")
    )]
    Broken(NodeId, String),
    /// The endpoint itself failed.
    Failed(String),
}

/// A network's messages and one-sided operations, for one node.
pub(crate) trait Endpoint: Send {
    /// The transport, which peers must have chosen too.
    fn kind(&self) -> String;

    /// The device or provider, as users read it.
    fn label(&self) -> String;

    /// The address by which peers reach it: some hundred bytes at most.
    ///
    /// # Errors
    /// The network's.
    fn address(&self) -> Result<Vec<u8>, LrtsError>;

    /// Enters a peer, by its address and the number that only nodes of the job know it by.
    ///
    /// # Errors
    /// When it is no address.
    fn introduce(&mut self, peer: NodeId, address: &[u8], door: u64) -> Result<(), LrtsError>;

    /// Whether the first message to a peer makes the connection, so that none is sent for the sake of it.
    fn connects_on_demand(&self) -> bool;

    /// Whether a write can prove that its bytes are in the target's memory.
    fn delivers(&self) -> bool;

    /// Whether it takes memory of devices.
    fn reaches_devices(&self) -> bool {
        true
    }

    /// Where messages arrive.
    fn incoming(&self) -> &Arc<Pool>;

    /// Gives a buffer back to the network.
    ///
    /// # Errors
    /// The arrival, to be tried again.
    fn post_receive(&mut self, arrival: Arrival) -> Result<(), Arrival>;

    /// Sends a message of at most [`BUFFER_BYTES`](super::wire::BUFFER_BYTES). A short one may be copied out
    /// before the call returns, without an event, unless it is `announced`; for any other the slot is returned that
    /// an event will name, below [`SENDS`].
    ///
    /// # Errors
    /// [`Refusal`].
    fn send(&mut self, target: NodeId, parts: &[&[u8]], announced: bool) -> Result<Option<usize>, Refusal>;

    /// Starts a one-sided operation; an event will name `slot`, which is below [`TRANSFERS`].
    ///
    /// # Errors
    /// [`Refusal`].
    ///
    /// # Safety
    /// `local..local + len` stays allocated until that event, or until [`Endpoint::shut`]; it is written by nobody
    /// else, and read by nobody else when it is read into. `registration`, if given, covers it.
    unsafe fn transfer(
        &mut self,
        transfer: &Transfer,
        registration: Option<&Registration>,
        slot: usize,
    ) -> Result<(), Refusal>;

    /// The longest one-sided operation, in bytes.
    fn transfer_bytes_max(&self) -> usize;

    /// Whether own memory must be registered before it takes part in a one-sided operation.
    fn registers_local(&self) -> bool;

    /// Regions that may be registered at a time.
    fn registrations_max(&self) -> usize;

    /// Registers memory, of the host or of a device. Touches the pages (and pins them, where the network asks for it).
    ///
    /// # Errors
    /// Why not, in words.
    fn register(&mut self, place: &Place, access: Access) -> Result<Registration, String>;

    /// Ends a registration: its key reaches nothing any more.
    fn deregister(&mut self, registration: &Registration);

    /// Reads some events, each once; `thoroughly`: also those that are rare and cost a system call to look for.
    fn poll(&mut self, events: &mut Vec<Event>, thoroughly: bool);

    /// Readable when [`Endpoint::poll`] may find something, after [`Endpoint::may_sleep`]; `None` where the network has
    /// no such thing.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Whether a thread may sleep now: on the descriptor, if there is one.
    fn may_sleep(&mut self) -> bool;

    /// Closes the endpoint: the network touches no memory of ours any more, and nothing arrives or leaves.
    fn shut(&mut self);

    /// Whether it was shut.
    fn is_shut(&self) -> bool;
}
