//! Memory that a stream's commands use, kept until events behind them have fired.
//!
//! 1. A command's spans wait for the next event of the stream; one is recorded at the latest behind [`BATCH`] of them.
//! 2. Whoever finds an event complete, or gives the stream a command, lets go of what the first complete events stand behind.
//! 3. Events are used again by the same stream: whoever waits for one has told the driver, which remembers the point and not the event.
//! 4. Nothing is dropped under the lock: what a span guards is the user's, and may give this stream a command when it goes.

use crate::cuda::spares::{Spare, Spares};
use crate::cuda::sys::{Code, Event, Stream};
use crate::memory::span::Span;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Spans that share one event: recording one takes about as long as a small copy.
const BATCH: usize = 64;

/// A stream's memory. The context has been entered, and is kept, by whoever calls.
#[derive(Default)]
pub(crate) struct Kept {
    state: Mutex<State>,
    events: Arc<Spares<Event>>,
    /// Those that know when they were.
    stamps: Arc<Spares<Event>>,
}

/// What a stream is past.
type Past = Vec<(Arc<Spare<Event>>, Vec<Span>)>;

#[derive(Default)]
struct State {
    /// Of commands since the last event.
    open: Vec<Span>,
    /// Behind each event: what commands before it use, in the stream's order.
    closed: VecDeque<(Arc<Spare<Event>>, Vec<Span>)>,
}

impl Kept {
    /// Keeps the spans of a command that was just given to `stream`.
    pub(crate) fn keep(&self, stream: &Stream, spans: impl IntoIterator<Item = Span>) -> Result<(), Code> {
        self.looking(|state, past| {
            state.open.extend(spans);
            state.let_go(past)?;
            if state.open.len() < BATCH { Ok(()) } else { state.close(stream, &self.events).map(drop) }
        })
    }

    /// Records an event behind all that was given to `stream`.
    pub(crate) fn record(&self, stream: &Stream) -> Result<Arc<Spare<Event>>, Code> {
        self.state.lock().close(stream, &self.events)
    }

    /// Records an event that knows when it was.
    pub(crate) fn stamp(&self, stream: &Stream) -> Result<Arc<Spare<Event>>, Code> {
        let event = Arc::new(self.stamps.take(Event::timed)?);
        stream.record(&event)?;
        Ok(event)
    }

    /// Lets go of what the stream is past.
    pub(crate) fn let_go(&self) -> Result<(), Code> {
        self.looking(State::let_go)
    }

    /// Whether the stream, which gets no more commands, is past them; if the device does not say, it is lost, and uses no memory.
    pub(crate) fn is_past_all(&self) -> bool {
        self.looking(|state, past| state.let_go(past).is_err() || state.closed.is_empty())
    }

    /// Runs `look`, then drops what it found the stream to be past, when the lock is open.
    fn looking<R>(&self, look: impl FnOnce(&mut State, &mut Past) -> R) -> R {
        let mut past = Past::new();
        let seen = look(&mut self.state.lock(), &mut past);
        drop(past);
        seen
    }
}

impl State {
    fn close(&mut self, stream: &Stream, events: &Arc<Spares<Event>>) -> Result<Arc<Spare<Event>>, Code> {
        let event = Arc::new(events.take(Event::new)?);
        stream.record(&event)?;
        if !self.open.is_empty() {
            self.closed.push_back((Arc::clone(&event), std::mem::take(&mut self.open)));
        }
        Ok(event)
    }

    /// Moves what the stream is past to `past`, which its owner drops when the lock is open.
    fn let_go(&mut self, past: &mut Past) -> Result<(), Code> {
        while let Some((event, _)) = self.closed.front()
            && event.is_complete()?
        {
            past.extend(self.closed.pop_front());
        }
        Ok(())
    }
}
