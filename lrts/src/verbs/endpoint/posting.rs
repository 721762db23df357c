//! Posting: messages, receives and one-sided operations for queue pairs to do.
//!
//! The name of a receive is [`RECEIVE`] and its buffer; that of any other work the peer, and its number among the peer's work.

#![expect(unsafe_code, reason = "hands the device addresses of buffers and operations")]

use super::super::link::{ConnectionState, Work};
use super::super::queue::RESERVE;
use super::{Endpoint, Key};
use crate::fabric::pool::Arrival;
use crate::ids::NodeId;
use crate::leased::endpoint::{Direction, Refusal, Registration, Transfer};
use crate::leased::wire::Window;
use rdma_sys::{
    ibv_mr, ibv_post_send, ibv_post_srq_recv, ibv_recv_wr, ibv_send_flags, ibv_send_wr, ibv_sge,
    ibv_wr_opcode, rdma_t,
};
use std::io;
use std::ptr::null_mut;

/// Marks the names of receives.
pub(super) const RECEIVE: u64 = 1 << 63;

/// The name of work for a peer's queue pair.
fn name(node: NodeId, number: u32) -> u64 {
    u64::from(node.0) << 32 | u64::from(number)
}

/// The work that [`name`] named.
pub(super) fn named(name: u64) -> (NodeId, u32) {
    (NodeId((name >> 32) as u32), name as u32)
}

/// Work for a queue pair.
struct Order {
    work: Work,
    opcode: ibv_wr_opcode::Type,
    memory: ibv_sge,
    remote: rdma_t,
}

impl Endpoint {
    /// Gives a buffer (back) to the device.
    ///
    /// # Errors
    /// The arrival, to be tried again.
    pub(super) fn post_buffer(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        let slot = arrival.slot();
        let Some(key) = self.slices[slot / self.slice()].as_ref().map(Key::local).filter(|_| !self.is_shut)
        else {
            return Err(arrival);
        };
        let addr = self.incoming.buffer(slot) as u64;
        let mut memory = ibv_sge { addr, length: super::RECEIVE_BYTES as u32, lkey: key };
        let mut order =
            ibv_recv_wr { wr_id: RECEIVE | slot as u64, next: null_mut(), sg_list: &mut memory, num_sge: 1 };
        let mut refused = null_mut();
        // SAFETY: the arrival proves that nobody else uses the buffer, and ends here; the pool outlives the queue's use of
        // it, since the queue ends with the last handle of the device's objects, before which nothing is read.
        let code = unsafe { ibv_post_srq_recv(self.queues.receives, &mut order, &mut refused) };
        if code == 0 { Ok(()) } else { Err(arrival) }
    }

    /// Whether a peer may be sent a message now.
    fn has_room(&mut self, target: NodeId, needs_credit: bool) -> bool {
        let depth = self.queues.limits().depth;
        self.link(target)
            .is_some_and(|link| link.len() + RESERVE < depth && (!needs_credit || link.has_credit()))
    }

    /// Sends a short message; the bytes are copied out before the call returns.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn send_copied(&mut self, target: NodeId, parts: &[&[u8]]) -> Result<(), Refusal> {
        if !self.has_room(target, true) {
            return Err(Refusal::Full);
        }
        let owed = self.owed(target);
        self.scratch.clear();
        parts.iter().for_each(|part| self.scratch.extend_from_slice(part));
        self.scratch.push(owed);
        self.post_copied(target)?;
        self.spend(target, owed);
        Ok(())
    }

    fn post_copied(&mut self, target: NodeId) -> Result<(), Refusal> {
        let memory =
            ibv_sge { addr: self.scratch.as_ptr() as u64, length: self.scratch.len() as u32, lkey: 0 };
        self.post(target, Order::message(Work::Copied, memory))
    }

    /// Sends a message from a buffer of the pool, whose slot an event will name.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn send_buffered(&mut self, target: NodeId, parts: &[&[u8]]) -> Result<usize, Refusal> {
        if !self.has_room(target, true) {
            return Err(Refusal::Full);
        }
        let slot = self.free_sends.pop().ok_or(Refusal::Full)?;
        let owed = self.owed(target);
        let trailer = [owed];
        let parts = [parts, &[&trailer]].concat();
        // SAFETY: the slot was free.
        let len = unsafe { self.outgoing.write(slot, &parts) };
        let lkey = self.outgoing_key.as_ref().map_or(0, Key::local);
        let memory = ibv_sge { addr: self.outgoing.buffer(slot) as u64, length: len as u32, lkey };
        let posted = self.post(target, Order::message(Work::Sent(slot), memory));
        posted.inspect_err(|_| self.free_sends.push(slot))?;
        self.spend(target, owed);
        Ok(slot)
    }

    fn owed(&mut self, target: NodeId) -> u8 {
        self.link(target).map_or(0, |link| link.owed())
    }

    fn spend(&mut self, target: NodeId, owed: u8) {
        if let Some(link) = self.link(target) {
            link.spent(owed);
        }
    }

    /// Tells a peer of its credits, if it is owed half of them.
    pub(super) fn return_credits(&mut self, node: NodeId) {
        let (half, depth) = (self.queues.limits().credits / 2, self.queues.limits().depth);
        let Some(link) = self.link(node) else { return };
        let owed = link.owed();
        if usize::from(owed) < half || !matches!(link.state, ConnectionState::Open(_)) {
            return;
        }
        if link.len() >= depth {
            return self.creditors.push(node);
        }
        if self.post_credits(node, owed)
            && let Some(link) = self.link(node)
        {
            link.returned(owed);
        }
    }

    /// Says the first word on a connection: no credits, which a fresh queue pair has room for.
    pub(super) fn say_word(&mut self, node: NodeId) {
        self.post_credits(node, 0);
    }

    /// Sends a message of nothing but credits. A broken queue pair is heard of by its completions.
    fn post_credits(&mut self, node: NodeId, credits: u8) -> bool {
        self.scratch.clear();
        self.scratch.push(credits);
        self.post_copied(node).is_ok()
    }

    /// Starts a one-sided operation.
    ///
    /// # Errors
    /// [`Refusal`].
    ///
    /// # Safety
    /// The contract's.
    pub(super) unsafe fn post_transfer(
        &mut self,
        transfer: &Transfer,
        registration: Option<&Registration>,
        slot: usize,
    ) -> Result<(), Refusal> {
        if !self.has_room(transfer.peer, false) {
            return Err(Refusal::Full);
        }
        // SAFETY: made by `register`, and not yet given back.
        let lkey =
            registration.map_or(0, |registration| unsafe { (*registration.object.cast::<ibv_mr>()).lkey });
        let Window { address, key } = transfer.remote;
        let opcode = match transfer.direction {
            Direction::Read => ibv_wr_opcode::IBV_WR_RDMA_READ,
            Direction::Write => ibv_wr_opcode::IBV_WR_RDMA_WRITE,
        };
        let memory = ibv_sge { addr: transfer.local as u64, length: transfer.len as u32, lkey };
        let remote = rdma_t { remote_addr: address, rkey: key as u32 };
        self.post(transfer.peer, Order { work: Work::Moved(slot), opcode, memory, remote })
    }

    fn post(&mut self, node: NodeId, mut order: Order) -> Result<(), Refusal> {
        let Some(link) = self.link(node) else { return Err(Refusal::Full) };
        let ConnectionState::Open(identifier) = &link.state else { return Err(Refusal::Full) };
        let mut flags = 0;
        if order.work == Work::Copied {
            flags |= ibv_send_flags::IBV_SEND_INLINE.0;
        }
        if link.must_signal(order.work) {
            flags |= ibv_send_flags::IBV_SEND_SIGNALED.0;
        }
        // SAFETY: numbers, pointers and unions of such, for which zero is a value.
        let mut request: ibv_send_wr = unsafe { std::mem::zeroed() };
        request.wr_id = name(node, link.next());
        request.sg_list = &raw mut order.memory;
        request.num_sge = 1;
        request.opcode = order.opcode;
        request.send_flags = flags;
        request.wr.rdma = order.remote;
        let mut refused = null_mut();
        // SAFETY: the pair is the identifier's and open. What is copied is needed during the call only, other memory is a buffer
        // of the pool that is left alone until its event, or the caller's promise.
        match unsafe { ibv_post_send(identifier.queue_pair(), &mut request, &mut refused) } {
            0 => {
                link.posted(order.work);
                Ok(())
            }
            libc::ENOMEM => Err(Refusal::Full),
            code => Err(Refusal::Broken(io::Error::from_raw_os_error(code).to_string())),
        }
    }
}

impl Order {
    fn message(work: Work, memory: ibv_sge) -> Self {
        let remote = rdma_t { remote_addr: 0, rkey: 0 };
        Self { work, opcode: ibv_wr_opcode::IBV_WR_SEND, memory, remote }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_work_are_no_names_of_receives() {
        for (node, number) in [(0, 0), (1, u32::MAX), (i32::MAX as u32, 7)] {
            let name = name(NodeId(node), number);
            assert_eq!(name & RECEIVE, 0);
            assert_eq!(named(name), (NodeId(node), number));
        }
    }
}
