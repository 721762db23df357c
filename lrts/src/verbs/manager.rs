//! Connection manager (librdmacm): identifiers of connections, and what it tells about them.
//!
//! 1. An [`Identifier`] owns its queue pair; both end with it, at once, and the peer is told.
//! 2. Events are copied and acknowledged before they are handled, so that ending an identifier never waits.
//! 3. Identifiers end before their [`Manager`] does.

#![expect(
    unsafe_code,
    reason = "calls the connection manager's library with identifiers that this module owns"
)]

use crate::ids::NodeId;
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use rdma_sys::{
    ibv_context, ibv_get_device_name, ibv_pd, ibv_qp, ibv_qp_init_attr, rdma_accept, rdma_ack_cm_event,
    rdma_bind_addr, rdma_cm_event_type, rdma_cm_id, rdma_conn_param, rdma_connect, rdma_create_event_channel,
    rdma_create_id, rdma_create_qp, rdma_destroy_event_channel, rdma_destroy_id, rdma_destroy_qp,
    rdma_event_channel, rdma_event_str, rdma_get_cm_event, rdma_listen, rdma_port_space, rdma_reject,
    rdma_resolve_addr, rdma_resolve_route, rdma_set_option,
};
use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use std::ffi::{CStr, c_int};
use std::io;
use std::net::SocketAddr;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

/// Queued connection requests. A peer repeats those beyond.
const BACKLOG: c_int = 128;

/// How long an address and a route may take to be found.
const RESOLVE_TIME_MAX: Duration = Duration::from_secs(10);

/// Acknowledgements are waited for `4.096 us * 2^18`, about a second, before a packet is sent again...
const ACK_TIMEOUT: u8 = 18;

/// ...so many times; a peer that is silent for longer, some 8 s, is lost. 7 would mean for ever with soft-RoCE.
const RETRIES: u8 = 6;

/// A receiver without a buffer is asked again for ever; credits make that rare.
const RECEIVER_RETRIES: u8 = 7;

/// Reads under way: as many as both devices can (`RDMA_MAX_RESP_RES`, `RDMA_MAX_INIT_DEPTH`).
const READS_MAX: u8 = 0xff;

/// Private data of a request: more bytes than this fit any network.
pub(super) const PRIVATE_BYTES: usize = 12;

/// The channel of librdmacm that connections report to.
pub(super) struct Manager {
    channel: NonNull<rdma_event_channel>,
}

/// Event of an identifier.
pub(super) struct ConnectionEvent {
    /// The identifier; a new one with a request, which belongs to the reader of this event.
    pub(super) about: NonNull<rdma_cm_id>,
    /// The node that the identifier was made for; none with a request.
    pub(super) node: Option<NodeId>,
    pub(super) event: rdma_cm_event_type::Type,
    status: c_int,
    /// The peer's private data, zeros where it sent less.
    pub(super) private: [u8; PRIVATE_BYTES],
}

impl ConnectionEvent {
    /// Why, in words.
    pub(super) fn describe(&self) -> String {
        // SAFETY: a static text for any number.
        let text = unsafe { CStr::from_ptr(rdma_event_str(self.event)) }.to_string_lossy();
        match self.status {
            0 => text.into_owned(),
            status if status < 0 => format!("{text}: {}", io::Error::from_raw_os_error(-status)),
            status => format!("{text}: reason {status}"),
        }
    }
}

impl Manager {
    /// Opens the manager.
    ///
    /// # Errors
    /// `Unsupported` without the library, else the kernel's.
    pub(super) fn open() -> io::Result<Self> {
        // SAFETY: takes nothing; returns null with an error.
        let channel = unsafe { rdma_create_event_channel() };
        let manager = Self { channel: NonNull::new(channel).ok_or_else(io::Error::last_os_error)? };
        rustix::fs::fcntl_setfl(manager.descriptor(), OFlags::NONBLOCK)?;
        Ok(manager)
    }

    /// Readable when there is an event.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: open, and owned by the channel, which lives as long as the borrow.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }

    /// A fresh identifier, about a node if it is for a connection to one.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn identifier(&self, node: Option<NodeId>) -> io::Result<Identifier> {
        let mut id = null_mut();
        // SAFETY: the channel is open.
        let code = unsafe {
            rdma_create_id(self.channel.as_ptr(), &mut id, null_mut(), rdma_port_space::RDMA_PS_TCP)
        };
        check(code)?;
        let identifier = Identifier(NonNull::new(id).ok_or(io::ErrorKind::OutOfMemory)?);
        identifier.name(node);
        Ok(identifier)
    }

    /// The next event, if there is one.
    pub(super) fn next(&self) -> Option<ConnectionEvent> {
        let mut event = null_mut();
        // SAFETY: the channel is open and does not block. The event stays until it is acknowledged, its identifier beyond.
        unsafe {
            if rdma_get_cm_event(self.channel.as_ptr(), &mut event) != 0 {
                return None;
            }
            let about = NonNull::new((*event).id)?;
            let mut private = [0; PRIVATE_BYTES];
            let sent = (*event).param.conn;
            if !sent.private_data.is_null() {
                let len = usize::from(sent.private_data_len).min(PRIVATE_BYTES);
                let bytes = std::slice::from_raw_parts(sent.private_data.cast::<u8>(), len);
                private[..len].copy_from_slice(bytes);
            }
            let is_request = (*event).event == rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_REQUEST;
            let tag = if is_request { 0 } else { about.as_ref().context as usize };
            let told = ConnectionEvent {
                about,
                node: tag.checked_sub(1).map(|node| NodeId(node as u32)),
                event: (*event).event,
                status: (*event).status,
                private,
            };
            rdma_ack_cm_event(event);
            Some(told)
        }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: open, and all identifiers have ended (rule 3).
        unsafe { rdma_destroy_event_channel(self.channel.as_ptr()) };
    }
}

/// One end of a connection, or of a request for one.
pub(super) struct Identifier(NonNull<rdma_cm_id>);

impl Identifier {
    /// Takes charge of the identifier of a request.
    ///
    /// # Safety
    /// It came with a request, and this is called once for it.
    pub(super) unsafe fn of_request(told: &ConnectionEvent) -> Self {
        Self(told.about)
    }

    /// Whether an event is about this identifier.
    pub(super) fn is(&self, other: NonNull<rdma_cm_id>) -> bool {
        self.0 == other
    }

    /// The node that it connects to.
    pub(super) fn name(&self, node: Option<NodeId>) {
        let tag = node.map_or(0, |node| node.0 as usize + 1);
        // SAFETY: open; the library leaves this field to its user.
        unsafe { (*self.0.as_ptr()).context = std::ptr::without_provenance_mut(tag) };
    }

    /// Binds it to an address of this host, and so to a device, if the address is one of a device's.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn bind(&self, address: SocketAddr) -> io::Result<()> {
        let address = SockaddrStorage::from(address);
        // SAFETY: the address is needed during the call only, and not written.
        check(unsafe { rdma_bind_addr(self.0.as_ptr(), address.as_ptr().cast_mut().cast()) })
    }

    /// Takes requests from now on. Returns the port.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn listen(&self) -> io::Result<u16> {
        // SAFETY: open and bound; the union's first fields are those of every kind of address with a port.
        unsafe {
            check(rdma_listen(self.0.as_ptr(), BACKLOG))?;
            Ok(u16::from_be(self.0.as_ref().route.addr.src_addr_union.src_sin.sin_port))
        }
    }

    /// The device that it is bound to, if it is.
    pub(super) fn device(&self) -> Option<NonNull<ibv_context>> {
        // SAFETY: open.
        NonNull::new(unsafe { self.0.as_ref().verbs })
    }

    /// The name of that device.
    pub(super) fn device_name(&self) -> Option<String> {
        let context = self.device()?;
        // SAFETY: the manager keeps devices open.
        let name = unsafe { ibv_get_device_name(context.as_ref().device) };
        // SAFETY: a terminated text that stays as long as the device, or null.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// The device's port.
    pub(super) fn port(&self) -> u8 {
        // SAFETY: open.
        unsafe { self.0.as_ref().port_num }
    }

    /// Begins to look for a peer's address; it is told when it is found.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn resolve_address(&self, source: SocketAddr, target: SocketAddr) -> io::Result<()> {
        let (source, target) = (SockaddrStorage::from(source), SockaddrStorage::from(target));
        // SAFETY: the addresses are needed during the call only, and not written.
        check(unsafe {
            rdma_resolve_addr(
                self.0.as_ptr(),
                source.as_ptr().cast_mut().cast(),
                target.as_ptr().cast_mut().cast(),
                RESOLVE_TIME_MAX.as_millis() as c_int,
            )
        })
    }

    /// Begins to look for the way to the address; it is told when it is found.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn resolve_route(&self) -> io::Result<()> {
        // SAFETY: open; the manager answers a call that comes too early with an error.
        check(unsafe { rdma_resolve_route(self.0.as_ptr(), RESOLVE_TIME_MAX.as_millis() as c_int) })
    }

    /// Makes the queue pair.
    ///
    /// # Errors
    /// The device's.
    ///
    /// # Safety
    /// Domain and queues are open, are the device's of this identifier, and outlive it.
    pub(super) unsafe fn create_queue_pair(
        &self,
        domain: *mut ibv_pd,
        attributes: &mut ibv_qp_init_attr,
    ) -> io::Result<()> {
        // SAFETY: the caller's promise.
        check(unsafe { rdma_create_qp(self.0.as_ptr(), domain, attributes) })
    }

    /// The queue pair; null before it is made.
    pub(super) fn queue_pair(&self) -> *mut ibv_qp {
        // SAFETY: open.
        unsafe { self.0.as_ref().qp }
    }

    /// Its number, once it is made.
    pub(super) fn number(&self) -> Option<u32> {
        // SAFETY: made by this identifier, and kept as long.
        NonNull::new(self.queue_pair()).map(|pair| unsafe { pair.as_ref().qp_num })
    }

    /// Asks the peer for the connection.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn connect(&self, private: &[u8; PRIVATE_BYTES]) -> io::Result<()> {
        self.set_ack_timeout();
        let mut parameters = Self::parameters(private);
        // SAFETY: the parameters are needed during the call only.
        check(unsafe { rdma_connect(self.0.as_ptr(), &mut parameters) })
    }

    /// Grants a request.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn accept(&self) -> io::Result<()> {
        self.set_ack_timeout();
        let mut parameters = Self::parameters(&[]);
        // SAFETY: the parameters are needed during the call only.
        check(unsafe { rdma_accept(self.0.as_ptr(), &mut parameters) })
    }

    /// Refuses a request.
    pub(super) fn reject(self, private: &[u8]) {
        // A failure leaves the peer without an answer; it asks again.
        // SAFETY: the bytes are needed during the call only.
        unsafe { rdma_reject(self.0.as_ptr(), private.as_ptr().cast(), private.len() as u8) };
    }

    fn parameters(private: &[u8]) -> rdma_conn_param {
        rdma_conn_param {
            private_data: private.as_ptr().cast(),
            private_data_len: private.len() as u8,
            responder_resources: READS_MAX,
            initiator_depth: READS_MAX,
            flow_control: 1,
            retry_count: RETRIES,
            rnr_retry_count: RECEIVER_RETRIES,
            srq: 1,
            qp_num: 0,
        }
    }

    /// Networks without such a time (iWARP has TCP's) refuse, and need nothing.
    fn set_ack_timeout(&self) {
        // `RDMA_OPTION_ID` and `RDMA_OPTION_ID_ACK_TIMEOUT`, which the bindings lack.
        const LEVEL: c_int = 0;
        const OPTION: c_int = 3;
        let mut value = ACK_TIMEOUT;
        // SAFETY: one byte is what this option has.
        unsafe { rdma_set_option(self.0.as_ptr(), LEVEL, OPTION, (&raw mut value).cast(), 1) };
    }
}

impl Drop for Identifier {
    fn drop(&mut self) {
        // SAFETY: open, and never used again; everything told about it was acknowledged (rule 2).
        unsafe {
            if !self.queue_pair().is_null() {
                rdma_destroy_qp(self.0.as_ptr());
            }
            rdma_destroy_id(self.0.as_ptr());
        }
    }
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
