//! Chains of messages between two players, each of which answers with the next: timed from the first to the last.

use chare::Callback;
use chare_benches::Batches;
use std::time::{Duration, Instant};

/// The clock of the player with whom chains begin and end.
#[derive(Default)]
pub(crate) struct Clock(Option<(Instant, Callback<u64>)>);

impl Clock {
    /// Starts; `done` gets the nanoseconds.
    pub(crate) fn start(&mut self, done: Callback<u64>) {
        self.0 = Some((Instant::now(), done));
    }

    /// Stops.
    ///
    /// # Panics
    /// If it was not started here.
    pub(crate) fn stop(&mut self) {
        let (began, done) = self.0.take().expect("an even chain ends where it started");
        done.send(began.elapsed().as_nanos() as u64);
    }
}

/// Measures chains that `start` starts, of so many messages; then has both players `check` what has landed, and ends the job.
pub(crate) async fn measure(
    batches: Batches,
    start: impl Fn(u64, Callback<u64>),
    check: impl FnOnce(Callback<()>),
) {
    chare::quiescence().await;
    let batch = async |messages| {
        let (elapsed_ns, done) = chare::future();
        start(messages, done);
        Duration::from_nanos(elapsed_ns.await)
    };
    batches.run_async(batch).await;
    let (checked, done) = chare::future();
    check(done);
    checked.await;
    chare::exit(0);
}
