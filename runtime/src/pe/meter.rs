//! Meter of one PE: the time that each element's entries have taken since a balancer asked last. Only where there is a balancer.
//!
//! 1. Time is time on the wall, less what the thread waited for a processor meanwhile: where PEs share processors, an entry in whose middle
//!    another thread ran took no longer for that. Time in which an entry sleeps, or waits for a device, is its own.
//! 2. Reading the clock takes 20 ns, asking the kernel how long the thread has waited takes 900. So it is asked only after an entry in which
//!    another thread can have run at all, which has taken as long as [`LONG`]; and once before the first entry after a rest, for a thread
//!    that wakes up waits, too.
//!    What a thread waits between two entries without a rest goes off the next such entry: it is hardly ever there.
//! 3. Only elements have times of their own. All else counts together: singletons do not move, and may be many.

use crate::model::ids::Target;
use chare_lrts::{Waiting, clock};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// An entry that takes less has not been interrupted: a thread that gets a processor has it for longer. An entry that takes as long is
/// not made slower by more than 2 % if the kernel is asked.
const LONG: Duration = Duration::from_micros(50);

/// The times of the elements on one PE, and, without an element, of everything else that ran as an entry or a task does.
pub(crate) struct Meter {
    times: RefCell<FxHashMap<Option<Target>, Duration>>,
    waiting: Waiting,
    /// How long the thread had waited when the kernel was asked last; `None` after a rest.
    waited: Cell<Option<Duration>>,
}

impl Meter {
    /// A meter of the thread that calls.
    pub(super) fn new() -> Self {
        Self { times: RefCell::default(), waiting: Waiting::of_this_thread(), waited: Cell::new(None) }
    }

    /// Runs `body`, which is this chare's, and adds its time. Two readings of the clock and a look into a table.
    pub(super) fn measure<R>(&self, chare: Option<Target>, body: impl FnOnce() -> R) -> R {
        let before = self.waited.get().unwrap_or_else(|| self.ask());
        let since = clock::now();
        let result = body();
        let wall = clock::since(since);
        let time = if wall < LONG { wall } else { own_time(wall, self.ask().saturating_sub(before)) };
        self.enter(chare.filter(|chare| matches!(chare, Target::Member(..))), time);
        result
    }

    fn ask(&self) -> Duration {
        let waited = self.waiting.so_far();
        self.waited.set(Some(waited));
        waited
    }

    /// Takes note that the PE rests.
    pub(super) fn rest(&self) {
        self.waited.set(None);
    }

    /// Takes the times out, and begins anew.
    pub(crate) fn take(&self) -> FxHashMap<Option<Target>, Duration> {
        self.times.take()
    }

    /// Takes out the time of an element that leaves.
    pub(crate) fn take_one(&self, element: Target) -> Duration {
        self.times.borrow_mut().remove(&Some(element)).unwrap_or_default()
    }

    /// Adds time that an element has taken elsewhere, as another node says.
    pub(crate) fn add(&self, element: Target, time: Duration) {
        self.enter(Some(element), time);
    }

    fn enter(&self, element: Option<Target>, time: Duration) {
        let mut times = self.times.borrow_mut();
        let sum = times.entry(element).or_default();
        *sum = sum.saturating_add(time);
    }
}

/// The time of an entry itself: it cannot have waited for longer than it took.
fn own_time(wall: Duration, waited: Duration) -> Duration {
    wall.saturating_sub(waited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{ChareId, CollectionId, Index, PeId};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use rustix::time::{ClockId, clock_gettime};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn element() -> Target {
        Target::Member(CollectionId { creator: PeId(0), serial: 0 }, Index::from(7_u64))
    }

    /// The time that this thread has had a processor.
    #[expect(clippy::disallowed_methods, reason = "time on a processor, which no clock of a job tells")]
    fn processor_time() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    fn work(time: Duration) {
        let until = processor_time() + time;
        while processor_time() < until {}
    }

    #[test]
    fn what_a_thread_waits_for_a_processor_is_no_time_of_its_entry() {
        let allowed = sched_getaffinity(None).expect("a thread may ask where it runs");
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).expect("it runs somewhere");
        let mut here = CpuSet::new();
        here.set(cpu);
        let over = AtomicBool::new(false);
        let measured = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    sched_setaffinity(None, &here).expect("it may run where it runs");
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let metered = scope.spawn(|| {
                sched_setaffinity(None, &here).expect("it may run where it runs");
                let (meter, since) = (Meter::new(), clock::now());
                meter.measure(Some(element()), || work(Duration::from_millis(60)));
                (meter.take_one(element()), clock::since(since))
            });
            let measured = metered.join();
            over.store(true, Ordering::Relaxed);
            measured
        });
        let (time, wall) = measured.expect("it measures");
        if Waiting::of_this_thread().so_far() == Duration::ZERO && time == wall {
            return println!("skipped: this kernel does not count how long threads wait");
        }
        assert!(time >= Duration::from_millis(55), "{time:?} of {wall:?}");
        assert!(time < wall / 2, "four threads share a processor: {time:?} of {wall:?}");
    }

    #[test]
    fn elements_have_times_of_their_own_and_singletons_have_one_together() {
        let meter = Meter::new();
        let singleton = |serial| Some(Target::Chare(ChareId { home: PeId(0), creator: PeId(0), serial }));
        for chare in [singleton(1), singleton(2), None, Some(element())] {
            meter.measure(chare, || work(Duration::from_micros(10)));
        }
        meter.add(element(), Duration::from_secs(1));
        assert!(meter.take_one(element()) > Duration::from_secs(1));
        (0..2).for_each(|_| meter.add(element(), Duration::MAX));
        assert_eq!(meter.take_one(element()), Duration::MAX, "what another node says ends no job");
        let rest = meter.take();
        assert_eq!(rest.keys().collect::<Vec<_>>(), [&None]);
        assert!(rest[&None] >= Duration::from_micros(30) && meter.take().is_empty());
    }

    #[test]
    fn nobody_waits_for_longer_than_it_took() {
        let ms = Duration::from_millis;
        assert_eq!(
            [own_time(ms(5), ms(0)), own_time(ms(5), ms(4)), own_time(ms(5), ms(6))],
            [ms(5), ms(1), ms(0)]
        );
    }
}
