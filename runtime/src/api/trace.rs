//! Timeline as the program writes it: spans and counters of its own among what `+trace FILE` shows, and the switch of what is recorded.
//!
//! ```
//! use chare::prelude::*;
//! use chare::trace;
//!
//! struct Cell {
//!     values: Vec<f64>,
//! }
//!
//! #[chare(array)]
//! impl Cell {
//!     #[entry]
//!     fn new() -> Self {
//!         Self { values: vec![1.0; 100] }
//!     }
//!
//!     #[entry]
//!     fn step(&mut self, done: Callback<f64>) {
//!         let sweep = trace::span("sweep");
//!         self.values.iter_mut().for_each(|value| *value /= 2.0);
//!         drop(sweep);
//!         let residual: f64 = self.values.iter().sum();
//!         trace::count("residual", residual);
//!         self.contribute(sum(residual), done);
//!     }
//! }
//!
//! let job = chare::Job::in_process(1, 2).run(|| async {
//!     let cells = CellProxy::create(10);
//!     let (residual, done) = chare::future();
//!     cells.step(done);
//!     assert_eq!(residual.await, 500.0);
//! });
//! assert_eq!(job.unwrap(), 0);
//! ```
//!
//! Without `+trace` a span, its end, and a counted value cost a look at one flag each. Outside of a job's entries all of this does nothing,
//! so code that runs elsewhere as well may have it.

use crate::node::timeline::Writing;
use crate::pe::Pe;
pub use chare_lrts::wrappers::TraceWindow;
use std::marker::PhantomData;

/// A span of the program's own, until it is dropped; made by [`span`].
#[must_use = "a span ends when it is dropped: keep it in a variable, `let _span = ..`"]
#[derive(Debug)]
pub struct Span {
    /// `None` without a timeline.
    number: Option<u64>,
    /// It belongs to the PE on which it began.
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let _ = Pe::try_current(|pe| pe.close_own_span(number));
        }
    }
}

/// Begins a span of this name, which the timeline shows within the entry that runs, with the chare whose entry it is. It ends when it is
/// dropped.
///
/// One that is kept over an `await`, or dropped before another one that began later, is shown on a line of its own, from its begin to its end.
///
/// ```
/// fn sweep(values: &mut [f64]) {
///     let _span = chare::trace::span("sweep");
///     values.iter_mut().for_each(|value| *value *= 2.0);
/// }
/// sweep(&mut [1.0, 2.0]);
/// ```
#[inline]
pub fn span(name: &'static str) -> Span {
    let number = Pe::try_current(|pe| pe.open_own_span(name)).flatten();
    Span { number, _of_this_thread: PhantomData }
}

/// Notes the value that something has from now on, on this PE: the timeline shows it as a curve of this name, one for each PE. What is no
/// number, or infinite, is left out.
///
/// ```
/// chare::trace::count("particles", 1_000);
/// chare::trace::count("residual", 1e-9);
/// ```
#[inline]
pub fn count(name: &'static str, value: impl Into<f64>) {
    let _ = Pe::try_current(|pe| pe.note_value(name, value.into()));
}

fn with_writing(turn: impl FnOnce(&Writing)) {
    let _ = Pe::try_current(|pe| turn(&pe.node.timeline));
}

/// Records nothing more of this process, neither of its PEs nor of its network, until somebody [resumes](resume); does nothing if somebody
/// has paused before. The entry that runs is shown up to here.
///
/// A program that is long and interesting in one place starts with `+trace` and pauses at once. In a job of several processes each has a
/// switch of its own: a nodegroup turns them all.
///
/// ```
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     chare::trace::pause();
///     // What nobody needs to see.
///     chare::trace::resume();
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub fn pause() {
    with_writing(|timeline| timeline.recording().into_iter().for_each(|recording| recording.pause()));
}

/// Records again after a [`pause`], within the window that `+trace FILE,from=10,for=2` may have asked for. The entry that runs is shown from
/// here on.
///
/// ```
/// // Where nothing was paused, and outside of a job, it does nothing.
/// chare::trace::resume();
/// ```
pub fn resume() {
    with_writing(|timeline| timeline.recording().into_iter().for_each(|recording| recording.resume()));
}
