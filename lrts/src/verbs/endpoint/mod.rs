//! Endpoint: one node on one device, which is all of verbs that [`crate::leased`] sees.
//!
//! `connecting` makes and ends queue pairs, `posting` gives them work, `completing` reads what became of it,
//! `memory` registers.
//!
//! 1. Each peer has a slice of the receiving pool, registered and posted when its connection is made. All share one receive
//!    queue, so that a message may land in any of them; its sender is known by its queue pair and earns the credit back.
//! 2. A connection that fails takes its queue pair along, at once, after all that had arrived was read: then the device touches
//!    no memory for it any more, and nothing more is heard of its work.

#![expect(unsafe_code, reason = "registers memory with the device and names buffers to it")]

mod completing;
mod connecting;
mod memory;
mod posting;

use super::device::{self, Device};
use super::link::Link;
use super::manager::{Identifier, Manager};
use super::options::{BACKEND, VerbsOptions};
use super::queue::{Queues, RESERVE, system};
use crate::bootstrap::Bootstrap;
use crate::bootstrap::listening::listen_within;
use crate::codec;
use crate::error::LrtsError;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::leased::endpoint::{Access, Event, Refusal, Registration, SENDS, Transfer};
use crate::leased::wire::{BUFFER_BYTES, Window};
use crate::memory::Place;
use memory::{IWARP, Key};
use rdma_sys::{ibv_transport_type, ibv_wc};
use rustc_hash::FxHashMap;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::net::SocketAddr;
use std::ptr::NonNull;
use std::sync::Arc;

/// A message and the byte of credits behind it, in whole cache lines.
const RECEIVE_BYTES: usize = BUFFER_BYTES + 64;

/// One node on one device. Its fields are dropped in the order of this list.
pub(in crate::verbs) struct Endpoint {
    node: NodeId,
    /// The number that requests for a connection must carry.
    door: u64,
    /// By node; `None` for those that are no peers.
    links: Vec<Option<Link>>,
    /// By number of a queue pair.
    pairs: FxHashMap<u32, NodeId>,
    /// Requests of this node that gave way to a peer's, until they are answered.
    given_up: Vec<Identifier>,
    listener: Identifier,
    address: SocketAddr,
    device: Device,
    transport: &'static str,
    /// Registrations of the slices of the receiving pool, by node, of those that are.
    slices: Vec<Option<Key>>,
    incoming: Arc<Pool>,
    /// By buffer: whose message was in it, until it is posted again.
    holders: Vec<Option<NodeId>>,
    outgoing_key: Option<Key>,
    outgoing: Pool,
    free_sends: Vec<usize>,
    /// Room to put short messages together.
    scratch: Vec<u8>,
    /// Peers that are owed many credits, for whose message their queue pair had no room.
    creditors: Vec<NodeId>,
    /// Read, but not looked at.
    unread: Vec<ibv_wc>,
    /// The manager is about to tell something.
    is_connecting: bool,
    is_shut: bool,
    queues: Queues,
    wakers: OwnedFd,
    manager: Manager,
}

// SAFETY: the objects belong to this value alone; the libraries allow any thread to use them.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// Takes a device and listens on it.
    ///
    /// # Errors
    /// No device, or what it refused.
    pub(in crate::verbs) fn open(
        bootstrap: &dyn Bootstrap,
        door: u64,
        peers: usize,
        options: &VerbsOptions,
    ) -> Result<Self, LrtsError> {
        let manager = device::manager()?;
        let (node, nodes) = (bootstrap.node(), bootstrap.nodes() as usize);
        let device = device::choose(&manager, options.device.as_deref(), node, bootstrap.host_address())?;
        let listen = |mut at: SocketAddr| {
            let listener = manager.identifier(None)?;
            listener.bind(at)?;
            at.set_port(listener.listen()?);
            Ok((listener, at))
        };
        let failed = |error| system("listening for connections", error);
        let (listener, address) = listen_within(bootstrap.ports(), device.address, listen, failed)?;
        let context = listener.device().ok_or_else(|| {
            system("listening for connections", io::Error::other("the address left its device"))
        })?;
        // SAFETY: the manager keeps devices open for the life of the process.
        let (queues, transport) = unsafe {
            let transport = (*context.as_ref().device).transport_type;
            (Queues::open(context, listener.port(), peers)?, transport)
        };
        let transport = match transport {
            ibv_transport_type::IBV_TRANSPORT_IWARP => IWARP,
            _ => "InfiniBand or RoCE",
        };
        let wakers = epoll::create(epoll::CreateFlags::CLOEXEC).and_then(|wakers| {
            for waker in [queues.descriptor(), manager.descriptor()] {
                epoll::add(&wakers, waker, EventData::new_u64(0), EventFlags::IN)?;
            }
            Ok(wakers)
        });
        let wakers = wakers.map_err(|errno| system("making something to sleep on", errno.into()))?;
        let receives = nodes * (queues.limits().credits + RESERVE);
        let mut opened = Self {
            node,
            door,
            links: (0..nodes).map(|_| None).collect(),
            pairs: FxHashMap::default(),
            given_up: Vec::new(),
            listener,
            address,
            device,
            transport,
            incoming: Arc::new(Pool::new(receives, RECEIVE_BYTES)),
            slices: (0..nodes).map(|_| None).collect(),
            holders: vec![None; receives],
            outgoing: Pool::new(SENDS, RECEIVE_BYTES),
            outgoing_key: None,
            free_sends: (0..SENDS).collect(),
            scratch: Vec::new(),
            creditors: Vec::new(),
            unread: Vec::new(),
            is_connecting: false,
            is_shut: false,
            queues,
            wakers,
            manager,
        };
        let (address, len) = (opened.outgoing.address(), opened.outgoing.len());
        let key = opened.pin(address, len, Access::Sent);
        opened.outgoing_key = Some(key.map_err(|error| system("registering message buffers", error))?);
        Ok(opened)
    }

    fn link(&mut self, node: NodeId) -> Option<&mut Link> {
        self.links.get_mut(node.index()).and_then(Option::as_mut)
    }

    fn pin(&self, address: *const u8, len: usize, access: Access) -> io::Result<Key> {
        Key::pin(&self.queues, self.transport, &Place { address, len, device: None }, access)
    }

    /// Buffers in one peer's slice of the receiving pool.
    fn slice(&self) -> usize {
        self.queues.limits().credits + RESERVE
    }
}

impl crate::leased::endpoint::Endpoint for Endpoint {
    fn kind(&self) -> String {
        self.transport.to_owned()
    }

    fn label(&self) -> String {
        self.device.name.clone()
    }

    fn address(&self) -> Result<Vec<u8>, LrtsError> {
        let mut bytes = Vec::new();
        codec::encode_into(&self.address, &mut bytes).expect("an address is always encoded");
        Ok(bytes)
    }

    fn introduce(&mut self, peer: NodeId, address: &[u8], door: u64) -> Result<(), LrtsError> {
        let address = codec::decode(address).map_err(|error| LrtsError::Connect {
            peer,
            backend: BACKEND,
            cause: format!("it published no address: {error}"),
        })?;
        self.links[peer.index()] = Some(Link::new(address, door));
        Ok(())
    }

    fn connects_on_demand(&self) -> bool {
        true
    }

    fn delivers(&self) -> bool {
        true
    }

    fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    fn post_receive(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        let slot = arrival.slot();
        self.post_buffer(arrival)?;
        if let Some(node) = self.holders[slot].take()
            && let Some(link) = self.link(node)
        {
            link.owe();
            self.return_credits(node);
        }
        Ok(())
    }

    fn send(&mut self, target: NodeId, parts: &[&[u8]], announced: bool) -> Result<Option<usize>, Refusal> {
        self.prepare(target)?;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        match !announced && len < self.queues.limits().copied_bytes_max {
            true => self.send_copied(target, parts).map(|()| None),
            false => self.send_buffered(target, parts).map(Some),
        }
    }

    unsafe fn transfer(
        &mut self,
        transfer: &Transfer,
        registration: Option<&Registration>,
        slot: usize,
    ) -> Result<(), Refusal> {
        self.prepare(transfer.peer)?;
        // SAFETY: the caller's promise.
        unsafe { self.post_transfer(transfer, registration, slot) }
    }

    fn transfer_bytes_max(&self) -> usize {
        self.queues.limits().message_bytes_max
    }

    fn registers_local(&self) -> bool {
        true
    }

    fn registrations_max(&self) -> usize {
        self.queues.limits().registrations
    }

    fn register(&mut self, place: &Place, access: Access) -> Result<Registration, String> {
        let key = Key::pin(&self.queues, self.transport, place, access);
        let key = key.map_err(|error| format!("registering {} bytes: {error}", place.len))?;
        // SAFETY: just registered.
        let remote = unsafe { key.0.as_ref().rkey };
        let registration = Registration {
            object: key.0.as_ptr().cast(),
            window: Window { address: place.address as u64, key: u64::from(remote) },
        };
        std::mem::forget(key);
        Ok(registration)
    }

    fn deregister(&mut self, registration: &Registration) {
        // The registration is given back once; so this is its only owner.
        NonNull::new(registration.object.cast()).map(Key);
    }

    fn poll(&mut self, events: &mut Vec<Event>, thoroughly: bool) {
        if self.is_shut {
            return;
        }
        let mut ended = Vec::new();
        if thoroughly || self.is_connecting {
            self.hear_manager(events, &mut ended);
            self.is_connecting =
                !self.given_up.is_empty() || self.links.iter().flatten().any(Link::is_connecting);
        }
        self.read_completions(events, &mut ended);
        for (node, cause) in ended {
            self.end_link(node, cause, events);
        }
        for node in std::mem::take(&mut self.creditors) {
            self.return_credits(node);
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wakers.as_fd())
    }

    fn may_sleep(&mut self) -> bool {
        self.queues.arm();
        self.unread.reserve(1);
        self.queues.poll(&mut self.unread);
        self.unread.is_empty()
    }

    fn shut(&mut self) {
        self.is_shut = true;
        self.pairs.clear();
        for link in self.links.iter_mut().flatten() {
            link.end("the endpoint is closed".to_owned());
        }
    }

    fn is_shut(&self) -> bool {
        self.is_shut
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        crate::leased::endpoint::Endpoint::shut(self);
    }
}
