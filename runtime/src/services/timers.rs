//! Timers of a PE: tasks that wait for a time are woken by their own PE, between two steps or out of its sleep.

use crate::base::typed_box::TypedBox;
use crate::model::ids::ServiceId;
use crate::pe::{Pe, Service};
use chare_lrts::clock;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Instant;

const ID: ServiceId = ServiceId(10);

pub(crate) const SERVICE: Service = Service {
    state: || TypedBox::new(RefCell::new(Timers::default())),
    poll: wake_due,
    due: |pe| state(pe).borrow().due(),
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "timers")
};

/// A timer: its time, and a number that tells it from others of that time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Timer(Instant, u64);

#[derive(Default)]
struct Timers {
    waiting: BTreeMap<Timer, Waker>,
    set: u64,
}

impl Timers {
    fn due(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|(Timer(due, _), _)| *due)
    }

    fn take_due(&mut self, now: Instant) -> Option<Waker> {
        let first = self.waiting.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

fn state(pe: &Pe) -> &RefCell<Timers> {
    pe.state(ID)
}

/// A new timer, which [`wake_at`] sets.
pub(crate) fn timer(pe: &Pe, due: Instant) -> Timer {
    let mut timers = state(pe).borrow_mut();
    timers.set += 1;
    Timer(due, timers.set)
}

/// Wakes a task when the timer is due. A timer that is set already has this waker from now on.
pub(crate) fn wake_at(pe: &Pe, timer: Timer, waker: &Waker) {
    let before = state(pe).borrow_mut().waiting.insert(timer, waker.clone());
    // After the borrow: wakers may be the user's.
    drop(before);
    pe.attend_to(ID, true);
}

/// Forgets a timer.
pub(crate) fn forget(pe: &Pe, timer: Timer) {
    let forgotten = state(pe).borrow_mut().waiting.remove(&timer);
    drop(forgotten);
    attend(pe);
}

fn attend(pe: &Pe) {
    pe.attend_to(ID, !state(pe).borrow().waiting.is_empty());
}

/// When the next timer of a PE is due.
#[cfg(feature = "sim")]
pub(crate) fn next_due(pe: &Pe) -> Option<Instant> {
    state(pe).borrow().due()
}

/// How many timers of a PE are set.
#[cfg(feature = "sim")]
pub(crate) fn set(pe: &Pe) -> usize {
    state(pe).borrow().waiting.len()
}

/// Wakes the tasks whose time has come; returns whether there were any.
fn wake_due(pe: &Pe) -> bool {
    let now = clock::now();
    let mut woken = false;
    loop {
        let due = state(pe).borrow_mut().take_due(now);
        let Some(waker) = due else { break };
        waker.wake();
        woken = true;
    }
    if woken {
        attend(pe);
    }
    woken
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timers_are_due_in_the_order_of_their_times_and_not_before() {
        let (mut timers, begin) = (Timers::default(), clock::now());
        for (ms, number) in [(7, 1), (5, 2), (5, 3)] {
            timers.waiting.insert(Timer(begin + Duration::from_millis(ms), number), Waker::noop().clone());
        }
        let almost = begin + Duration::from_millis(5) - Duration::from_nanos(1);
        assert!(timers.take_due(almost).is_none());
        let five = timers.due().expect("three wait");
        assert!(timers.take_due(five).is_some() && timers.take_due(five).is_some());
        assert!(timers.take_due(five).is_none(), "the third is due later");
        assert_eq!(timers.due(), Some(begin + Duration::from_millis(7)));
    }
}
