//! Landed elements: what a stream copies to the host, seen there once it is over.

use crate::event::Event;
use crate::memory::pinned::Pinned;
use crate::words::error::DeviceError;
use bytemuck::Pod;
use std::marker::PhantomData;

/// Elements on their way to the host, or there.
#[derive(Debug)]
pub struct Landed<T> {
    pinned: Pinned,
    event: Event,
    elements: PhantomData<T>,
}

impl<T: Pod> Landed<T> {
    /// Elements that a stream copies to `pinned`, and the event behind that.
    pub(super) fn new(pinned: Pinned, event: Event) -> Self {
        Self { pinned, event, elements: PhantomData }
    }

    /// The event that is complete when they are there.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The elements; none while the stream is not that far.
    ///
    /// # Errors
    /// [`DeviceError::Lost`]: they will never be there.
    pub fn elements(&mut self) -> Result<Option<&[T]>, DeviceError> {
        if !self.event.is_complete()? {
            return Ok(None);
        }
        Ok(self.pinned.bytes().map(|bytes| bytemuck::cast_slice(bytes)))
    }

    /// The pinned memory with the elements in it, or the same value while the stream is not that far.
    ///
    /// # Errors
    /// [`DeviceError::Lost`]: they will never be there.
    pub fn into_pinned(self) -> Result<Result<Pinned, Self>, DeviceError> {
        let is_complete = self.event.is_complete()?;
        Ok(if is_complete { Ok(self.pinned) } else { Err(self) })
    }
}
