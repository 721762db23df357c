//! Posting: messages, receives and one-sided operations for the network to do.

#![expect(unsafe_code, reason = "hands the network addresses of buffers and operations")]

use super::{Endpoint, RECEIVES};
use crate::fabric::pool::Arrival;
use crate::ids::NodeId;
use crate::leased::endpoint::{Direction, Refusal, Registration, SENDS, Transfer};
use crate::leased::wire::{BUFFER_BYTES, Window};
use chare_ofi_sys::abi::{FI_COMPLETION, FI_DELIVERY_COMPLETE, FI_EAGAIN, fi_msg_rma, fi_rma_iov, iovec};
use chare_ofi_sys::calls;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

impl Endpoint {
    fn refusal(&self, code: isize) -> Result<(), Refusal> {
        match code {
            0 => Ok(()),
            code if code == -(FI_EAGAIN as isize) => Err(Refusal::Full),
            code => Err(Refusal::Broken(self.library.error_text(-code as c_int))),
        }
    }

    fn is_usable(&self) -> Result<(), Refusal> {
        if self.endpoint.is_null() {
            Err(Refusal::Broken("the endpoint is closed".to_owned()))
        } else {
            Ok(())
        }
    }

    fn pool_desc(&self, index: usize) -> *mut c_void {
        self.pools.as_ref().map_or(null_mut(), |pools| Self::desc(&pools[index]))
    }

    /// Gives a buffer (back) to the network.
    ///
    /// # Errors
    /// The arrival, to be tried again.
    pub(super) fn post_buffer(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        if self.endpoint.is_null() {
            return Err(arrival);
        }
        let slot = arrival.slot();
        let (buffer, desc) = (self.incoming.buffer(slot), self.pool_desc(0));
        // SAFETY: the arrival proves that nobody else uses the buffer, and ends here; the pool outlives the
        // endpoint's use of it, since `Drop` closes the endpoint first.
        let code =
            unsafe { calls::recv(self.endpoint, buffer.cast(), BUFFER_BYTES, desc, self.context(slot)) };
        if code == 0 { Ok(()) } else { Err(arrival) }
    }

    /// Sends a small message; the bytes are copied out before the call returns, and no event follows.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn send_copied(&mut self, target: NodeId, parts: &[&[u8]]) -> Result<(), Refusal> {
        self.is_usable()?;
        self.scratch.clear();
        parts.iter().for_each(|part| self.scratch.extend_from_slice(part));
        let bytes = &self.scratch;
        let address = self.addresses[target.index()];
        // SAFETY: the bytes are needed during the call only.
        let code = unsafe { calls::inject(self.endpoint, bytes.as_ptr().cast(), bytes.len(), address) };
        self.refusal(code)
    }

    /// Sends a message from a buffer of the pool, whose slot an event will name.
    ///
    /// # Errors
    /// [`Refusal`].
    ///
    /// # Panics
    /// If the message is longer than a buffer.
    pub(super) fn send_buffered(&mut self, target: NodeId, parts: &[&[u8]]) -> Result<usize, Refusal> {
        self.is_usable()?;
        let slot = self.free_sends.pop().ok_or(Refusal::Full)?;
        // SAFETY: the slot was free.
        let len = unsafe { self.outgoing.write(slot, parts) };
        let (buffer, desc) = (self.outgoing.buffer(slot), self.pool_desc(1));
        let (context, address) = (self.context(RECEIVES + slot), self.addresses[target.index()]);
        // SAFETY: the buffer stays untouched until its event makes the slot free.
        let code = unsafe { calls::send(self.endpoint, buffer.cast(), len, desc, address, context) };
        self.refusal(code).inspect_err(|_| self.free_sends.push(slot)).map(|()| slot)
    }

    /// Starts a one-sided operation; an event will name `slot`.
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
        self.is_usable()?;
        let local = iovec { iov_base: transfer.local.cast(), iov_len: transfer.len };
        let Window { address, key } = transfer.remote;
        let remote = fi_rma_iov { addr: address, len: transfer.len, key };
        let mut desc = registration.map_or(null_mut(), Self::desc);
        let message = fi_msg_rma {
            msg_iov: &raw const local,
            desc: &raw mut desc,
            iov_count: 1,
            addr: self.addresses[transfer.peer.index()],
            rma_iov: &raw const remote,
            rma_iov_count: 1,
            context: self.context(RECEIVES + SENDS + slot),
            data: 0,
        };
        // SAFETY: the vectors are needed during the call only, the memory is the caller's promise.
        let code = unsafe {
            match transfer.direction {
                Direction::Read => calls::readmsg(self.endpoint, &message, u64::from(FI_COMPLETION)),
                Direction::Write => {
                    let flags = u64::from(FI_COMPLETION | FI_DELIVERY_COMPLETE);
                    calls::writemsg(self.endpoint, &message, flags)
                }
            }
        };
        self.refusal(code)
    }
}
