//! Completions: reads what became of the work of queue pairs.

#![expect(unsafe_code, reason = "reads completions and gives out the buffers they name")]

use super::super::link::{ConnectionState, Work};
use super::Endpoint;
use super::posting::{RECEIVE, named};
use crate::fabric::pool::Arrival;
use crate::ids::NodeId;
use crate::leased::endpoint::Event;
use rdma_sys::{ibv_wc, ibv_wc_status, ibv_wc_status_str};
use std::ffi::CStr;

/// Completions that are read in one go.
const BATCH: usize = 32;

impl Endpoint {
    /// Reads some completions; all, if some connection has ended, so that what it carried before is heard.
    pub(super) fn read_completions(&mut self, events: &mut Vec<Event>, ended: &mut Vec<(NodeId, String)>) {
        let mut read = std::mem::take(&mut self.unread);
        read.reserve(BATCH);
        loop {
            let count = self.queues.poll(&mut read);
            for one in read.drain(..) {
                match one.wr_id & RECEIVE != 0 {
                    true => self.received(&one, events, ended),
                    false => self.worked(&one, events, ended),
                }
            }
            if count == 0 || ended.is_empty() {
                break;
            }
        }
        self.unread = read;
    }

    fn received(&mut self, one: &ibv_wc, events: &mut Vec<Event>, ended: &mut Vec<(NodeId, String)>) {
        let slot = (one.wr_id & !RECEIVE) as usize;
        let sender = self.pairs.get(&one.qp_num).copied();
        let failed = one.status != ibv_wc_status::IBV_WC_SUCCESS;
        let len = if failed { 0 } else { one.byte_len as usize };
        // SAFETY: its completion says that it is not posted; it completes once per posting.
        let arrival = unsafe { Arrival::new(slot, len) };
        let returned = self.incoming.bytes(&arrival).last().copied();
        let (Some(node), Some(returned)) = (sender, returned) else {
            // Work of a connection that is no more, or that fails in the middle of it.
            if let Some(node) = sender.filter(|_| failed) {
                note_end(ended, node, cause_of(one, node, ended));
            }
            return self.post_again(arrival);
        };
        if self.link(node).is_some_and(|link| matches!(link.state, ConnectionState::Granting(_))) {
            self.open_link(node, events);
        }
        let max = self.queues.limits().credits as u32;
        if let Some(link) = self.link(node)
            && !link.earn(returned, max)
        {
            ended.push((node, "it returned more buffers than it has".to_owned()));
        }
        if returned > 0 {
            events.push(Event::Room);
        }
        if len == 1 {
            return self.post_again(arrival);
        }
        self.holders[slot] = Some(node);
        // SAFETY: the same buffer; the first arrival ends here.
        events.push(Event::Received(unsafe { Arrival::new(slot, len - 1) }));
    }

    /// Gives back a buffer that cost no credit.
    fn post_again(&mut self, arrival: Arrival) {
        // A queue that held it before has room for it; an endpoint that is shut needs it no more.
        let _ = self.post_buffer(arrival);
    }

    fn worked(&mut self, one: &ibv_wc, events: &mut Vec<Event>, ended: &mut Vec<(NodeId, String)>) {
        let (node, number) = named(one.wr_id);
        let cause = (one.status != ibv_wc_status::IBV_WC_SUCCESS).then(|| cause_of(one, node, ended));
        let Some(link) = self.link(node) else { return };
        let Some(work) = link.over(number) else { return };
        events.push(Event::Room);
        let Some(cause) = cause else { return events.extend(self.done(work)) };
        events.extend(self.failed(work, &cause));
        note_end(ended, node, cause);
    }

    fn done(&mut self, work: Work) -> Option<Event> {
        match work {
            Work::Copied => None,
            Work::Sent(slot) => {
                self.free_sends.push(slot);
                Some(Event::Sent(slot))
            }
            Work::Moved(slot) => Some(Event::Moved(slot)),
        }
    }

    /// The event of work that failed, or that was given up with its queue pair.
    pub(super) fn failed(&mut self, work: Work, cause: &str) -> Option<Event> {
        match work {
            Work::Copied => None,
            Work::Sent(slot) => {
                self.free_sends.push(slot);
                Some(Event::SendFailed(slot, cause.to_owned()))
            }
            Work::Moved(slot) => Some(Event::MoveFailed(slot, cause.to_owned())),
        }
    }
}

/// A connection ends for a reason, unless one is known.
fn note_end(ended: &mut Vec<(NodeId, String)>, node: NodeId, cause: String) {
    if ended.iter().all(|(known, _)| *known != node) {
        ended.push((node, cause));
    }
}

/// Why work failed. The first cause is the true one; later work was given up because of it.
fn cause_of(one: &ibv_wc, node: NodeId, ended: &[(NodeId, String)]) -> String {
    let first = ended.iter().find(|(known, _)| *known == node);
    first.map_or_else(
        || {
            // SAFETY: a static text for any number.
            unsafe { CStr::from_ptr(ibv_wc_status_str(one.status)) }.to_string_lossy().into_owned()
        },
        |(_, cause)| cause.clone(),
    )
}
