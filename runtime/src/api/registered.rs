//! Registered memory: buffers that are registered once, for peers to read and write any number of times.
//!
//! 1. A [`RegisteredSource`] is readable by everyone, its owner included; nobody writes it while it is registered.
//! 2. A [`RegisteredTarget`] belongs to the runtime while it is registered; its owner reads it through [`RegisteredTarget::read`], which
//!    fails while a put is under way, and gets it back by closing it.

#![expect(unsafe_code, reason = "reads a put target in place under a claim")]

use crate::model::arguments::Arguments;
use crate::model::callback::{Callback, ErasedCallback};
use crate::model::nocopy::{Buffer, BufferMut, Element, RemoteRange, SourceHandle, TargetHandle};
use crate::node::Node;
use crate::pe::Pe;
use crate::transfer::lend::deregistration;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Held, RegionKey};
use parking_lot::RwLock;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// No more memory can be registered on this node; the buffer comes back.
#[derive(Error)]
#[error("no more memory can be registered on this node; drop registered buffers that are no longer used")]
pub struct NotRegistered<B> {
    /// The buffer given.
    pub buffer: B,
}

impl<B> fmt::Debug for NotRegistered<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A registration, which ends when it is dropped.
struct Region {
    node: Arc<Node>,
    key: RegionKey,
}

impl Region {
    fn new(node: Arc<Node>, held: Held) -> Result<Self, Held> {
        let key = node.network.regions().register(held)?;
        Ok(Self { node, key })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // A stale key means that the region was closed before. Memory that a transfer still touches is freed after the transfer.
        let _ = self.node.network.regions().deregister(&self.key);
    }
}

/// # Panics
/// Outside a PE.
fn this_node() -> Arc<Node> {
    Pe::current(|pe| Arc::clone(&pe.node))
}

/// Elements that peers may read with [`rget`](crate::rget); registered until dropped.
///
/// ```
/// use chare::prelude::*;
/// use chare::{RegisteredSource, SourceHandle, rget};
///
/// struct Reader;
///
/// #[chare]
/// impl Reader {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     async fn read(_this: This<Self>, source: SourceHandle<f64>, done: Callback<f64>) {
///         let (filled, callback) = chare::future();
///         rget(&source, BufferMut::zeroed(source.len()), callback).expect("it is as long");
///         done.send(filled.await.iter().sum());
///     }
/// }
///
/// // Two nodes; the second reads the first one's memory.
/// let code = chare::Job::in_process(2, 1).run(|| async {
///     let source = RegisteredSource::register(vec![0.5; 1000]);
///     let (total, done) = chare::future();
///     ReaderProxy::create_on(PeId(1)).read(source.handle(), done);
///     assert_eq!(total.await, 500.0);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct RegisteredSource<T: Element> {
    region: OnceLock<Region>,
    buffer: Buffer<T>,
    notify: Option<ErasedCallback>,
}

impl<T: Element> RegisteredSource<T> {
    /// Registers a buffer for reading. Copies nothing.
    ///
    /// # Panics
    /// Outside a PE, or when no more memory can be registered on this node; see [`RegisteredSource::try_register`].
    pub fn register(buffer: impl Into<Buffer<T>>) -> Self {
        Self::try_register(buffer).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Registers a buffer for reading, if the node has room for one more: it has room for 64,512. Copies nothing.
    ///
    /// # Errors
    /// The buffer itself, when there is no room.
    ///
    /// # Panics
    /// Outside a PE.
    pub fn try_register(buffer: impl Into<Buffer<T>>) -> Result<Self, NotRegistered<Buffer<T>>> {
        let buffer = buffer.into();
        match Region::new(this_node(), Held::Source(buffer.memory().clone())) {
            Ok(region) => Ok(Self { region: region.into(), buffer, notify: None }),
            Err(_) => Err(NotRegistered { buffer }),
        }
    }

    /// Registers a buffer for reading when its first handle is made, and not before.
    pub fn lazily(buffer: impl Into<Buffer<T>>) -> Self {
        Self { region: OnceLock::new(), buffer: buffer.into(), notify: None }
    }

    /// Ends the registration until the next handle is made; the handles made so far are stale from here on.
    ///
    /// ```
    /// use chare::{RegisteredSource, rget, try_rget};
    ///
    /// let code = chare::Job::in_process(1, 1).run(|| async {
    ///     let mut source = RegisteredSource::lazily(vec![7u8; 10]);
    ///     let before = source.handle();
    ///     source.unregister();
    ///     let (outcome, done) = chare::future();
    ///     try_rget(&before, vec![0; 10], done).expect("it is as long");
    ///     assert!(outcome.await.is_err());
    ///     let (filled, done) = chare::future();
    ///     rget(&source.handle(), vec![0; 10], done).expect("it is as long");
    ///     assert_eq!(filled.await[..], [7; 10]);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn unregister(&mut self) {
        self.region = OnceLock::new();
    }

    /// Sends `callback` the number of bytes transferred after every transfer by a handle made from here on.
    pub fn notify(mut self, callback: Callback<u64>) -> Self {
        self.notify = Some(callback.erase());
        self
    }

    /// The handle that peers need for their transfers.
    ///
    /// # Panics
    /// If the buffer is not registered yet, as [`RegisteredSource::register`] does.
    pub fn handle(&self) -> SourceHandle<T> {
        let region = self.region.get_or_init(|| {
            let registered = Region::new(this_node(), Held::Source(self.buffer.memory().clone()));
            registered.unwrap_or_else(|_| panic!("{}", NotRegistered { buffer: () }))
        });
        SourceHandle {
            range: RemoteRange::new(region.key, size_of::<T>(), self.notify),
            elements: PhantomData,
        }
    }

    /// Ends the registration; handles are stale from here on. A transfer under way, or one that has just ended, may hold the buffer a
    /// moment longer: [`Buffer::try_into_mut`] fails then.
    pub fn deregister(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: Element> std::ops::Deref for RegisteredSource<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer
    }
}

/// Elements that peers may write with [`rput`](crate::rput) and read with [`rget`](crate::rget); registered until closed or dropped.
///
/// ```
/// use chare::prelude::*;
/// use chare::{RegisteredTarget, rput};
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let target = RegisteredTarget::lazily(vec![0u32; 4]);
///     assert_eq!(target.read(|elements| elements.len()), Some(4)); // nobody else can reach it yet
///     let (written, done) = chare::future::<Buffer<u32>>();
///     rput(vec![7; 2], &target.handle().slice(1..3), done).expect("it fits");
///     written.await;
///     let (closed, back) = chare::future::<BufferMut<u32>>();
///     target.close(back);
///     assert_eq!(closed.await[..], [0, 7, 7, 0]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct RegisteredTarget<T: Element> {
    region: OnceLock<Region>,
    /// The buffer, until it is registered.
    unregistered: RwLock<Option<BufferMut<T>>>,
    notify: Option<ErasedCallback>,
}

impl<T: Element> RegisteredTarget<T> {
    /// Registers a buffer for writing. Copies nothing.
    ///
    /// # Panics
    /// Outside a PE, or when no more memory can be registered on this node; see [`RegisteredTarget::try_register`].
    pub fn register(buffer: impl Into<BufferMut<T>>) -> Self {
        Self::try_register(buffer).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Registers a buffer for writing, if the node has room for one more: it has room for 64,512. Copies nothing.
    ///
    /// # Errors
    /// The buffer itself, when there is no room.
    ///
    /// # Panics
    /// Outside a PE.
    pub fn try_register(buffer: impl Into<BufferMut<T>>) -> Result<Self, NotRegistered<BufferMut<T>>> {
        match Region::new(this_node(), Held::Target(buffer.into().into_memory())) {
            Ok(region) => Ok(Self { region: region.into(), unregistered: RwLock::new(None), notify: None }),
            Err(held) => Err(NotRegistered { buffer: into_target(held) }),
        }
    }

    /// Registers a buffer for writing when its first handle is made, and not before.
    pub fn lazily(buffer: impl Into<BufferMut<T>>) -> Self {
        Self { region: OnceLock::new(), unregistered: RwLock::new(Some(buffer.into())), notify: None }
    }

    /// Sends `callback` the number of bytes transferred after every transfer by a handle made from here on.
    pub fn notify(mut self, callback: Callback<u64>) -> Self {
        self.notify = Some(callback.erase());
        self
    }

    /// The handle that peers need for their transfers.
    ///
    /// # Panics
    /// If the buffer is not registered yet: as [`RegisteredTarget::register`] does, or if the buffer is being
    /// [read](RegisteredTarget::read). The buffer stays as it is then.
    pub fn handle(&self) -> TargetHandle<T> {
        let region = self.region.get_or_init(|| {
            // Looked up before the buffer is taken out: it may panic.
            let node = this_node();
            let place = self.unregistered.try_write();
            let mut place = place.expect("a target is registered before or after it is read, not meanwhile");
            let buffer = place.take().expect("what is not registered is here");
            Region::new(node, Held::Target(buffer.into_memory())).unwrap_or_else(|held| {
                *place = Some(into_target(held));
                panic!("{}", NotRegistered { buffer: () })
            })
        });
        TargetHandle {
            range: RemoteRange::new(region.key, size_of::<T>(), self.notify),
            elements: PhantomData,
        }
    }

    /// Runs `body` on the elements; `None` while a put is under way.
    pub fn read<R>(&self, body: impl FnOnce(&[T]) -> R) -> Option<R> {
        if let Some(buffer) = &*self.unregistered.read_recursive() {
            return Some(body(buffer));
        }
        // Another thread that has taken the buffer is about to set the region.
        let Region { node, key } = self.region.wait();
        let claim = node.network.regions().claim(key, 0, key.len, ClaimMode::Read).ok()?;
        // SAFETY: the region was registered from a `BufferMut<T>`, so address and length fit `T`; the read claim keeps the
        // bytes allocated and every writer out until it is dropped, after `body`.
        let elements =
            unsafe { std::slice::from_raw_parts(claim.address().cast::<T>(), claim.len() / size_of::<T>()) };
        Some(body(elements))
    }

    /// Ends the registration and hands the buffer to `callback` once no transfer touches it. Handles are
    /// stale from here on.
    ///
    /// # Panics
    /// Outside a PE, if the target was never registered.
    pub fn close(self, callback: Callback<BufferMut<T>>) {
        let fire = move |node: &Node, buffer: BufferMut<T>| {
            node.fire(callback.erase(), Arguments::new(buffer));
        };
        let Some(Region { node, key }) = self.region.get() else {
            let buffer = self.unregistered.into_inner().expect("what is not registered is here");
            return Pe::current(|pe| fire(&pe.node, buffer));
        };
        deregistration::close(node, key, move |node, held| fire(node, into_target(held)));
    }
}

/// The buffer that a target was registered from.
fn into_target<T: Element>(held: Held) -> BufferMut<T> {
    let Held::Target(memory) = held else { unreachable!("a target was given") };
    BufferMut::from_memory(memory).unwrap_or_else(|_| unreachable!("it was such a buffer"))
}
