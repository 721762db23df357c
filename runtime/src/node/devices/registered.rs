//! Registered device memory: buffers that peers read and write any number of times.
//!
//! A source is shared, so any number of reads go on at the same time. A target has one owner: a write takes the buffer, and the next one
//! waits until it is back. A write that fails on the device may lose it: then all that wait are told, and all that come.

use crate::model::callback::ErasedCallback;
use chare_device::{DeviceBuffer, DeviceBufferMut};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// A buffer that peers may read.
pub(crate) struct DeviceSource {
    pub(crate) buffer: DeviceBuffer<u8>,
    /// The entry that registered it, in words.
    pub(crate) whose: Arc<str>,
    /// Told the bytes of each transfer.
    pub(crate) notify: Mutex<Option<ErasedCallback>>,
}

/// What is done with a target's buffer, and gives it back; nothing if the buffer is gone. It holds no handle of the target, which it may
/// wait in.
pub(crate) type UseTarget<N> =
    Box<dyn FnOnce(&Arc<N>, &Arc<DeviceTarget<N>>, Option<DeviceBufferMut<u8>>) + Send>;

/// A buffer that peers may write.
pub(crate) struct DeviceTarget<N> {
    pub(crate) bytes: u64,
    /// Told the bytes of each transfer.
    pub(crate) notify: Mutex<Option<ErasedCallback>>,
    place: Mutex<TargetMemory<N>>,
}

enum TargetMemory<N> {
    Here(DeviceBufferMut<u8>),
    Used {
        waiting: VecDeque<UseTarget<N>>,
    },
    /// With a command that its device did not take.
    Gone,
}

impl<N> DeviceTarget<N> {
    pub(crate) fn new(buffer: DeviceBufferMut<u8>) -> Self {
        Self {
            bytes: buffer.len() as u64,
            notify: Mutex::default(),
            place: Mutex::new(TargetMemory::Here(buffer)),
        }
    }

    /// Has the buffer used, now or when it is back.
    pub(crate) fn use_next(self: &Arc<Self>, node: &Arc<N>, work: UseTarget<N>) {
        let buffer = {
            let mut place = self.place.lock();
            match &mut *place {
                TargetMemory::Used { waiting } => return waiting.push_back(work),
                TargetMemory::Gone => None,
                TargetMemory::Here(_) => take(&mut place),
            }
        };
        work(node, self, buffer);
    }

    /// The buffer, if nobody uses it.
    pub(crate) fn try_take(&self) -> Option<DeviceBufferMut<u8>> {
        take(&mut self.place.lock())
    }

    /// Takes the buffer back. Returns who waits for it, with the buffer.
    pub(crate) fn give_back(
        &self,
        buffer: DeviceBufferMut<u8>,
    ) -> Option<(UseTarget<N>, DeviceBufferMut<u8>)> {
        let mut place = self.place.lock();
        if let TargetMemory::Used { waiting } = &mut *place
            && let Some(next) = waiting.pop_front()
        {
            return Some((next, buffer));
        }
        *place = TargetMemory::Here(buffer);
        None
    }

    /// Notes that the buffer does not come back. Returns all who wait for it.
    pub(crate) fn lose(&self) -> VecDeque<UseTarget<N>> {
        match std::mem::replace(&mut *self.place.lock(), TargetMemory::Gone) {
            TargetMemory::Used { waiting } => waiting,
            TargetMemory::Here(_) | TargetMemory::Gone => VecDeque::new(),
        }
    }
}

/// The buffer, which then is used.
fn take<N>(place: &mut TargetMemory<N>) -> Option<DeviceBufferMut<u8>> {
    if !matches!(place, TargetMemory::Here(_)) {
        return None;
    }
    match std::mem::replace(place, TargetMemory::Used { waiting: VecDeque::new() }) {
        TargetMemory::Here(buffer) => Some(buffer),
        TargetMemory::Used { .. } | TargetMemory::Gone => None,
    }
}
