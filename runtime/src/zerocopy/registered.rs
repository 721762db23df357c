#![expect(unsafe_code, reason = "reads a put target in place under a claim")]
//! Memory that is registered once, for peers to read and write any number of times.
//!
//! 1. A [`RegisteredSource`] is readable by everyone, its owner included; nobody writes it while it is registered.
//! 2. A [`RegisteredTarget`] belongs to the runtime while it is registered; its owner looks at it through
//!    [`RegisteredTarget::read`], which a put under way makes fail, and gets it back by closing it.

use super::buffer::{Buffer, BufferMut, Element};
use super::handle::{Place, SourceHandle, TargetHandle};
use super::send;
use crate::callback::{Callback, ErasedCallback};
use crate::message::Arguments;
use crate::node::Node;
use crate::pe::Pe;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Held, MemoryMut, RegionKey};
use std::marker::PhantomData;
use std::sync::Arc;

/// Ends a registration when dropped.
struct Registration {
    node: Arc<Node>,
    key: RegionKey,
}

impl Registration {
    /// # Panics
    /// If more than 65,536 regions are registered on this node.
    fn new(held: Held) -> Self {
        let node = Pe::current(|pe| Arc::clone(&pe.node));
        let Ok(key) = node.network.regions().register(held) else {
            panic!("more than 65,536 regions are registered on this node; drop some first")
        };
        Self { node, key }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Stale means closed before. Memory that a transfer still touches is freed after it.
        let _ = self.node.network.regions().deregister(&self.key);
    }
}

/// Elements that peers may read with [`rget`]; registered until dropped.
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
    registration: Registration,
    buffer: Buffer<T>,
    notify: Option<ErasedCallback>,
}

impl<T: Element> RegisteredSource<T> {
    /// Registers a buffer for reading. Copies nothing.
    ///
    /// # Panics
    /// Outside a PE, or when 65,536 regions are registered on this node.
    pub fn register(buffer: impl Into<Buffer<T>>) -> Self {
        let buffer = buffer.into();
        let registration = Registration::new(Held::Source(buffer.memory().clone()));
        Self { registration, buffer, notify: None }
    }

    /// Tells `callback` after every transfer by handles made from here on: the bytes transferred.
    pub fn notify(mut self, callback: Callback<u64>) -> Self {
        self.notify = Some(callback.erase());
        self
    }

    /// What peers need.
    pub fn handle(&self) -> SourceHandle<T> {
        SourceHandle {
            place: Place::new(self.registration.key, size_of::<T>(), self.notify),
            elements: PhantomData,
        }
    }

    /// Ends the registration; handles are stale from here on.
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

/// Elements that peers may write with [`rput`] and read with [`rget`]; registered until closed or dropped.
pub struct RegisteredTarget<T: Element> {
    registration: Registration,
    notify: Option<ErasedCallback>,
    elements: PhantomData<T>,
}

impl<T: Element> RegisteredTarget<T> {
    /// Registers a buffer for writing. Copies nothing.
    ///
    /// # Panics
    /// Outside a PE, or when 65,536 regions are registered on this node.
    pub fn register(buffer: impl Into<BufferMut<T>>) -> Self {
        let registration = Registration::new(Held::Target(buffer.into().into_memory()));
        Self { registration, notify: None, elements: PhantomData }
    }

    /// Tells `callback` after every transfer by handles made from here on: the bytes transferred.
    pub fn notify(mut self, callback: Callback<u64>) -> Self {
        self.notify = Some(callback.erase());
        self
    }

    /// What peers need.
    pub fn handle(&self) -> TargetHandle<T> {
        TargetHandle {
            place: Place::new(self.registration.key, size_of::<T>(), self.notify),
            elements: PhantomData,
        }
    }

    /// Looks at the elements, unless a put is under way.
    pub fn read<R>(&self, body: impl FnOnce(&[T]) -> R) -> Option<R> {
        let Registration { node, key } = &self.registration;
        let claim = node.network.regions().claim(key, 0, key.len, ClaimMode::Read).ok()?;
        // SAFETY: the region was registered from a `BufferMut<T>`, so address and length fit `T`; the read claim keeps the
        // bytes allocated and every writer out until it is dropped, after `body`.
        let elements =
            unsafe { std::slice::from_raw_parts(claim.address().cast::<T>(), claim.len() / size_of::<T>()) };
        Some(body(elements))
    }

    /// Ends the registration and hands the buffer to `callback` once no transfer touches it. Handles are
    /// stale from here on.
    pub fn close(self, callback: Callback<BufferMut<T>>) {
        let Registration { node, key } = &self.registration;
        let then_node = Arc::clone(node);
        let hand_back = move |memory: MemoryMut| {
            if let Ok(buffer) = BufferMut::<T>::from_memory(memory) {
                send::fire(&then_node, callback.erase(), Arguments::new(buffer));
            }
        };
        node.closing.close(node.network.regions(), key, Box::new(hand_back));
    }
}
