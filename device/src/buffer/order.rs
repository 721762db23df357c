//! Order: what streams still do with a buffer, for which the next one waits, and with memory that was lent, when nobody holds it any more.

use crate::event::Event;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;

/// How far a stream must be.
#[derive(Debug, Clone)]
pub(crate) enum Last {
    /// Here.
    Event(Event),
    /// Past all that it was given: it refused to record an event behind a command.
    Stream(Stream),
}

impl Last {
    /// How far a stream is when it has done all that it was given so far.
    pub(crate) fn of(on: &Stream) -> Self {
        on.record().map_or_else(|_| Self::Stream(on.clone()), Self::Event)
    }
}

/// Uses of one memory that may not be over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order(Vec<Last>);

impl Order {
    /// Has a stream wait for all uses of `span`. One of another device is refused before it can be taken for a use.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`], and those of [`Stream::wait`] and [`Stream::record`].
    pub(crate) fn before(&self, on: &Stream, span: &Span) -> Result<(), DeviceError> {
        on.check_memory(span)?;
        self.0.iter().try_for_each(|last| match last {
            Last::Event(event) => on.wait(event),
            Last::Stream(stream) => on.wait(&stream.record()?),
        })
    }

    /// A stream that has waited for all others was given a use: whoever waits for it has waited for them.
    pub(crate) fn after(&mut self, on: &Stream) {
        self.after_last(Last::of(on));
    }

    /// As [`after`](Self::after), where it was asked before how far the stream must be.
    pub(crate) fn after_last(&mut self, last: Last) {
        self.0.clear();
        self.0.push(last);
    }

    /// A stream was given a use beside the others.
    pub(crate) fn beside(&mut self, on: &Stream) {
        self.beside_last(on, Last::of(on));
    }

    /// As [`beside`](Self::beside), where it was asked before how far the stream must be.
    pub(crate) fn beside_last(&mut self, on: &Stream, last: Last) {
        // What is known of this stream now is no less than what was.
        let is_known = |other: &Last| match (other, &last) {
            (Last::Event(event), Last::Event(last)) if event.is(last) => true,
            (Last::Event(event), _) => event.is_complete() == Ok(true),
            (Last::Stream(stream), _) => stream.is(on),
        };
        self.0.retain(|other| !is_known(other));
        self.0.push(last);
    }

    /// Whether all uses are known to be over. Each is asked: a stream that is gives up its shares in memory.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    pub(crate) fn is_over(&self) -> Result<bool, DeviceError> {
        self.0.iter().try_fold(true, |are_over, last| match last {
            Last::Event(event) => Ok(event.is_complete()? && are_over),
            Last::Stream(_) => Ok(false),
        })
    }

    /// The uses of two memories.
    pub(crate) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Uses of lent memory that may not be over. The memory stays as long as this value.
#[derive(Debug, Clone)]
pub struct Uses {
    span: Span,
    order: Order,
}

impl Uses {
    pub(super) fn new(span: Span, order: Order) -> Self {
        Self { span, order }
    }

    /// Whether all of them are over, as far as it can be said without waiting.
    ///
    /// # Errors
    /// [`DeviceError::Lost`]: they will not be over.
    pub fn are_over(&self) -> Result<bool, DeviceError> {
        self.order.is_over()
    }

    /// Has a stream wait for all of them: what is [called](Stream::call) there next is called when they are over.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] if it is a stream of another device, and those of [`Stream::wait`].
    pub fn before(&self, on: &Stream) -> Result<(), DeviceError> {
        self.order.before(on, &self.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Signal;
    use crate::software::Software;
    use crate::words::info::Priority;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts how often it is asked, and has fired.
    #[derive(Default)]
    struct Asked(AtomicU32);

    impl Signal for Asked {
        fn is_complete(&self) -> Result<bool, DeviceError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(true)
        }

        fn nanoseconds_since(&self, _earlier: &dyn Signal) -> Result<u64, DeviceError> {
            unreachable!("nobody measures")
        }
    }

    #[test]
    fn all_uses_are_asked_also_behind_one_that_may_not_be_over() {
        let device = Software::default().open();
        let stream = device.stream(Priority::Normal).expect("it has streams");
        let asked = Arc::new(Asked::default());
        let owner = Arc::new(device.info().clone());
        let event = || Last::Event(Event::new(&owner, Arc::clone(&asked) as Arc<dyn Signal>));
        let mut order = Order(vec![event(), event()]);
        assert_eq!(order.is_over(), Ok(true));
        order.0.insert(0, Last::Stream(stream.clone()));
        assert_eq!(order.is_over(), Ok(false), "it refused to say how far it is");
        assert_eq!(asked.0.load(Ordering::Relaxed), 4);
    }
}
