//! The nocopy arguments of a call, from the sender's hand to the entry method's parameters.
//!
//! ```text
//! SendBuffer<T> --> Outgoing --> Leaving --(same process)--> Arrived --> Received<T>
//!                                   |                           ^
//!                                   +--> Descriptor --> view, get, or bytes that came along
//! ```
//! For `#[nocopy(post)]` the post method sees a [`Post`] first, and the arrived bytes are those of the buffer it gave.

use super::buffer::{Buffer, BufferMut, Element};
use crate::callback::Callback;
use crate::message::Arguments;
use chare_lrts::{Memory, MemoryMut};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// What a `#[nocopy]` parameter is given at the caller: a vector (moved in) or a shared [`Buffer`].
///
/// With [`SendBuffer::on_sent`] the buffer comes back when the receivers have released it; without, it is
/// dropped then.
pub struct SendBuffer<T: Element> {
    buffer: Buffer<T>,
    on_sent: Option<Callback<Buffer<T>>>,
}

impl<T: Element> SendBuffer<T> {
    /// Hands the buffer to `callback` when the transfer is over: it may be written again then, if the caller kept no clone.
    pub fn on_sent(mut self, callback: Callback<Buffer<T>>) -> Self {
        self.on_sent = Some(callback);
        self
    }

    /// Forgets the element type.
    pub fn erase(self) -> Outgoing {
        let memory = self.buffer.memory().clone();
        let hand_back = self.on_sent.map(|callback| {
            let buffer = self.buffer;
            Box::new(move || (callback.erase(), Arguments::new(buffer))) as Box<dyn FnOnce() -> _ + Send>
        });
        Outgoing { memory, hand_back }
    }
}

impl<T: Element, B: Into<Buffer<T>>> From<B> for SendBuffer<T> {
    fn from(buffer: B) -> Self {
        Self { buffer: buffer.into(), on_sent: None }
    }
}

/// What runs when a send is over: a callback and the buffer it hands back.
pub(crate) type HandBack = Box<dyn FnOnce() -> (crate::callback::ErasedCallback, Arguments) + Send>;

/// A nocopy argument as the caller gave it, its element type forgotten.
pub struct Outgoing {
    pub(crate) memory: Memory,
    pub(crate) hand_back: Option<HandBack>,
}

/// A nocopy argument on its way that has not left its process. A broadcast clones it.
#[derive(Clone)]
pub(crate) struct Leaving {
    pub(crate) memory: Memory,
    pub(crate) release: Option<Arc<Release>>,
}

/// Tells the sender, when the last clone is dropped, that its buffer is free again. Dropped after the memory it speaks of.
pub(crate) struct Release(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Release {
    pub(crate) fn new(run: impl FnOnce() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Some(Box::new(run))))
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

/// A nocopy argument that the entry may use.
pub(crate) enum Arrived {
    /// To be read in place; the sender learns when the release is dropped.
    Received { memory: Memory, release: Option<Arc<Release>> },
    /// The buffer that the post method gave, filled up to `len` bytes.
    Posted { memory: MemoryMut, len: usize },
}

/// The arrived nocopy arguments of one call, taken in declaration order by generated code.
pub struct NocopyArguments(Option<Box<std::vec::IntoIter<Arrived>>>);

/// A parameter type that `#[nocopy]` knows.
pub trait NocopyParameter: Sized {
    /// What the buffer consists of.
    type Element: Element;

    #[doc(hidden)]
    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String>;
}

/// Keeps [`Arrived`] out of the public interface.
#[doc(hidden)]
pub struct ArrivedArgument(Arrived);

impl NocopyArguments {
    pub(crate) fn new(arrived: Vec<Arrived>) -> Self {
        Self(Some(Box::new(arrived.into_iter())))
    }

    /// The nocopy arguments of an entry that has none.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// The next argument, as the parameter's type.
    ///
    /// # Panics
    /// If the sender's elements do not fit the parameter's: the job ends and names the entry.
    pub fn take<P: NocopyParameter>(&mut self) -> P {
        let next = self.0.as_mut().and_then(Iterator::next);
        let arrived = next.expect("a call has as many nocopy arguments as its entry has parameters");
        match P::from_arrived(ArrivedArgument(arrived)) {
            Ok(parameter) => parameter,
            Err(cause) => panic!("a nocopy argument does not fit its parameter: {cause}"),
        }
    }
}

fn misfit<T>(address: *const u8, len: usize) -> String {
    format!(
        "{len} bytes at an address aligned to {} are no whole number of `{}` ({} bytes each, aligned to {})",
        1usize << (address as usize).trailing_zeros().min(12),
        std::any::type_name::<T>(),
        size_of::<T>(),
        align_of::<T>()
    )
}

/// A `#[nocopy]` argument as the entry sees it: the sender's own memory inside a process, a mapped view of it on
/// one host where it is shareable, else memory of the runtime filled by one get.
///
/// Dropping it tells the sender that its buffer is free; keep it as long as you like.
pub struct Received<T: Element> {
    buffer: Buffer<T>,
    release: Option<Arc<Release>>,
}

impl<T: Element> Received<T> {
    /// The elements as a vector: without a copy if nobody else holds the memory and it was a vector or was fetched, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        let Self { buffer, release } = self;
        let vector = buffer.into_vec();
        drop(release);
        vector
    }
}

impl<T: Element> Clone for Received<T> {
    fn clone(&self) -> Self {
        Self { buffer: self.buffer.clone(), release: self.release.clone() }
    }
}

impl<T: Element> Deref for Received<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer
    }
}

impl<T: Element> fmt::Debug for Received<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Received({} elements)", self.len())
    }
}

impl<T: Element> NocopyParameter for Received<T> {
    type Element = T;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::Received { memory, release } = arrived.0 else {
            return Err("the runtime delivered a posted buffer to a plain nocopy parameter".to_owned());
        };
        match Buffer::from_memory(memory) {
            Ok(buffer) => Ok(Self { buffer, release }),
            Err(memory) => Err(misfit::<T>(memory.address(), memory.len())),
        }
    }
}

/// A `#[nocopy(post)]` argument as the entry sees it: the buffer that the post method gave, filled from its start.
pub struct Posted<T: Element> {
    buffer: BufferMut<T>,
    transferred: usize,
}

impl<T: Element> Posted<T> {
    /// How many elements the transfer wrote; the rest of the buffer is untouched.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// The whole posted buffer, to be used and posted again.
    pub fn into_buffer(self) -> BufferMut<T> {
        self.buffer
    }

    /// The whole posted buffer as a vector; without a copy if it was posted as one.
    pub fn into_vec(self) -> Vec<T> {
        self.buffer.into_vec()
    }
}

impl<T: Element> Deref for Posted<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer[..self.transferred]
    }
}

impl<T: Element> fmt::Debug for Posted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Posted({} of {} elements)", self.transferred, self.buffer.len())
    }
}

impl<T: Element> NocopyParameter for Posted<T> {
    type Element = T;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::Posted { memory, len } = arrived.0 else {
            return Err("the runtime delivered an unposted buffer to a posted parameter".to_owned());
        };
        match BufferMut::from_memory(memory) {
            Ok(buffer) => Ok(Self { buffer, transferred: len / size_of::<T>() }),
            Err(memory) => Err(misfit::<T>(memory.address(), memory.len())),
        }
    }
}

/// The buffers that a call's post method must give, taken in declaration order by generated code.
pub struct Posts(std::vec::IntoIter<Rc<PostSlot>>);

/// Room for one posted buffer.
pub(crate) struct PostSlot {
    source_bytes: usize,
    given: Cell<Option<Given>>,
}

/// A posted buffer and how many bytes of it are to be filled.
pub(crate) struct Given {
    pub(crate) memory: MemoryMut,
    pub(crate) bytes: usize,
}

impl PostSlot {
    pub(crate) fn new(source_bytes: usize) -> Rc<Self> {
        Rc::new(Self { source_bytes, given: Cell::new(None) })
    }

    /// The buffer, checked against the source.
    ///
    /// # Errors
    /// No buffer, or one that asks for more than there is, in words.
    pub(crate) fn take(&self) -> Result<Given, String> {
        let given = self.given.take().ok_or("its post method posted no buffer; call `Post::post` in it")?;
        if given.bytes > self.source_bytes {
            return Err(format!(
                "the posted buffer wants {} bytes, the sender offers {}; post a buffer of `Post::len` elements or fewer",
                given.bytes, self.source_bytes
            ));
        }
        Ok(given)
    }
}

impl Posts {
    pub(crate) fn new(slots: Vec<Rc<PostSlot>>) -> Self {
        Self(slots.into_iter())
    }

    /// The next posted parameter's slot.
    pub fn take<P: NocopyParameter>(&mut self) -> Post<P::Element> {
        let slot = self.0.next().expect("a call has as many posts as its entry has posted parameters");
        Post { slot, elements: PhantomData }
    }
}

/// Asks the post method for the buffer that a `#[nocopy(post)]` argument is to land in.
pub struct Post<T: Element> {
    slot: Rc<PostSlot>,
    elements: PhantomData<T>,
}

impl<T: Element> Post<T> {
    /// How many elements the sender offers.
    pub fn len(&self) -> usize {
        self.slot.source_bytes / size_of::<T>()
    }

    /// Whether the sender offers none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives the buffer, to be filled as a whole: at most as long as what the sender offers.
    pub fn post(self, buffer: impl Into<BufferMut<T>>) {
        let buffer = buffer.into();
        let len = buffer.len();
        self.post_first(len, buffer);
    }

    /// Gives a buffer whose first `len` elements are to be filled; its tail stays untouched.
    ///
    /// # Panics
    /// If the buffer is shorter than that.
    pub fn post_first(self, len: usize, buffer: impl Into<BufferMut<T>>) {
        let buffer = buffer.into();
        assert!(len <= buffer.len(), "posting {len} elements of a buffer of {}", buffer.len());
        self.slot.given.set(Some(Given { memory: buffer.into_memory(), bytes: len * size_of::<T>() }));
    }
}
