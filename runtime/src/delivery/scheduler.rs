//! Scheduler of a PE: takes one piece of work at a time, from its queue, its mailbox, the network, or a service.
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue -> **delivery/scheduler** -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! It knows of no thread and of no waiting: whoever runs a PE takes step after step, and does what [`super::idle`] says before it lets the
//! PE rest. [`super::thread`] does so with a thread.

use super::{dispatch, polling};
use crate::pe::queued::Queued;
use crate::pe::run_queue::RunQueue;
use crate::pe::{Pe, network_interval};
use crate::transfer::device::launch_steps_if_due;
use crate::transfer::take::remote_memory::send_releases;
use std::rc::Rc;

chare_lrts::knob! {
    /// Largest number of messages taken at once from the mailbox and the queues of other PEs, beside those that are to be sorted, so that a
    /// flood neither keeps a PE from its own queue nor makes that queue longer than the cache.
    fn mail_batch() -> usize = 64, or [1, 4_096];
}
/// Steps between two looks at the mailbox and those queues, by a PE that has more than a batch to do.
const MAIL_INTERVAL: u32 = 64;
chare_lrts::knob! {
    /// Steps between two looks by a PE that has less to do: a look takes a twentieth of a call.
    fn mail_look_interval() -> u32 = 8, or [1, 64];
}

/// Does one piece of work if there is any; returns whether it did anything. Called with the PE entered. `SEEN`: the PE has a timeline, or
/// takes the times of entries.
#[inline]
pub(super) fn step<const SEEN: bool>(pe: &Rc<Pe>) -> bool {
    if !pe.node.is_open() {
        return poll(pe);
    }
    let steps = pe.begin_step();
    let is_due = steps.is_multiple_of(network_interval());
    let polled = is_due && poll(pe);
    let mut queued = match next(pe, steps) {
        Some(queued) => queued,
        None if polled || (!is_due && poll(pe)) => return true,
        // Collected messages leave before the PE rests: nothing more comes to join them now.
        None if settle_services(pe) => return true,
        None => match pe.queue.borrow_mut().pop_idle() {
            Some(queued) => queued,
            None => return false,
        },
    };
    dispatch::process::<SEEN>(pe, &mut queued);
    pe.queue.borrow_mut().give_back(queued);
    true
}

/// The next piece of work: in the queue, or left by other threads.
#[inline(always)]
fn next(pe: &Pe, steps: u32) -> Option<Box<Queued>> {
    let mut queue = pe.queue.borrow_mut();
    let looks = queue.is_empty() || steps.is_multiple_of(mail_look_interval());
    // Messages that wait in front of the queue cost nothing: a flood that is moved in would push the rest out of the cache.
    if looks && has_mail(pe) && (queue.len() < mail_batch() || steps.is_multiple_of(MAIL_INTERVAL)) {
        take_mail(pe, &mut queue);
    }
    queue.pop()
}

/// Queues the messages that other threads left for this PE. Out of line: steps that find none need not make room for it.
#[inline(never)]
fn take_mail(pe: &Pe, queue: &mut RunQueue<Queued>) {
    let (places, ways) = (&mut *pe.places.borrow_mut(), &mut *pe.ways_in.borrow_mut());
    let of_each = (mail_batch() / ways.len().max(1)).max(1);
    for way in ways {
        way.take(of_each, |received| queue.push_received(places, received));
    }
    if !pe.mailbox.is_empty() {
        pe.mailbox.take(mail_batch(), |work| queue.push_arrived_work(work));
    }
}

/// Whether there is work to run: left by other threads, or in the queue, where polls put the messages that arrive, and where waking a
/// task of this PE puts the task.
pub(super) fn has_work(pe: &Pe) -> bool {
    pe.node.is_open() && (pe.queue.borrow().has_any() || has_mail(pe))
}

#[inline]
fn has_mail(pe: &Pe) -> bool {
    pe.ways_in.borrow().iter().any(|way| !way.is_empty()) || !pe.mailbox.is_empty()
}

/// Sends due releases, launches due steps on devices, and polls services and the network. Returns whether anything happened.
pub(super) fn poll(pe: &Rc<Pe>) -> bool {
    send_releases(pe);
    let launched = launch_steps_if_due(pe, has_work);
    let polled = pe.attended().fold(false, |did, service| {
        let _span = pe.span_if_it_sends(service.name);
        pe.poll_by(service, service.poll) | did
    });
    launched | polled | polling::look(&pe.node, Some(pe))
}

/// Lets services finish the work that they have begun, before the PE rests; returns whether they did anything.
pub(super) fn settle_services(pe: &Pe) -> bool {
    pe.attended().fold(false, |did, service| {
        let _span = pe.span_if_it_sends(service.name);
        pe.poll_by(service, service.before_rest) | did
    })
}
