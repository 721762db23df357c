//! Registered device memory: device buffers that are registered once, for peers to read and write any number of times.
//!
//! 1. A [`RegisteredDeviceSource`] is readable by everyone, its owner included; nobody writes it while it is registered.
//! 2. A [`RegisteredDeviceTarget`] belongs to the runtime while it is registered. Writes of it follow one another, in the order in which
//!    they come; its owner uses it between them by [`RegisteredDeviceTarget::with`], and gets it back by closing it.

use crate::model::arguments::Arguments;
use crate::model::callback::Callback;
use crate::model::nocopy::{DeviceSourceHandle, DeviceTargetHandle, Element, Lender, SentDevice};
use crate::node::Node;
use crate::node::devices::{DeviceSource, DeviceTarget};
use crate::pe::Pe;
use crate::transfer::device::{check_device, give_back, gone, sender, transfer_failed};
use chare_device::{Device, DeviceBuffer, DeviceBufferMut};
use chare_lrts::Token;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements on a device that peers may read by [`rget_device`](crate::rget_device); registered until dropped.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::{DeviceBufferMut, RegisteredDeviceSource, SentDevice, rget_device};
///
/// let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let field = DeviceBufferMut::<u32>::zeroed(&device, &stream, 100).expect("it has room");
///     let source = RegisteredDeviceSource::register(field.freeze());
///     let room = DeviceBufferMut::new(&device, 100).expect("it has room");
///     let (filled, done) = chare::future::<SentDevice<u32>>();
///     rget_device(&source.handle(), room, done).expect("it is as long");
///     assert_eq!(filled.await.transferred(), 100);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct RegisteredDeviceSource<T: Element> {
    node: Arc<Node>,
    token: Token,
    buffer: DeviceBuffer<T>,
}

impl<T: Element> RegisteredDeviceSource<T> {
    /// Registers elements. Costs a table entry.
    ///
    /// # Panics
    /// Outside a job's entries, and if the buffer is of a device that the program opened itself.
    pub fn register(buffer: DeviceBuffer<T>) -> Self {
        let node = node_of(buffer.device());
        let source =
            DeviceSource { buffer: buffer.clone().into_bytes(), whose: sender(), notify: None.into() };
        let token = node.devices.sources.give_out(Arc::new(source));
        Self { node, token, buffer }
    }

    /// Sends `callback` the number of bytes when a transfer that begins from here on no longer uses the memory.
    pub fn notify(self, callback: Callback<u64>) -> Self {
        let set = |source: &Arc<DeviceSource>| *source.notify.lock() = Some(callback.erase());
        self.node.devices.sources.look(self.token, set);
        self
    }

    /// The handle that peers need for their transfers.
    pub fn handle(&self) -> DeviceSourceHandle<T> {
        let bytes = (self.buffer.len() * size_of::<T>()) as u64;
        DeviceSourceHandle::new(Lender { node: self.node.id, token: self.token }, bytes)
    }

    /// The elements, to be read here.
    pub fn buffer(&self) -> &DeviceBuffer<T> {
        &self.buffer
    }
}

impl<T: Element> Drop for RegisteredDeviceSource<T> {
    fn drop(&mut self) {
        drop(self.node.devices.sources.take_back(self.token));
    }
}

impl<T: Element> fmt::Debug for RegisteredDeviceSource<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RegisteredDeviceSource({:?})", self.buffer)
    }
}

/// Elements on a device that peers may write by [`rput_device`](crate::rput_device); registered until dropped or closed.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::{DeviceBufferMut, RegisteredDeviceTarget, SendDeviceBuffer, SentDevice, rput_device};
///
/// let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let zeros = |len| DeviceBufferMut::<u32>::zeroed(&device, &stream, len).expect("it has room");
///     let target = RegisteredDeviceTarget::register(zeros(100));
///     let (written, on_sent) = chare::future::<SentDevice<u32>>();
///     rput_device(SendDeviceBuffer::from(zeros(10)).on_sent(on_sent), &target.handle()).expect("it fits");
///     assert_eq!(written.await.transferred(), 10);
///     assert_eq!(target.with(|field| field.len()), Some(100));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct RegisteredDeviceTarget<T: Element> {
    node: Arc<Node>,
    token: Token,
    target: Arc<DeviceTarget<Node>>,
    elements: PhantomData<fn() -> T>,
}

impl<T: Element> RegisteredDeviceTarget<T> {
    /// Registers elements. Costs a table entry.
    ///
    /// # Panics
    /// As [`RegisteredDeviceSource::register`].
    pub fn register(buffer: DeviceBufferMut<T>) -> Self {
        let node = node_of(buffer.device());
        let target = Arc::new(DeviceTarget::new(buffer.into_bytes()));
        let token = node.devices.targets.give_out(Arc::clone(&target));
        Self { node, token, target, elements: PhantomData }
    }

    /// Sends `callback` the number of bytes after each transfer that ends from here on.
    pub fn notify(self, callback: Callback<u64>) -> Self {
        *self.target.notify.lock() = Some(callback.erase());
        self
    }

    /// The handle that peers need for their transfers.
    pub fn handle(&self) -> DeviceTargetHandle<T> {
        DeviceTargetHandle::new(Lender { node: self.node.id, token: self.token }, self.target.bytes)
    }

    /// Runs `body` on the elements; `None` while a transfer is under way, and after one that failed in a way that took them along. What `body` has streams do with them, the next transfer comes
    /// after.
    ///
    /// # Panics
    /// If `body` puts a buffer of another length, or of a device that the program opened itself, in its place.
    pub fn with<R>(&self, body: impl FnOnce(&mut DeviceBufferMut<T>) -> R) -> Option<R> {
        let mut buffer = typed(self.target.try_take()?);
        let result = body(&mut buffer);
        check_device(&self.node, buffer.device());
        let buffer = buffer.into_bytes();
        assert_eq!(buffer.len() as u64, self.target.bytes, "a registered buffer keeps its length");
        give_back(&self.node, &self.target, buffer);
        Some(result)
    }

    /// Ends the registration and hands the buffer to `callback` after the transfers that have begun; it is exclusive again by
    /// [`DeviceBuffer::try_into_mut`]. Handles are stale from here on. The callback must be one of this node. If a transfer has failed in a
    /// way that took the elements along, because the device is lost, the job ends with an error that says so.
    pub fn close(self, callback: Callback<SentDevice<T>>) {
        self.node.outside.sent.add_shared(1);
        let whose = sender();
        let close =
            move |node: &Arc<Node>, _: &Arc<DeviceTarget<Node>>, buffer: Option<DeviceBufferMut<u8>>| {
                match buffer.map(|buffer| typed::<T>(buffer).freeze()) {
                    Some(buffer) => {
                        let len = buffer.len();
                        node.fire(callback.erase(), Arguments::new(SentDevice::new(buffer, len)));
                    }
                    None => {
                        let what = format!("closing registered device memory, by {whose},");
                        transfer_failed(node, what, gone().of(node.id));
                    }
                }
                node.outside.processed.add_shared(1);
            };
        self.target.use_next(&self.node, Box::new(close));
    }
}

impl<T: Element> Drop for RegisteredDeviceTarget<T> {
    fn drop(&mut self) {
        drop(self.node.devices.targets.take_back(self.token));
    }
}

impl<T: Element> fmt::Debug for RegisteredDeviceTarget<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RegisteredDeviceTarget({} elements)", self.target.bytes as usize / size_of::<T>())
    }
}

/// This node, which knows the device.
fn node_of(device: &Device) -> Arc<Node> {
    let node = Pe::current(|pe| Arc::clone(&pe.node));
    check_device(&node, device);
    node
}

/// The elements that a target was registered with.
fn typed<T: Element>(buffer: DeviceBufferMut<u8>) -> DeviceBufferMut<T> {
    buffer.typed().unwrap_or_else(|_| unreachable!("it was such a buffer"))
}
