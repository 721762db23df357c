//! Queues that all connections of a device share: protection domain, completion queue with its channel, shared receive queue.
//!
//! These objects end in the opposite order of their making, after all queue pairs and registrations.

#![expect(unsafe_code, reason = "makes the device's objects and ends them in their order")]

use super::link::SIGNAL_INTERVAL;
use super::options::BACKEND;
use crate::error::LrtsError;
use crate::leased::endpoint::{SENDS, TRANSFERS};
use rdma_sys::{
    ibv_ack_cq_events, ibv_alloc_pd, ibv_comp_channel, ibv_context, ibv_cq, ibv_create_comp_channel,
    ibv_create_cq, ibv_create_qp, ibv_create_srq, ibv_dealloc_pd, ibv_destroy_comp_channel, ibv_destroy_cq,
    ibv_destroy_qp, ibv_destroy_srq, ibv_device_attr, ibv_get_cq_event, ibv_pd, ibv_poll_cq, ibv_port_attr,
    ibv_qp_cap, ibv_qp_init_attr, ibv_qp_type, ibv_query_device, ibv_query_port, ibv_req_notify_cq, ibv_srq,
    ibv_srq_attr, ibv_srq_init_attr, ibv_wc,
};
use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// Messages that one peer may have sent before this node looked: 1 MiB of buffers, as a copy of 64 KiB takes about as long as a wake-up.
const CREDITS_MAX: usize = 16;

/// Buffers for messages of credits alone, see `link`.
pub(super) const RESERVE: usize = 2;

/// Messages that a queue pair has at most: some more than buffers, as most are copied.
const DEPTH_MAX: usize = 256;

/// Copied messages of at most so many bytes; soft-iWARP takes the last.
const COPIED_BYTES: [u32; 3] = [256, 128, 64];

/// Limits of the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Messages under way to one peer.
    pub(super) credits: usize,
    /// Entries of one queue pair.
    pub(super) depth: usize,
    /// Bytes that a queue pair copies.
    pub(super) copied_bytes_max: usize,
    /// The longest operation.
    pub(super) message_bytes_max: usize,
    /// Registrations of the device.
    pub(super) registrations: usize,
}

/// The shared objects of one device.
pub(super) struct Queues {
    context: NonNull<ibv_context>,
    pub(super) domain: *mut ibv_pd,
    channel: *mut ibv_comp_channel,
    completions: *mut ibv_cq,
    pub(super) receives: *mut ibv_srq,
    limits: Limits,
}

impl Queues {
    /// Makes the objects, for so many peers.
    ///
    /// # Errors
    /// What the device refused, or that it is too small for the job.
    ///
    /// # Safety
    /// The context is an open device's and outlives the value.
    pub(super) unsafe fn open(
        context: NonNull<ibv_context>,
        port: u8,
        peers: usize,
    ) -> Result<Self, LrtsError> {
        let limits =
            Limits { credits: 0, depth: 0, copied_bytes_max: 0, message_bytes_max: 0, registrations: 0 };
        let (domain, channel, completions, receives) = (null_mut(), null_mut(), null_mut(), null_mut());
        let mut made = Self { context, domain, channel, completions, receives, limits };
        made.make(port, peers.max(1))?;
        Ok(made)
    }

    fn make(&mut self, port: u8, peers: usize) -> Result<(), LrtsError> {
        let context = self.context.as_ptr();
        // SAFETY: plain numbers and arrays of them, for which zero is a value.
        let mut device: ibv_device_attr = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut link: ibv_port_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the context is open, both structures are written only.
        let codes =
            unsafe { [ibv_query_device(context, &mut device), ibv_query_port(context, port, &mut link)] };
        if let Some(code) = codes.into_iter().find(|code| *code != 0) {
            return Err(system("asking the device for its limits", io::Error::from_raw_os_error(code)));
        }
        let number = |value: i32| usize::try_from(value).unwrap_or(0);
        let credits = CREDITS_MAX.min((number(device.max_srq_wr) / peers).saturating_sub(RESERVE));
        let receives = peers * (credits + RESERVE);
        let depth = DEPTH_MAX
            .min(number(device.max_qp_wr))
            .min(number(device.max_cqe).saturating_sub(receives) / peers);
        // A queue pair with room for fewer would wait for a signal that never comes.
        if credits < 2 || depth < 2 * SIGNAL_INTERVAL as usize {
            let cause = format!(
                "the device's queues ({} receives, {} completions) are too short for {peers} peers",
                device.max_srq_wr, device.max_cqe
            );
            return Err(LrtsError::NoProvider { backend: BACKEND, cause });
        }
        // SAFETY: each object is made from those before it; all end in `drop`. The queue's attributes are read only.
        unsafe {
            self.domain = made("opening a protection domain", ibv_alloc_pd(context))?;
            self.channel = made("opening a completion channel", ibv_create_comp_channel(context))?;
            let entries = receives + peers * depth;
            let queue = ibv_create_cq(context, entries as i32, null_mut(), self.channel, 0);
            self.completions = made("opening a completion queue", queue)?;
            let attr = ibv_srq_attr { max_wr: receives as u32, max_sge: 1, srq_limit: 0 };
            let mut attributes = ibv_srq_init_attr { srq_context: null_mut(), attr };
            self.receives =
                made("opening a shared receive queue", ibv_create_srq(self.domain, &mut attributes))?;
        }
        rustix::fs::fcntl_setfl(self.descriptor(), OFlags::NONBLOCK)
            .map_err(|errno| system("preparing the completion channel", errno.into()))?;
        self.limits = Limits {
            credits,
            depth,
            copied_bytes_max: 0,
            message_bytes_max: link.max_msg_sz as usize,
            // What is left of it is for local memory and message buffers.
            registrations: number(device.max_mr).saturating_sub(TRANSFERS + SENDS + peers) / 2,
        };
        self.limits.copied_bytes_max = self.probe_copies()? as usize;
        Ok(())
    }

    /// How many bytes a queue pair copies: asked by making one.
    fn probe_copies(&self) -> Result<u32, LrtsError> {
        let mut refused = io::ErrorKind::Unsupported.into();
        for bytes in COPIED_BYTES {
            let mut attributes = self.pair(bytes);
            // SAFETY: domain and queues are open; the pair ends at once.
            unsafe {
                let pair = ibv_create_qp(self.domain, &mut attributes);
                if !pair.is_null() {
                    ibv_destroy_qp(pair);
                    return Ok(bytes);
                }
            }
            refused = io::Error::last_os_error();
        }
        Err(system("making a queue pair", refused))
    }

    /// A queue pair on these queues.
    fn pair(&self, copied_bytes_max: u32) -> ibv_qp_init_attr {
        ibv_qp_init_attr {
            qp_context: null_mut(),
            send_cq: self.completions,
            recv_cq: self.completions,
            srq: self.receives,
            cap: ibv_qp_cap {
                max_send_wr: self.limits.depth as u32,
                max_recv_wr: 0,
                max_send_sge: 1,
                max_recv_sge: 0,
                max_inline_data: copied_bytes_max,
            },
            qp_type: ibv_qp_type::IBV_QPT_RC,
            sq_sig_all: 0,
        }
    }

    /// A queue pair for a connection.
    pub(super) fn connection(&self) -> ibv_qp_init_attr {
        self.pair(self.limits.copied_bytes_max as u32)
    }

    /// The device's limits.
    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Readable when something was completed, after [`Queues::arm`].
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: open, and owned by the channel, which lives as long as the borrow.
        unsafe { BorrowedFd::borrow_raw((*self.channel).fd) }
    }

    /// Reads completions, as many as there is room for, into what follows `read`.
    pub(super) fn poll(&self, read: &mut Vec<ibv_wc>) -> usize {
        let room = read.spare_capacity_mut();
        // SAFETY: there is room for as many entries.
        let count = unsafe { ibv_poll_cq(self.completions, room.len() as i32, room.as_mut_ptr().cast()) };
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: so many were written.
        unsafe { read.set_len(read.len() + count) };
        count
    }

    /// Has the next completion announced. What was completed before may not be: look after this.
    pub(super) fn arm(&self) {
        // SAFETY: both are open; every event that was read is acknowledged.
        unsafe {
            let (mut queue, mut context) = (null_mut(), null_mut());
            while ibv_get_cq_event(self.channel, &mut queue, &mut context) == 0 {
                ibv_ack_cq_events(queue, 1);
            }
            ibv_req_notify_cq(self.completions, 0);
        }
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        // SAFETY: open or null; queue pairs and registrations have ended before.
        unsafe {
            if !self.receives.is_null() {
                ibv_destroy_srq(self.receives);
            }
            if !self.completions.is_null() {
                ibv_destroy_cq(self.completions);
            }
            if !self.channel.is_null() {
                ibv_destroy_comp_channel(self.channel);
            }
            if !self.domain.is_null() {
                ibv_dealloc_pd(self.domain);
            }
        }
    }
}

fn made<T>(operation: &'static str, object: *mut T) -> Result<*mut T, LrtsError> {
    if object.is_null() { Err(system(operation, io::Error::last_os_error())) } else { Ok(object) }
}

pub(super) fn system(operation: &'static str, source: io::Error) -> LrtsError {
    let hint = "; memory of network cards is pinned, so raise `ulimit -l`";
    LrtsError::System { operation, backend: BACKEND, source: Arc::new(source), hint }
}
