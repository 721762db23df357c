//! Deadlines of calls: how long the caller waits, which travels with the call to whoever runs it.

use crate::base::deadline::Deadline;
use crate::model::call_options::CallOptions;
use crate::pe::Pe;
use chare_lrts::clock;
use std::time::{Duration, Instant};

impl CallOptions {
    /// Tells a call of one chare until when its caller waits, on the clock of [`now`](crate::now()). A call that has not begun by then does
    /// not run: whoever awaits what it returns is told so (by a panic, or as an error by [`checked`](crate::Future::checked)). One that has
    /// begun goes on to its end, and reads the time by [`chare::deadline`](deadline).
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::CallOptions;
    /// use std::time::Duration;
    ///
    /// struct Search;
    ///
    /// #[chare]
    /// impl Search {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     /// The best of what was found in time.
    ///     #[entry]
    ///     async fn best(this: This<Self>) -> u32 {
    ///         let mut best = 0;
    ///         while chare::deadline().is_none_or(|deadline| chare::now() < deadline) && best < 100 {
    ///             best += 1;
    ///             chare::sleep(Duration::from_millis(1)).await;
    ///         }
    ///         best
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(1, 2).run(|| async {
    ///     let search = SearchProxy::create();
    ///     let limit = Duration::from_millis(20);
    ///     let in_time = CallOptions::new().deadline(chare::now() + limit);
    ///     assert!(search.with(in_time).best().await < 100);
    ///     let late = CallOptions::new().deadline(chare::now());
    ///     let error = search.with(late).best().checked().await.unwrap_err();
    ///     assert!(error.to_string().contains("its deadline was over before its turn came"));
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// The caller does not stop to wait by itself: [`timeout`](crate::timeout()) does that, `chare::timeout(limit, asked).await`. Who drops
    /// what it asked for takes nothing back; the deadline is what the callee goes by. It is no part of the calls that the entry makes in turn:
    /// those get it by the same option. It is neither for a call of many nor for a creation, which end the job with an error. Of an awaited
    /// entry, a call has begun when it has come to its chare, and one that waits for posted buffers when its post method has run. Costs an
    /// allocation; on the way to another host, what is left travels, so that the time on the way is not counted.
    pub fn deadline(self, at: Instant) -> Self {
        let left = at.saturating_duration_since(clock::now());
        self.due(Deadline::after_ns(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Until when the caller of the running entry waits, if it says so by [`CallOptions::deadline`]: also after an `.await`, and in what the entry
/// [spawns](crate::spawn()). To give up in time, an entry limits its own waits: `chare::timeout(deadline - chare::now(), ..)`.
///
/// # Panics
/// Outside a job's entries.
pub fn deadline() -> Option<Instant> {
    let deadline = Pe::current(|pe| pe.running().deadline)?;
    let now = clock::now();
    // A time that no clock will ever show is none.
    now.checked_add(Duration::from_nanos(deadline.left_ns()))
}
