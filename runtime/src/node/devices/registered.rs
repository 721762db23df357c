//! Registered device memory: buffers that peers read and write any number of times.
//!
//! A source is shared, so any number of reads go on at the same time. A target has one owner: a write takes the buffer, and the next one
//! waits until it is back.

use crate::model::callback::ErasedCallback;
use chare_device::{DeviceBuffer, DeviceBufferMut};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// A buffer that peers may read.
pub(crate) struct DeviceSource {
    pub(crate) buffer: DeviceBuffer<u8>,
    /// Told the bytes of each transfer.
    pub(crate) notify: Mutex<Option<ErasedCallback>>,
}

/// What is done with a target's buffer, and gives it back. It holds no handle of the target, which it may wait in.
pub(crate) type UseTarget<N> = Box<dyn FnOnce(&Arc<N>, &Arc<DeviceTarget<N>>, DeviceBufferMut<u8>) + Send>;

/// A buffer that peers may write.
pub(crate) struct DeviceTarget<N> {
    pub(crate) bytes: u64,
    /// Told the bytes of each transfer.
    pub(crate) notify: Mutex<Option<ErasedCallback>>,
    place: Mutex<Place<N>>,
}

struct Place<N> {
    /// Nothing while it is used.
    buffer: Option<DeviceBufferMut<u8>>,
    waiting: VecDeque<UseTarget<N>>,
}

impl<N> DeviceTarget<N> {
    pub(crate) fn new(buffer: DeviceBufferMut<u8>) -> Self {
        let (bytes, place) = (buffer.len() as u64, Place { buffer: Some(buffer), waiting: VecDeque::new() });
        Self { bytes, notify: Mutex::default(), place: Mutex::new(place) }
    }

    /// Has the buffer used, now or when it is back.
    pub(crate) fn use_next(self: &Arc<Self>, node: &Arc<N>, work: UseTarget<N>) {
        let buffer = {
            let mut place = self.place.lock();
            match place.buffer.take() {
                Some(buffer) => buffer,
                None => return place.waiting.push_back(work),
            }
        };
        work(node, self, buffer);
    }

    /// The buffer, if nobody uses it.
    pub(crate) fn try_take(&self) -> Option<DeviceBufferMut<u8>> {
        self.place.lock().buffer.take()
    }

    /// Takes the buffer back. Returns who waits for it, with the buffer.
    pub(crate) fn give_back(
        &self,
        buffer: DeviceBufferMut<u8>,
    ) -> Option<(UseTarget<N>, DeviceBufferMut<u8>)> {
        let mut place = self.place.lock();
        match place.waiting.pop_front() {
            Some(next) => Some((next, buffer)),
            None => {
                place.buffer = Some(buffer);
                None
            }
        }
    }
}
