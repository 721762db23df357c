//! Uses: what streams still do with memory that was lent, when nobody holds it any more.

use crate::buffer::order::Order;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;

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
