//! Endpoint: one reliable-datagram endpoint with its queue, address table and buffers, which is all of libfabric that the rest
//! sees.
//!
//! `posting` gives the network something to do, `events` reads what it did, `memory` registers.
//!
//! 1. One thread at a time uses it (`FI_THREAD_DOMAIN`), as the contract says.
//! 2. Every operation has a context of 64 bytes in one array, as providers of mode `FI_CONTEXT` ask for: first those of the
//!    receive buffers, then of the send buffers, then of the one-sided operations. Its position names the operation.
//! 3. `-FI_EAGAIN` is `Refusal::Full`.

#![expect(unsafe_code, reason = "drives libfabric's objects and hands it addresses of pools and operations")]

mod events;
mod memory;
mod posting;

use super::info::Info;
use super::options::BACKEND;
use crate::error::LrtsError;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::leased::endpoint::{Access, Event, Refusal, Registration, SENDS, TRANSFERS, Transfer};
use crate::leased::wire::BUFFER_BYTES;
use crate::memory::{DeviceMemory, MemoryMut, Place};
use chare_ofi_sys::abi::{
    FI_AV_UNSPEC, FI_CQ_COND_NONE, FI_CQ_FORMAT_MSG, FI_EBUSY, FI_MR_LOCAL, FI_RECV, FI_TRANSMIT, FI_WAIT_FD,
    FI_WAIT_NONE, fi_addr_t, fi_av_attr, fi_context2, fi_cq_attr, fi_wait_obj, fid, fid_av, fid_cq,
    fid_domain, fid_ep, fid_fabric,
};
use chare_ofi_sys::{Library, calls};
use rustix::fd::BorrowedFd;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Messages that may have arrived before anybody looked: 4 MiB of buffers.
const RECEIVES: usize = 64;

/// Bytes of a context; `fi_context2` is the longer of the two kinds.
const CONTEXT_BYTES: usize = size_of::<fi_context2>();

/// Longer than the name of any endpoint.
const NAME_BYTES_MAX: usize = 512;

/// The endpoint and all it stands on.
pub(super) struct Endpoint {
    library: &'static Library,
    info: Info,
    fabric: *mut fid_fabric,
    domain: *mut fid_domain,
    av: *mut fid_av,
    cq: *mut fid_cq,
    endpoint: *mut fid_ep,
    /// Where peers are in the address table, by node.
    addresses: Vec<fi_addr_t>,
    /// Readable when the queue has something, where the provider has such a descriptor.
    descriptor: Option<c_int>,
    contexts: MemoryMut,
    incoming: Arc<Pool>,
    outgoing: Pool,
    /// Small messages are put together here and copied out at once.
    scratch: Vec<u8>,
    free_sends: Vec<usize>,
    /// The pools' registrations, where own memory must be registered.
    pools: Option<[Registration; 2]>,
}

// SAFETY: the objects belong to this value alone; the library allows any thread to use them in its turn.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// Opens an endpoint as offered and posts its receive buffers.
    ///
    /// # Errors
    /// What libfabric refused.
    pub(super) fn open(library: &'static Library, mut info: Info, nodes: u32) -> Result<Self, LrtsError> {
        info.clear_operation_flags();
        let contexts = (RECEIVES + SENDS + TRANSFERS) * CONTEXT_BYTES;
        let mut opened = Self {
            library,
            info,
            fabric: null_mut(),
            domain: null_mut(),
            av: null_mut(),
            cq: null_mut(),
            endpoint: null_mut(),
            addresses: vec![0; nodes as usize],
            descriptor: None,
            contexts: MemoryMut::heap_zeroed(contexts),
            incoming: Arc::new(Pool::new(RECEIVES, BUFFER_BYTES)),
            outgoing: Pool::new(SENDS, BUFFER_BYTES),
            scratch: Vec::new(),
            free_sends: (0..SENDS).collect(),
            pools: None,
        };
        opened.open_objects()?;
        if opened.info.mr_mode() & FI_MR_LOCAL != 0 {
            let memory = |pool: &Pool| (pool.address().cast_const(), pool.len());
            let (incoming, outgoing) = (memory(&opened.incoming), memory(&opened.outgoing));
            let mut register = |(address, len), access| opened.register_memory(address, len, access);
            let registered = register(incoming, Access::Filled)
                .and_then(|first| Ok([first, register(outgoing, Access::Sent)?]));
            opened.pools = Some(registered.map_err(|cause| {
                system("registering message buffers", io::Error::other(cause), "; raise `ulimit -l`")
            })?);
        }
        for slot in 0..RECEIVES {
            // SAFETY: no buffer is posted yet, and each gets one arrival.
            let arrival = unsafe { Arrival::new(slot, 0) };
            opened
                .post_buffer(arrival)
                .map_err(|_| system("posting receive buffers", io::ErrorKind::WouldBlock.into(), ""))?;
        }
        Ok(opened)
    }

    fn open_objects(&mut self) -> Result<(), LrtsError> {
        let info = self.info.as_ptr();
        let mut av = fi_av_attr {
            type_: FI_AV_UNSPEC,
            rx_ctx_bits: 0,
            count: 0,
            ep_per_node: 0,
            name: null(),
            map_addr: null_mut(),
            flags: 0,
        };
        // SAFETY: the structure is the library's own; each object is made from those before it, and stays until
        // `Drop` closes them in the opposite order.
        unsafe {
            let code = self.library.fabric((*info).fabric_attr, &mut self.fabric);
            check(self.library, "opening the fabric", code)?;
            check(self.library, "opening the domain", calls::domain(self.fabric, info, &mut self.domain))?;
            check(
                self.library,
                "opening the address table",
                calls::av_open(self.domain, &mut av, &mut self.av),
            )?;
            if self.open_queue(FI_WAIT_FD) == 0 {
                let mut descriptor = -1;
                let code = calls::wait_descriptor(self.cq, &mut descriptor);
                self.descriptor = (code == 0 && descriptor >= 0).then_some(descriptor);
            } else {
                check(self.library, "opening the completion queue", self.open_queue(FI_WAIT_NONE))?;
            }
            check(
                self.library,
                "opening the endpoint",
                calls::endpoint(self.domain, info, &mut self.endpoint),
            )?;
            let endpoint = self.endpoint.cast::<fid>();
            check(self.library, "binding the address table", calls::bind(endpoint, self.av.cast(), 0))?;
            let both = u64::from(FI_TRANSMIT | FI_RECV);
            check(self.library, "binding the completion queue", calls::bind(endpoint, self.cq.cast(), both))?;
            let mut enabled = calls::enable(endpoint);
            if enabled == -(FI_EBUSY as c_int) {
                // `shm` met the segment of a killed process that had this one's number, and has removed it.
                enabled = calls::enable(endpoint);
            }
            check(self.library, "enabling the endpoint", enabled)
        }
    }

    fn open_queue(&mut self, wait_obj: fi_wait_obj) -> c_int {
        let mut attributes = fi_cq_attr {
            size: RECEIVES + SENDS + TRANSFERS,
            flags: 0,
            format: FI_CQ_FORMAT_MSG,
            wait_obj,
            signaling_vector: 0,
            wait_cond: FI_CQ_COND_NONE,
            wait_set: null_mut(),
        };
        // SAFETY: the domain is open.
        unsafe { calls::cq_open(self.domain, &mut attributes, &mut self.cq) }
    }

    fn context(&self, index: usize) -> *mut c_void {
        self.contexts.address().wrapping_add(index * CONTEXT_BYTES).cast()
    }
}

impl crate::leased::endpoint::Endpoint for Endpoint {
    fn kind(&self) -> String {
        self.info.provider()
    }

    fn label(&self) -> String {
        self.info.provider()
    }

    fn address(&self) -> Result<Vec<u8>, LrtsError> {
        let mut name = vec![0; NAME_BYTES_MAX];
        let mut len = name.len();
        // SAFETY: `len` bytes are there.
        let code = unsafe { calls::getname(self.endpoint, name.as_mut_ptr().cast(), &mut len) };
        check(self.library, "reading the endpoint's name", code)?;
        name.truncate(len);
        Ok(name)
    }

    fn introduce(&mut self, peer: NodeId, name: &[u8], _: u64) -> Result<(), LrtsError> {
        // Providers read as many bytes as their addresses have; a shorter name shall not make them read past it.
        let mut padded = name.to_vec();
        padded.resize(NAME_BYTES_MAX, 0);
        let mut address = 0;
        // SAFETY: the name is longer than any address.
        let code = unsafe { calls::av_insert(self.av, padded.as_ptr().cast(), &mut address) };
        match code {
            1 => {
                self.addresses[peer.index()] = address;
                Ok(())
            }
            code => {
                let cause = if code < 0 { self.library.error_text(-code) } else { "it is no address".into() };
                Err(system("entering the address of a peer", io::Error::other(cause), ""))
            }
        }
    }

    fn connects_on_demand(&self) -> bool {
        false
    }

    fn delivers(&self) -> bool {
        self.info.delivers
    }

    fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    fn post_receive(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        self.post_buffer(arrival)
    }

    fn send(&mut self, target: NodeId, parts: &[&[u8]], announced: bool) -> Result<Option<usize>, Refusal> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        match !announced && len <= self.info.inject_bytes_max() {
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
        // SAFETY: the caller's promise.
        unsafe { self.post_transfer(transfer, registration, slot) }
    }

    fn transfer_bytes_max(&self) -> usize {
        self.info.message_bytes_max()
    }

    fn registers_local(&self) -> bool {
        self.info.mr_mode() & FI_MR_LOCAL != 0
    }

    /// libfabric does not tell; a registration that fails makes room for itself.
    fn registrations_max(&self) -> usize {
        usize::MAX
    }

    fn register(&mut self, place: &Place, access: Access) -> Result<Registration, String> {
        if matches!(place.device, Some(DeviceMemory::DmaBuf { .. })) {
            return Err("registering a dma-buf: memory of devices is not told to libfabric".to_owned());
        }
        self.register_memory(place.address, place.len, access)
    }

    fn deregister(&mut self, registration: &Registration) {
        Self::deregister_memory(registration);
    }

    fn poll(&mut self, events: &mut Vec<Event>, _: bool) {
        self.read_events(events);
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the queue owns it and is open as long as the endpoint lives.
        self.descriptor.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    fn may_sleep(&mut self) -> bool {
        if self.descriptor().is_none() {
            return true;
        }
        // SAFETY: both are open.
        unsafe { calls::trywait(self.fabric, self.cq) == 0 }
    }

    fn shut(&mut self) {
        if !self.endpoint.is_null() {
            // SAFETY: open, and never used again.
            unsafe { calls::close(self.endpoint.cast()) };
            self.endpoint = null_mut();
        }
    }

    fn is_shut(&self) -> bool {
        self.endpoint.is_null()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        crate::leased::endpoint::Endpoint::shut(self);
        for pool in self.pools.take().into_iter().flatten() {
            Self::deregister_memory(&pool);
        }
        let objects: [*mut fid; 4] = [self.cq.cast(), self.av.cast(), self.domain.cast(), self.fabric.cast()];
        for object in objects.into_iter().filter(|object| !object.is_null()) {
            // SAFETY: open, made before those closed already, and never used again.
            unsafe { calls::close(object) };
        }
    }
}

fn check(library: &Library, operation: &'static str, code: c_int) -> Result<(), LrtsError> {
    if code >= 0 {
        return Ok(());
    }
    let text = io::Error::other(library.error_text(-code));
    Err(system(operation, text, "; choose another provider with `+ofi NAME`, `fi_info` lists them"))
}

fn system(operation: &'static str, source: io::Error, hint: &'static str) -> LrtsError {
    LrtsError::System { operation, backend: BACKEND, source: Arc::new(source), hint }
}
