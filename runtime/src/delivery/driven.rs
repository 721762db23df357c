//! Driven PE: its steps one at a time, for whoever runs many PEs on one thread. `**delivery/driven** -> delivery/scheduler, delivery/idle`
//!
//! What [`super::thread`] does with a thread, less what takes time: nothing spins, yields or sleeps here, and no PE watches the network. A PE
//! that rests is announced as one that a waker wakes.

use super::idle::before_sleep;
use super::scheduler::step;
use super::{polling, thread};
use crate::base::panics;
use crate::pe::Pe;
use chare_lrts::{Lrts, clock};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

/// The outcome of a PE's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// It did something.
    Did,
    /// It found nothing to do, and may not rest.
    Waits,
    /// It rests until it is woken or a frame arrives, and for no longer than this.
    Rests(Option<Duration>),
    /// The job is over on its node, and the PE has been cleared.
    Over,
}

/// Says how a PE is woken, and runs what is to run before everything else.
pub(crate) fn begin(pe: &Rc<Pe>, waker: Waker, first: impl FnOnce()) {
    pe.mailbox.attach(waker);
    pe.enter(|| panics::catch(first).unwrap_or_else(|cause| thread::fail(pe, cause)));
}

/// Lets a PE do one piece of work, if there is any. The PE has rested for so long.
pub(crate) fn turn(pe: &Rc<Pe>, rested: Duration) -> Turn {
    pe.mailbox.end_rest();
    pe.enter(|| {
        if pe.node.has_ended() {
            thread::clear(pe);
            return Turn::Over;
        }
        panics::catch(|| take_turn(pe, rested)).unwrap_or_else(|cause| {
            thread::fail(pe, cause);
            Turn::Did
        })
    })
}

/// Clears a PE that has no more turns although it was not over.
pub(crate) fn end(pe: &Rc<Pe>) {
    pe.enter(|| thread::clear(pe));
}

fn take_turn(pe: &Rc<Pe>, rested: Duration) -> Turn {
    let did = if pe.is_seen() { step::<true>(pe) } else { step::<false>(pe) };
    if did || polling::help(&pe.node) {
        return Turn::Did;
    }
    pe.note_rest();
    let rest = before_sleep(pe, rested);
    if pe.mailbox.begin_rest(|| rest.stays_awake(pe) || !pe.node.network.arm()) {
        Turn::Rests(rest.until.map(|until| until.saturating_duration_since(clock::now())))
    } else {
        Turn::Waits
    }
}
