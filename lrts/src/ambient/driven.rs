//! Driven thread: one that carries out steps of many nodes, each at the time and with the dice that its driver sets.
//!
//! 1. A step runs [`within`](Ambient::within) the surroundings of its node. Time stands still in it, but for what is [spent](spend).
//! 2. Each node has a stream of its own of the seed's dice: what one draws does not shift what another one draws.
//! 3. Whoever is stepped has a number, which is who calls: the PEs of a node are as different as threads.

use super::common::Common;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

thread_local! {
    /// The surroundings of the step that runs on this thread.
    static CURRENT: RefCell<Option<Rc<Ambient>>> = const { RefCell::new(None) };
}

/// Surroundings of a node's steps: the time, its dice, and who is stepped.
///
/// ```
/// use chare_lrts::{Ambient, clock, dice};
///
/// let ambient = Ambient::new(7, 0);
/// let (time, drawn) = ambient.within(1_500, 3, || (clock::now_ns(), dice::draw()));
/// assert_eq!(time, 1_500);
/// assert_eq!(drawn, Ambient::new(7, 0).within(0, 3, dice::draw), "the seed decides");
/// ```
pub struct Ambient {
    now_ns: Cell<u64>,
    caller: Cell<u64>,
    dice: RefCell<ChaCha8Rng>,
    common: Rc<Common>,
}

impl Ambient {
    /// Those of the node that has this stream of the seed's dice.
    pub fn new(seed: u64, stream: u64) -> Rc<Self> {
        Self::of_job(seed, stream, &Rc::default())
    }

    /// The same, of a node that has this in common with others.
    pub fn of_job(seed: u64, stream: u64, common: &Rc<Common>) -> Rc<Self> {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(stream);
        let (now_ns, caller) = (Cell::new(0), Cell::new(0));
        Rc::new(Self { now_ns, caller, dice: RefCell::new(dice), common: Rc::clone(common) })
    }

    /// Runs `body` at this time, as this caller; what surrounded the thread before does so again afterwards, also when `body` panics.
    pub fn within<R>(self: &Rc<Self>, now_ns: u64, caller: u64, body: impl FnOnce() -> R) -> R {
        self.within_until(now_ns, caller, body).0
    }

    /// The same; returns the time at the end of `body`, too: this one, and what `body` has spent.
    pub fn within_until<R>(self: &Rc<Self>, now_ns: u64, caller: u64, body: impl FnOnce() -> R) -> (R, u64) {
        /// The surroundings before, and the time and caller that these had.
        struct Restore<'a>(Option<Rc<Ambient>>, &'a Ambient, (u64, u64));
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                let Self(before, ambient, (now_ns, caller)) = self;
                ambient.now_ns.set(*now_ns);
                ambient.caller.set(*caller);
                CURRENT.set(before.take());
            }
        }
        let before = (self.now_ns.replace(now_ns), self.caller.replace(caller));
        let _restore = Restore(CURRENT.replace(Some(Rc::clone(self))), self, before);
        let result = body();
        (result, self.now_ns.get())
    }
}

/// Asks the surroundings of the step that runs, if this thread is driven.
#[inline]
fn ask<R>(question: impl FnOnce(&Ambient) -> R) -> Option<R> {
    // A thread that ends is driven by nobody any more.
    CURRENT.try_with(|current| current.borrow().as_deref().map(question)).ok().flatten()
}

#[inline]
pub(crate) fn now_ns() -> Option<u64> {
    ask(|ambient| ambient.now_ns.get())
}

#[inline]
pub(super) fn caller() -> Option<u64> {
    ask(|ambient| ambient.caller.get())
}

#[inline]
pub(super) fn draw() -> Option<u64> {
    ask(|ambient| ambient.dice.borrow_mut().next_u64())
}

pub(super) fn refuses() -> bool {
    let draw = |ambient: &Ambient| ambient.dice.borrow_mut().next_u64();
    ask(|ambient| ambient.common.refuses(ambient.now_ns.get(), || draw(ambient))).unwrap_or(false)
}

pub(super) fn extreme(knob: u64, extremes: usize) -> Option<usize> {
    ask(|ambient| ambient.common.extreme(knob, extremes)).flatten()
}

pub(super) fn pass(mark: &'static str) {
    ask(|ambient| ambient.common.pass(mark));
}

/// Sets the clock of the step that runs to `until`, unless it is later already; returns whether this thread is driven.
pub(crate) fn spend_until(until: u64) -> bool {
    ask(|ambient| ambient.now_ns.update(|now_ns| now_ns.max(until))).is_some()
}

/// Spends time of the step that runs; returns whether this thread is driven.
pub(super) fn spend(time: Duration) -> bool {
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    now_ns().is_some_and(|now_ns| spend_until(now_ns.saturating_add(time_ns)))
}

/// The time of a driven step as an instant: so long after the first one that anybody asked for in this process.
pub(super) fn instant(now_ns: u64) -> Instant {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "an instant has to be of the machine's clock; which one, nobody sees"
    )]
    let begin = BEGIN.get_or_init(Instant::now);
    *begin + Duration::from_nanos(now_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient::caller::{Caller, may_block};
    use crate::ambient::{clock, dice};

    #[test]
    fn a_step_has_the_time_dice_and_caller_of_its_node_and_the_thread_has_its_own_again() {
        let (one, other) = (Ambient::new(1, 0), Ambient::new(1, 1));
        assert!(may_block());
        let (drawn, then) = one.within(10, 5, || {
            let drawn = dice::draw();
            let inner = other.within(25, 6, || (dice::draw(), clock::now_ns(), Caller::current()));
            assert_eq!((inner.1, inner.2), (25, Caller::Driven(6)));
            assert_ne!(inner.0, drawn, "a stream of its own");
            one.within(12, 7, || assert_eq!(clock::now_ns(), 12));
            assert_eq!((clock::now_ns(), Caller::current(), may_block()), (10, Caller::Driven(5), false));
            (drawn, clock::now())
        });
        assert_eq!(one.within(35, 5, || clock::since(then)), Duration::from_nanos(25));
        assert_eq!(one.within(5, 5, || clock::since(then)), Duration::ZERO);
        assert_eq!(Ambient::new(1, 0).within(0, 5, dice::draw), drawn);
        assert!(matches!(Caller::current(), Caller::Thread(_)));
    }

    #[test]
    fn what_a_step_spends_moves_its_own_clock() {
        let ambient = Ambient::new(1, 0);
        let spend = || {
            let begin = clock::now();
            clock::spend(Duration::from_nanos(40));
            spend_until(20);
            clock::since(begin)
        };
        assert_eq!(ambient.within_until(10, 0, spend), (Duration::from_nanos(40), 50));
        assert_eq!(ambient.within_until(10, 0, || spend_until(75)), (true, 75));
        assert_eq!(ambient.within(0, 0, clock::now_ns), 0);
        assert!(!spend_until(10), "nobody drives this thread");
    }

    #[test]
    fn surroundings_end_with_a_panic() {
        let ambient = Ambient::new(1, 0);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ambient.within(0, 0, || panic!("a step's"))
        }));
        assert!(ended.is_err() && may_block());
    }
}
