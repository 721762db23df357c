//! Waits of `async` entries for a time, on the clock of their PE: sleep, timeout and interval.

use crate::pe::Pe;
use crate::pe::in_flight::{InFlight, Kind};
use crate::services::timers::{self, Timer};
use chare_lrts::clock;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The time on the clock of the PE, which [`sleep`], [`timeout`] and [`interval`] wait by: the machine's, unless whoever drives the job gives
/// it another. In a simulated job it stands still between two waits.
///
/// ```
/// let begin = chare::now();
/// assert!(chare::now() >= begin);
/// ```
pub fn now() -> Instant {
    clock::now()
}

/// Waits for a while, in an `async` entry or in `main`; other entries run meanwhile, and an idle PE sleeps. It wakes between two entries, so a
/// long entry delays it. Costs an entry in a table of the PE, and no message.
///
/// Quiescence waits for who sleeps, as it waits for a message.
///
/// ```
/// use std::time::Duration;
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let begin = chare::now();
///     chare::sleep(Duration::from_millis(5)).await;
///     assert!(chare::now() - begin >= Duration::from_millis(5));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// When awaited outside a job's entries.
pub fn sleep(duration: Duration) -> Sleep {
    wait(duration, Kind::Event)
}

fn wait(duration: Duration, kind: Kind) -> Sleep {
    let now = clock::now();
    // A time that no clock will ever show.
    Sleep { due: now.checked_add(duration).unwrap_or(now + FAR), kind, waiting: None }
}

/// Some thirty years.
const FAR: Duration = Duration::from_secs(1 << 30);

/// A wait for a time, made by [`sleep`].
#[must_use = "nothing waits unless it is awaited"]
#[derive(Debug)]
pub struct Sleep {
    due: Instant,
    kind: Kind,
    waiting: Option<(Timer, InFlight)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (due, kind) = (self.due, self.kind);
        if due <= clock::now() {
            self.wait_no_more();
            return Poll::Ready(());
        }
        Pe::current(|pe| {
            let begin = || (timers::timer(pe, due), InFlight::begin(pe, kind));
            let (timer, _) = self.waiting.get_or_insert_with(begin);
            timers::wake_at(pe, *timer, context.waker());
        });
        Poll::Pending
    }
}

impl Sleep {
    fn wait_no_more(&mut self) {
        if let Some((timer, _in_flight)) = self.waiting.take() {
            Pe::try_current(|pe| timers::forget(pe, timer));
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.wait_no_more();
    }
}

/// A future was not over in time; see [`timeout`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("it was not over within {0:?}")]
pub struct TimedOut(pub Duration);

/// Waits for a future, but no longer than this; then the future is dropped.
///
/// [`quiescence`](crate::quiescence()) does not wait for the limit, and may be what is waited for; the end of `main` does.
///
/// ```
/// use std::time::Duration;
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let (never, _callback) = chare::future::<u32>();
///     let limit = Duration::from_millis(5);
///     assert_eq!(chare::timeout(limit, never).await, Err(chare::TimedOut(limit)));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// When the future is not over in time. An entry that was asked goes on all the same, to its end, for which quiescence and the end of the job
/// wait, and its answer is dropped: what it is to give up on time takes a [deadline](crate::CallOptions::deadline).
pub async fn timeout<F: IntoFuture>(limit: Duration, future: F) -> Result<F::Output, TimedOut> {
    let (mut future, mut sleep) = (pin!(future.into_future()), pin!(wait(limit, Kind::Limit)));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| Err(TimedOut(limit))),
    })
    .await
}

/// Ticks of a clock, made by [`interval`].
#[derive(Debug)]
pub struct Interval {
    next: Instant,
    period: Duration,
}

/// Ticks one `period` apart, the first of them at once. Ticks that passed while nobody awaited them are left out.
///
/// Quiescence waits for who awaits a tick: a job that ticks without end is ended by [`exit`](crate::exit()).
///
/// # Panics
/// If the period is zero.
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval has a period longer than nothing");
    Interval { next: clock::now(), period }
}

impl Interval {
    /// Waits for the next tick.
    pub async fn tick(&mut self) {
        Sleep { due: self.next, kind: Kind::Event, waiting: None }.await;
        let late = clock::since(self.next).as_nanos() / self.period.as_nanos();
        self.next += self.period * u32::try_from(late + 1).unwrap_or(u32::MAX);
    }
}
