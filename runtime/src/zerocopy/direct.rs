#![expect(unsafe_code, reason = "reads a put target in place under a claim")]
//! The Direct API: memory registered once, then read (`rget`) and written (`rput`) by peers any number of times.
//!
//! 1. A [`RegisteredSource`] is readable by everyone, its owner included; nobody writes it while it is registered.
//! 2. A [`RegisteredTarget`] belongs to the runtime while it is registered; its owner looks at it through
//!    [`RegisteredTarget::read`], which a put under way makes fail, and gets it back by closing it.
//! 3. The local side of a transfer moves into it and comes back through the callback.
//!
//! The idea is Charm++'s Zero Copy Direct API (`CkNcpyBuffer`, manual section "Zero Copy Messaging API"), with ownership in place
//! of raw pointers.

use super::buffer::{Buffer, BufferMut, Element};
use super::{Status, send};
use crate::callback::{Callback, ErasedCallback};
use crate::envelope::{self, Header};
use crate::error::JobError;
use crate::message::Arguments;
use crate::node::Node;
use crate::pe::Pe;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Completion, Held, MemoryMut, RegionKey};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// A range of registered elements that any PE may read. Small, copyable, serializable, reusable.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SourceHandle<T> {
    place: Place,
    elements: PhantomData<fn() -> T>,
}

/// A range of registered elements that any PE may write, and read. Small, copyable, serializable, reusable.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TargetHandle<T> {
    place: Place,
    elements: PhantomData<fn() -> T>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Place {
    key: RegionKey,
    /// In elements.
    start: u64,
    len: u64,
    notify: Option<ErasedCallback>,
}

impl Place {
    fn new(key: RegionKey, element_bytes: usize, notify: Option<ErasedCallback>) -> Self {
        Self { key, start: 0, len: key.len / element_bytes as u64, notify }
    }

    fn slice(self, range: Range<usize>) -> Self {
        let (start, end) = (range.start as u64, range.end as u64);
        assert!(
            start <= end && end <= self.len,
            "elements {start}..{end} of a handle to {} elements",
            self.len
        );
        Self { start: self.start + start, len: end - start, ..self }
    }

    fn bytes<T>(self) -> (u64, usize) {
        let size = size_of::<T>() as u64;
        // A handle from a peer is an allegation; what overflows is out of range, which the region's table refuses.
        (
            self.start.saturating_mul(size),
            usize::try_from(self.len.saturating_mul(size)).unwrap_or(usize::MAX),
        )
    }
}

macro_rules! handle {
    ($handle:ident) => {
        impl<T: Element> $handle<T> {
            /// How many elements it covers.
            pub fn len(&self) -> usize {
                self.place.len as usize
            }

            /// Whether it covers none.
            pub fn is_empty(&self) -> bool {
                self.place.len == 0
            }

            /// A part of the range.
            ///
            /// # Panics
            /// If `range` reaches beyond it.
            pub fn slice(&self, range: Range<usize>) -> Self {
                Self { place: self.place.slice(range), elements: PhantomData }
            }
        }

        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $handle<T> {}

        impl<T> fmt::Debug for $handle<T> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    out,
                    concat!(stringify!($handle), "({} elements on {})"),
                    self.place.len, self.place.key.node
                )
            }
        }
    };
}

handle!(SourceHandle);
handle!(TargetHandle);

impl<T: Element> TargetHandle<T> {
    /// The same range for reading.
    pub fn as_source(&self) -> SourceHandle<T> {
        SourceHandle { place: self.place, elements: PhantomData }
    }
}

/// The local buffer does not fit the handle; it comes back.
#[derive(Error)]
#[error("a local buffer of {have} elements for a transfer of {need}; {cure}")]
pub struct Misfit<B> {
    /// The buffer given.
    pub buffer: B,
    /// Its elements.
    pub have: usize,
    /// The elements of the handle.
    pub need: usize,
    cure: &'static str,
}

impl<B> fmt::Debug for Misfit<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

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

/// Reads a peer's elements into `into`, from its start on; `into` may be longer, its tail stays untouched. `done` receives
/// `into` when it is filled. One copy or one network read; no message to the peer's processor where the path is one-sided.
///
/// A handle that is stale when the transfer runs ends the job with an error that says so.
///
/// # Errors
/// [`Misfit`] when `into` is shorter than the handle.
pub fn rget<T: Element>(
    from: &SourceHandle<T>,
    into: BufferMut<T>,
    done: Callback<BufferMut<T>>,
) -> Result<Status, Misfit<BufferMut<T>>> {
    let place = from.place;
    if (into.len() as u64) < place.len {
        let (have, need) = (into.len(), place.len as usize);
        return Err(Misfit {
            buffer: into,
            have,
            need,
            cure: "use a longer buffer or a slice of the handle",
        });
    }
    let node = Pe::current(|pe| Arc::clone(&pe.node));
    let (offset, bytes) = place.bytes::<T>();
    let then_node = Arc::clone(&node);
    let then = move |completion: Completion| {
        if let Some(moved) = settle(&then_node, "rget", place, completion.result)
            && let Some(Ok(buffer)) = completion.memory.map(BufferMut::<T>::from_memory)
        {
            then_node.outside.count_copy(moved);
            send::fire(&then_node, done.erase(), Arguments::new(buffer));
        }
        then_node.outside.processed.add_shared(1);
    };
    node.outside.sent.add_shared(1);
    Ok(node.transfers.get(&node.network, (place.key, offset), (into.into_memory(), bytes), Box::new(then)))
}

/// Writes `from` into a peer's elements, from the handle's start on. `done` receives `from` when its bytes are in the
/// peer's memory. One copy or one network write.
///
/// A handle that is stale when the transfer runs ends the job with an error that says so.
///
/// # Errors
/// [`Misfit`] when `from` is longer than the handle.
pub fn rput<T: Element>(
    from: impl Into<Buffer<T>>,
    to: &TargetHandle<T>,
    done: Callback<Buffer<T>>,
) -> Result<Status, Misfit<Buffer<T>>> {
    let (from, place) = (from.into(), to.place);
    if from.len() as u64 > place.len {
        let (have, need) = (from.len(), place.len as usize);
        return Err(Misfit {
            buffer: from,
            have,
            need,
            cure: "use a shorter buffer or a handle to more elements",
        });
    }
    let node = Pe::current(|pe| Arc::clone(&pe.node));
    let (offset, _) = place.bytes::<T>();
    let memory = from.memory().clone();
    let then_node = Arc::clone(&node);
    let then = move |completion: Completion| {
        if let Some(moved) = settle(&then_node, "rput", place, completion.result) {
            then_node.outside.count_copy(moved);
            send::fire(&then_node, done.erase(), Arguments::new(from));
        }
        then_node.outside.processed.add_shared(1);
    };
    node.outside.sent.add_shared(1);
    Ok(node.transfers.put(&node.network, (place.key, offset), memory, Box::new(then)))
}

/// Tells the other side that a transfer is over, or ends the job when it failed.
fn settle(
    node: &Node,
    what: &str,
    place: Place,
    result: Result<usize, chare_lrts::TransferError>,
) -> Option<usize> {
    let moved = match result {
        Ok(moved) => moved,
        Err(cause) => {
            node.fail(JobError::Transfer { what: what.to_owned(), node: node.id, cause });
            return None;
        }
    };
    let Some(callback) = place.notify else { return Some(moved) };
    let bytes = moved as u64;
    if place.key.node == node.id {
        send::fire(node, callback, Arguments::new(bytes));
    } else if let Ok(frame) = envelope::encode(&Header::Notify { callback, bytes }, None) {
        node.outside.sent.add_shared(1);
        node.post(&node.outside, place.key.node, frame);
    }
    Some(moved)
}
