//! Registered device memory: buffers that peers read and write any number of times.
//!
//! A source is shared, so any number of reads go on at the same time. A target has one owner: a write takes the buffer, and the next one
//! waits until it is back.

use crate::model::callback::ErasedCallback;
use crate::node::Node;
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

/// What is done with a target's buffer, and gives it back.
pub(crate) type UseTarget = Box<dyn FnOnce(&Arc<Node>, DeviceBufferMut<u8>) + Send>;

/// A buffer that peers may write.
pub(crate) struct DeviceTarget {
    pub(crate) bytes: u64,
    /// Told the bytes of each transfer.
    pub(crate) notify: Mutex<Option<ErasedCallback>>,
    place: Mutex<Place>,
}

struct Place {
    /// Nothing while it is used.
    buffer: Option<DeviceBufferMut<u8>>,
    waiting: VecDeque<UseTarget>,
}

impl DeviceTarget {
    pub(crate) fn new(buffer: DeviceBufferMut<u8>) -> Self {
        let (bytes, place) = (buffer.len() as u64, Place { buffer: Some(buffer), waiting: VecDeque::new() });
        Self { bytes, notify: Mutex::default(), place: Mutex::new(place) }
    }

    /// Has the buffer used, now or when it is back.
    pub(crate) fn use_next(&self, node: &Arc<Node>, work: UseTarget) {
        let buffer = {
            let mut place = self.place.lock();
            match place.buffer.take() {
                Some(buffer) => buffer,
                None => return place.waiting.push_back(work),
            }
        };
        work(node, buffer);
    }

    /// The buffer, if nobody uses it.
    pub(crate) fn try_take(&self) -> Option<DeviceBufferMut<u8>> {
        self.place.lock().buffer.take()
    }

    /// Takes the buffer back, for who waits for it.
    pub(crate) fn give_back(&self, node: &Arc<Node>, buffer: DeviceBufferMut<u8>) {
        let next = {
            let mut place = self.place.lock();
            match place.waiting.pop_front() {
                Some(next) => next,
                None => return place.buffer = Some(buffer),
            }
        };
        // Later, so that a long row of uses is no deep recursion; each is counted as a message on its way already.
        node.later(Box::new(move |node| next(node, buffer)));
    }
}
