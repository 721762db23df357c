//! Events: reads from the completion queue what the network has done.

#![expect(unsafe_code, reason = "reads the queue of completions and tells operations by their contexts")]

use super::{CONTEXT_BYTES, Endpoint, RECEIVES};
use crate::fabric::pool::Arrival;
use crate::leased::endpoint::{Event, SENDS};
use chare_ofi_sys::abi::{FI_EAGAIN, FI_EAVAIL, FI_ETRUNC, fi_cq_err_entry, fi_cq_msg_entry};
use chare_ofi_sys::calls;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

impl Endpoint {
    /// Reads some events, each once.
    pub(super) fn read_events(&mut self, events: &mut Vec<Event>) {
        const BATCH: usize = 32;
        if self.endpoint.is_null() {
            return;
        }
        let none = fi_cq_msg_entry { op_context: null_mut(), flags: 0, len: 0 };
        let mut entries = [none; BATCH];
        // SAFETY: there is room for as many entries.
        let count = unsafe { calls::cq_read(self.cq, entries.as_mut_ptr(), BATCH) };
        match count {
            count if count > 0 => {
                for entry in &entries[..(count as usize).min(BATCH)] {
                    let event = match self.index_of(entry.op_context) {
                        Some(index) if index < RECEIVES => {
                            // SAFETY: its completion says that it is not posted; it completes once per posting.
                            Event::Received(unsafe { Arrival::new(index, entry.len) })
                        }
                        Some(index) if index < RECEIVES + SENDS => self.sent(index - RECEIVES),
                        Some(index) => Event::Moved(index - RECEIVES - SENDS),
                        None => continue,
                    };
                    events.push(event);
                }
            }
            count if count == -(FI_EAVAIL as isize) => self.read_error(events),
            0 => {}
            count if count == -(FI_EAGAIN as isize) => {}
            count => events.push(Event::Failed(self.library.error_text(-count as c_int))),
        }
    }

    fn sent(&mut self, slot: usize) -> Event {
        self.free_sends.push(slot);
        Event::Sent(slot)
    }

    fn index_of(&self, context: *mut c_void) -> Option<usize> {
        let offset = (context as usize).checked_sub(self.contexts.address() as usize)?;
        (offset < self.contexts.len()).then_some(offset / CONTEXT_BYTES)
    }

    /// Reads why something failed. A message that comes with no sender's name was too long, which no node of the job sends, or it failed.
    fn read_error(&mut self, events: &mut Vec<Event>) {
        let mut entry = fi_cq_err_entry {
            op_context: null_mut(),
            flags: 0,
            len: 0,
            buf: null_mut(),
            data: 0,
            tag: 0,
            olen: 0,
            err: 0,
            prov_errno: 0,
            err_data: null_mut(),
            err_data_size: 0,
        };
        // SAFETY: the entry is there.
        if unsafe { calls::cq_readerr(self.cq, &mut entry) } <= 0 {
            return;
        }
        let cause = self.describe(&entry);
        let event = match self.index_of(entry.op_context) {
            Some(index) if index < RECEIVES => {
                // The buffer is free again, and empty.
                // SAFETY: the error ends its posting.
                events.push(Event::Received(unsafe { Arrival::new(index, 0) }));
                if entry.err == FI_ETRUNC as c_int {
                    return;
                }
                Event::Missing(cause)
            }
            Some(index) if index < RECEIVES + SENDS => {
                self.free_sends.push(index - RECEIVES);
                Event::SendFailed(index - RECEIVES, cause)
            }
            Some(index) => Event::MoveFailed(index - RECEIVES - SENDS, cause),
            // A message that was copied out at once.
            None => Event::Missing(cause),
        };
        events.push(event);
    }

    fn describe(&self, entry: &fi_cq_err_entry) -> String {
        let general = self.library.error_text(entry.err);
        let mut text = [0; 128];
        // SAFETY: the entry was just read, the text has room.
        let detail = unsafe { calls::cq_strerror(self.cq, entry, text.as_mut_ptr(), text.len()) };
        if detail.is_null() {
            return general;
        }
        // SAFETY: not null, therefore a terminated text that stays at least until the next call.
        let detail = unsafe { CStr::from_ptr(detail) }.to_string_lossy();
        if detail.is_empty() || detail == general { general } else { format!("{general} ({detail})") }
    }
}
