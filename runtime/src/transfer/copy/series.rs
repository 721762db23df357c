//! Series of gets or puts that are one transfer: some are under way at once, the first error ends those to come, and the end is told when
//! none is under way any more.

use crate::node::Node;
use crate::node::lending::transfers::{Status, Then};
use chare_lrts::{Completion, MemoryMut, TransferError};
use parking_lot::Mutex;
use std::sync::Arc;

chare_lrts::knob! {
    /// Gets or puts of a series that are under way at once: as many as a node has open at another. More would wait, and be tried again and
    /// again.
    fn under_way_max() -> usize = 64, or [1, 3];
}

/// Closure that begins a get or put.
pub(super) type Begin = Box<dyn FnOnce(&Arc<Node>, Then) -> Status>;

/// The gets or puts of a series.
pub(super) trait SeriesParts: Send + 'static {
    /// The next one, if there is another.
    ///
    /// # Errors
    /// Why it cannot begin.
    fn next(&mut self, node: &Node) -> Result<Option<Begin>, TransferError>;

    /// Takes the memory that a get has filled: one by its place in the series.
    fn take(&mut self, _place: usize, _memory: Option<MemoryMut>) {}

    /// Hears the end: the number of bytes, or the first error.
    fn finish(self, node: &Arc<Node>, moved: Result<usize, TransferError>);
}

/// A series, of which some are under way.
struct Series<P> {
    parts: P,
    begun: usize,
    under_way: usize,
    /// Whether a thread begins some: those that end meanwhile are left to it.
    is_beginning: bool,
    moved: Result<usize, TransferError>,
}

/// Carries a series out.
pub(super) fn carry_out_each<P: SeriesParts>(node: &Arc<Node>, parts: P) -> Status {
    let series = Series { parts, begun: 0, under_way: 0, is_beginning: true, moved: Ok(0) };
    go_on(node, &Arc::new(Mutex::new(Some(series))))
}

/// Begins some, until as many are under way as may be, or all are over.
fn go_on<P: SeriesParts>(node: &Arc<Node>, series: &Arc<Mutex<Option<Series<P>>>>) -> Status {
    loop {
        let mut locked = series.lock();
        let Some(all) = locked.as_mut() else { return Status::Complete };
        let Some((place, begin)) = all.next(node) else {
            all.is_beginning = false;
            if all.under_way > 0 {
                return Status::Pending;
            }
            let over = locked.take();
            drop(locked);
            if let Some(Series { parts, moved, .. }) = over {
                parts.finish(node, moved);
            }
            return Status::Complete;
        };
        drop(locked);
        let (then_node, then_series) = (Arc::clone(node), Arc::clone(series));
        let then = move |completion: Completion| {
            let goes_on = then_series.lock().as_mut().is_some_and(|series| series.end(place, completion));
            if goes_on {
                go_on(&then_node, &then_series);
            }
        };
        begin(node, Box::new(then));
    }
}

impl<P: SeriesParts> Series<P> {
    /// The next one, if it may begin now, and its place.
    fn next(&mut self, node: &Node) -> Option<(usize, Begin)> {
        if self.under_way == under_way_max() || self.moved.is_err() {
            return None;
        }
        let next = self.parts.next(node);
        let begin = next.unwrap_or_else(|cause| {
            self.moved = Err(cause);
            None
        })?;
        self.under_way += 1;
        self.begun += 1;
        Some((self.begun - 1, begin))
    }

    /// Notes the end of one. Returns whether the caller is to begin more.
    fn end(&mut self, place: usize, completion: Completion) -> bool {
        match (&mut self.moved, completion.result) {
            (Ok(moved), Ok(more)) => {
                *moved += more;
                self.parts.take(place, completion.memory);
            }
            (Ok(_), Err(cause)) => self.moved = Err(cause),
            (Err(_), _) => {}
        }
        self.under_way -= 1;
        !std::mem::replace(&mut self.is_beginning, true)
    }
}
