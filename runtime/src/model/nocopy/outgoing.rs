//! Outgoing nocopy arguments: the buffers that a caller sends, and how they come back.

use super::device::OutgoingDevice;
use super::registration::Registration;
use super::release::HandBack;
use crate::model::nocopy::{Buffer, Completion, Element, Release};
use chare_layout::{Layout, Partition, Raw, RawPartition};
use chare_lrts::{Memory, RegionKey};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The argument for a `#[nocopy]` parameter at the caller: a vector (moved in) or a shared [`Buffer`] of `T`, whole or by a layout whose
/// packed elements are `P`.
///
/// Each argument has its own completion: with [`SendBuffer::on_sent`] the buffer comes back when the receivers have
/// released it; without, it is dropped then.
///
/// ```
/// use chare::prelude::*;
/// use chare::Landing;
///
/// struct Sink;
///
/// #[chare]
/// impl Sink {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn take(&mut self, #[nocopy] whole: Received<f64>, #[nocopy(post)] part: Posted<f64>) {
///         assert_eq!((whole.len(), part.len()), (1000, 10));
///     }
///
///     #[post(take)]
///     fn post_take(&mut self, part: Post<f64>) {
///         part.post(Landing::first(10, vec![0.0; 2000])).expect("the sender offers more");
///     }
/// }
///
/// // Two nodes; the second receives.
/// let code = chare::Job::in_process(2, 1).run(|| async {
///     let sink = SinkProxy::create_on(PeId(1));
///     let ((whole, on_whole), (part, on_part)) = (chare::future(), chare::future());
///     sink.take(
///         SendBuffer::from(vec![1.0; 1000]).on_sent(on_whole),
///         SendBuffer::from(vec![2.0; 1000]).on_sent(on_part),
///     );
///     let (whole, part): (Sent<f64>, Sent<f64>) = (whole.await, part.await);
///     assert_eq!((whole.transferred(), part.transferred()), (1000, 10));
///     assert_eq!(part.into_vec().len(), 1000);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct SendBuffer<T: Element, P: Element = T> {
    buffer: Buffer<T>,
    layout: Option<Layout<T, P>>,
    dealt: Option<RawPartition>,
    on_sent: Option<Completion<Sent<T>>>,
    terms: Terms,
}

/// The terms on which an argument's memory is made reachable for other nodes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms {
    pub(crate) registration: Registration,
    /// Whether the registration outlives the transfer.
    pub(crate) keep: Keep,
    /// Whether it is several pieces of memory, between which others or none may lie.
    pub(crate) is_several: bool,
}

/// Whether a registration outlives its transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Keep {
    #[default]
    No,
    /// Nobody asked, but keeping it costs no more than its place: all its receivers map the memory, and touch it no more when they say so.
    IfRoom,
    /// The sender asked.
    Asked,
}

impl Keep {
    /// That of a registration which serves both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Asked, _) | (_, Self::Asked) => Self::Asked,
            (Self::IfRoom, Self::IfRoom) => Self::IfRoom,
            _ => Self::No,
        }
    }
}

impl<T: Element> SendBuffer<T> {
    /// Sends only what a layout selects, in the layout's order; of several layouts the last one. The buffer is shared as it is, and not
    /// packed before: the receiver's side copies from where the layout says to where the elements are to be, once, wherever it reaches the
    /// memory; elsewhere the elements are packed for the way.
    ///
    /// The receiver sees as many elements as the layout selects. In a call of many, members that post or view take them from where they lie
    /// wherever they can; for all others they are packed once.
    ///
    /// ```
    /// use chare::layout::{Dims, Layout};
    /// use chare::prelude::*;
    ///
    /// struct Neighbour;
    ///
    /// #[chare]
    /// impl Neighbour {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     fn halo(&mut self, #[nocopy] column: Received<f64>, done: Callback<Vec<f64>>) {
    ///         done.send(column.to_vec());
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(2, 1).run(|| async {
    ///     let grid = Dims::new([3, 4]);
    ///     let east: Layout<f64> = grid.select((.., 3));
    ///     let values: Buffer<f64> = (0..12).map(f64::from).collect::<Vec<_>>().into();
    ///     let (column, done) = chare::future();
    ///     NeighbourProxy::create_on(PeId(1)).halo(SendBuffer::from(values.clone()).only(&east), done);
    ///     assert_eq!(column.await, [3.0, 7.0, 11.0]);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// The layouts are MPI's derived datatypes as values (MPI standard, chapter "Datatypes"); that they travel instead of lists of pieces is
    /// FALCON-X's idea.
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer.
    pub fn only<P: Element>(self, layout: &Layout<T, P>) -> SendBuffer<T, P> {
        let bytes = size_of_val::<[T]>(&self.buffer) as u64;
        layout.check_bounds(bytes).unwrap_or_else(|error| panic!("a layout of what is sent: {error}"));
        let Self { buffer, layout: _, dealt: _, on_sent, terms } = self;
        SendBuffer { buffer, layout: Some(layout.clone()), dealt: None, on_sent, terms }
    }

    /// Deals the buffer out to the members of a collection or a section: each receives the part of its index, where parts are counted or
    /// placed as members are. A member's integer is the number of its part; so is a PE's and a node's. A member's tuple is the place of its
    /// part, in a partition of as many dimensions. Of several selections the last one counts.
    ///
    /// The call is one of all members, as any: the buffer goes down the tree once, and is read in place where it can be mapped; each
    /// member sees, keeps or lands its part alone. A node that cannot map the buffer fetches the parts of
    /// the members on it and below it in the tree; all of it where the members are a section, or a collection that grows.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::Partition;
    ///
    /// struct Tile;
    ///
    /// #[chare(array, index = (u32, u32))]
    /// impl Tile {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     fn take(&mut self, #[nocopy] tile: ReceivedView<u32>, all: Callback<Vec<Vec<u32>>>) {
    ///         self.contribute(set(tile.to_vec()), all);
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(2, 1).run(|| async {
    ///     let tiles = TileProxy::create((2, 2));
    ///     let blocks = Partition::blocks([4, 4], [2, 2]).expect("four tiles");
    ///     let (all, done) = chare::future();
    ///     let matrix: Vec<u32> = (0..16).collect();
    ///     tiles.take(SendBuffer::from(matrix).each(&blocks), done);
    ///     let mut all: Vec<Vec<u32>> = all.await;
    ///     all.sort();
    ///     assert_eq!(all, [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// A member without a part ends the job with an error that says so. [`Sent::transferred`] is the length of the shortest part where
    /// parts are posted, else that of the buffer.
    ///
    /// # Panics
    /// If the buffer's length is not the partition's. Called of one chare, the call panics: [`only`](SendBuffer::only) sends it a part.
    pub fn each(self, partition: &Partition<T>) -> Self {
        let (have, need) = (self.buffer.len(), partition.elements());
        assert!(have == need, "a buffer of {have} elements to be dealt out as {need}: send one as long");
        Self { layout: None, dealt: Some(partition.raw().clone()), ..self }
    }
}

impl<T: Element, P: Element> SendBuffer<T, P> {
    /// Hands the buffer to a callback when the transfer is over, once, with the length that was transferred. Then the buffer may be
    /// written again, if the caller kept no clone. [`Callback::carrying`](crate::Callback::carrying) lets a value of the caller's come
    /// back with the buffer.
    ///
    /// A sender that waits in this way hears of a posted argument as soon as it has landed. The buffer of one that does not may be held
    /// until the receiver's entry is over: what that sends goes first.
    pub fn on_sent(mut self, completion: impl Into<Completion<Sent<T>>>) -> Self {
        self.on_sent = Some(completion.into());
        self
    }

    /// Sets when the memory is made reachable for other nodes; without this, it is when the memory turns out to leave the process.
    ///
    /// ```
    /// use chare::{Registration, SendBuffer};
    /// let staged: SendBuffer<f64> = SendBuffer::from(vec![1.0; 1000]).registration(Registration::Pooled);
    /// let copied: SendBuffer<f64> = SendBuffer::from(vec![1.0; 1000]).registration(Registration::None);
    /// # drop((staged, copied));
    /// ```
    pub fn registration(mut self, registration: Registration) -> Self {
        self.terms.registration = registration;
        self
    }

    /// Keeps the memory registered when the transfer is over, for the next time that the same [`Buffer`] is sent: until the buffer becomes
    /// writable or is dropped, or other buffers have been used more recently.
    pub fn keep_registered(mut self) -> Self {
        self.terms.keep = Keep::Asked;
        self
    }

    fn into_outgoing(self) -> Outgoing {
        let Self { buffer, layout, dealt, on_sent, terms } = self;
        let outgoing = |memory, hand_back| {
            Outgoing::Host(OutgoingMemory { dealt, ..OutgoingMemory::new(memory, layout, terms, hand_back) })
        };
        let Some(completion) = on_sent else { return outgoing(buffer.into_memory(), None) };
        let memory = buffer.memory().clone();
        let hand_back: HandBack = Box::new(move |bytes, fire| {
            let transferred = bytes as usize / size_of::<P>();
            let (callback, sent) = completion.finish(Sent { buffer, transferred });
            fire(callback, sent);
        });
        outgoing(memory, Some(hand_back))
    }
}

impl<T: Element, B: Into<Buffer<T>>> From<B> for SendBuffer<T> {
    fn from(buffer: B) -> Self {
        Self { buffer: buffer.into(), layout: None, dealt: None, on_sent: None, terms: Terms::default() }
    }
}

/// A value that a call takes for a `#[nocopy]` parameter of elements `P`: what becomes a [`Buffer`] of them, a [`SendBuffer`],
/// a [`SendDeviceBuffer`](crate::SendDeviceBuffer), a [`Part`](crate::Part), or [`Several`](crate::Several) of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent for a nocopy parameter of `{P}` elements",
    note = "give a `Vec<{P}>`, a `Buffer<{P}>`, or a `SendBuffer` of one, and of a device a `SendDeviceBuffer`; one by a layout has the layout's packed elements"
)]
pub trait NocopyArgument<P: Element> {
    /// Forgets the element types.
    #[doc(hidden)]
    fn erase(self) -> Outgoing;
}

impl<P: Element, B: Into<Buffer<P>>> NocopyArgument<P> for B {
    fn erase(self) -> Outgoing {
        SendBuffer::from(self).into_outgoing()
    }
}

impl<T: Element, P: Element> NocopyArgument<P> for SendBuffer<T, P> {
    fn erase(self) -> Outgoing {
        self.into_outgoing()
    }
}

/// A nocopy argument that has been sent: the caller's buffer, and how much of it the receiver took.
///
/// ```
/// # use chare::{Buffer, Sent};
/// fn reuse(sent: Sent<f64>) -> Vec<f64> {
///     println!("{} of {} elements went out", sent.transferred(), sent.len());
///     sent.into_vec() // the very vector, if the caller kept no clone of the buffer
/// }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Sent<T: Element> {
    buffer: Buffer<T>,
    transferred: usize,
}

impl<T: Element> Sent<T> {
    /// How many elements went out, packed ones where a layout selected them. A receiver may have posted a shorter buffer than was offered; of several receivers, the
    /// one that took the fewest counts.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// The buffer as it was given.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: Element> Deref for Sent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer
    }
}

/// A nocopy argument as the caller gave it, its element type forgotten.
pub enum Outgoing {
    /// In memory of the host.
    Host(OutgoingMemory),
    /// In memory of a device.
    Device(OutgoingDevice),
}

impl Outgoing {
    /// The argument, if it lies in memory of the host.
    ///
    /// # Panics
    /// If it lies on a device; `who` says who takes none that does.
    pub(crate) fn expect_host(self, who: &str) -> OutgoingMemory {
        match self {
            Self::Host(outgoing) => outgoing,
            Self::Device(_) => {
                panic!("{who} takes no device buffer: send it to one chare, as an argument of its own")
            }
        }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, what) = match self {
            Self::Host(outgoing) => (outgoing.memory.len(), "bytes"),
            Self::Device(outgoing) => (outgoing.buffer.len(), "bytes of a device"),
        };
        write!(out, "Outgoing({bytes} {what})")
    }
}

/// A nocopy argument in memory of the host, as the caller gave it.
pub struct OutgoingMemory {
    pub(crate) memory: Memory,
    pub(crate) layout: Option<Arc<Raw>>,
    /// How the whole memory is dealt out, if it is.
    pub(crate) dealt: Option<RawPartition>,
    pub(crate) terms: Terms,
    pub(crate) hand_back: Option<HandBack>,
}

impl OutgoingMemory {
    pub(super) fn new<T, P>(
        memory: Memory,
        layout: Option<Layout<T, P>>,
        terms: Terms,
        hand_back: Option<HandBack>,
    ) -> Self {
        let outgoing = |memory, layout| Self { memory, layout, dealt: None, terms, hand_back };
        let Some(layout) = layout else { return outgoing(memory, None) };
        let start = layout.origin() as usize;
        let is_aligned = memory.address().wrapping_add(start).addr().is_multiple_of(align_of::<P>());
        if layout.is_contiguous() && is_aligned {
            let memory = memory.into_slice(start, layout.bytes() as usize);
            return outgoing(memory, None);
        }
        outgoing(memory, Some(layout.into_raw()))
    }

    /// Bytes of the argument, packed.
    pub(crate) fn bytes(&self) -> usize {
        packed_bytes(&self.memory, self.layout.as_deref())
    }
}

impl fmt::Debug for OutgoingMemory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "OutgoingMemory({} bytes)", self.memory.len())
    }
}

/// A nocopy argument on its way that has not left its process, in memory of the host. A broadcast clones it.
#[derive(Clone)]
pub(crate) struct Leaving {
    pub(crate) memory: Memory,
    /// The selection that is meant, if not the whole memory.
    pub(crate) layout: Option<Arc<Raw>>,
    pub(crate) release: Option<Arc<Release>>,
    pub(crate) terms: Terms,
    /// Whether the argument came from another node, so that the memory is this node's own.
    pub(crate) is_copy: bool,
    /// The region that the memory is all of, if another node has lent it to this one.
    pub(crate) lent: Option<RegionKey>,
}

impl Leaving {
    /// Bytes that this node keeps because another sent them.
    pub(crate) fn kept_bytes(&self) -> usize {
        if self.is_copy { self.memory.len() } else { 0 }
    }

    /// An argument that is the whole of its memory, with the default terms.
    pub(crate) fn plain(memory: Memory, release: Option<Arc<Release>>) -> Self {
        Self { memory, layout: None, release, terms: Terms::default(), is_copy: false, lent: None }
    }

    /// Bytes of the argument, packed.
    pub(crate) fn bytes(&self) -> usize {
        packed_bytes(&self.memory, self.layout.as_deref())
    }
}

/// Bytes of an argument, packed.
pub(crate) fn packed_bytes(memory: &Memory, layout: Option<&Raw>) -> usize {
    layout.map_or(memory.len(), |layout| layout.bytes() as usize)
}
