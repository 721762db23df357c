//! Part of a buffer: exclusive or shared, held by a program or by a transfer.

#![expect(unsafe_code, reason = "reads and writes the elements of one part of a buffer")]

use super::whole::Whole;
use crate::model::nocopy::Registration;
use crate::model::nocopy::buffer::Element;
use crate::model::nocopy::completion::Completion;
use crate::model::nocopy::landing::{NocopyLanding, PostedMemory};
use crate::model::nocopy::outgoing::{NocopyArgument, Outgoing, OutgoingMemory, Terms};
use crate::model::nocopy::release::HandBack;
use chare_layout::{Layout, LayoutError, Raw};
use chare_lrts::{Memory, MemoryMut, Share};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A part of a buffer that one owner fills: its elements, or a transfer into them.
///
/// Given to [`Post::post_part`](crate::Post::post_part) it is where an argument lands, in place; it comes back by
/// [`Posted::into_part`](crate::Posted::into_part).
pub struct PartMut<T: Element> {
    pub(super) whole: Arc<Whole>,
    pub(super) number: usize,
    pub(super) elements: PhantomData<T>,
}

/// A selection within a part, checked once: see [`PartMut::within`]. It serves the parts of all buffers that are split by the same layouts.
pub struct PartLayout<T> {
    parts: Box<[Arc<Raw>]>,
    number: usize,
    layout: Layout<T>,
}

/// A part of a buffer that anyone may read and nobody may write. Cloning shares.
///
/// It is an argument for a `#[nocopy]` parameter: it leaves as it lies, as a buffer by a layout does.
pub struct Part<T: Element>(pub(super) Arc<PartMut<T>>);

impl<T: Element> PartMut<T> {
    fn layout(&self) -> &Arc<Raw> {
        &self.whole.parts[self.number]
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.layout().bytes() as usize / size_of::<T>()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A selection within this part, which [`Part::only`] sends: one of the faces of the inside of a grid, each of which has edges in common
    /// with others. Costs a walk over the layout and the other parts, once.
    ///
    /// # Errors
    /// A layout that selects what lies outside the buffer, what belongs to another part, or an element twice.
    pub fn within(&self, layout: &Layout<T>) -> Result<PartLayout<T>, LayoutError> {
        let Self { whole, number, .. } = self;
        whole.check_within(*number, layout)?;
        Ok(PartLayout { parts: whole.parts.clone(), number: *number, layout: layout.clone() })
    }

    /// Gives up writing for sharing. Copies nothing.
    pub fn share(self) -> Part<T> {
        Part(Arc::new(self))
    }

    /// The elements in the layout's order, piece by piece: each piece is what stands side by side.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.layout().runs().map(|(at, len)| {
            let first = self.whole.memory.address().wrapping_offset(at as isize).cast::<T>();
            // SAFETY: a piece of this part: within the memory, whole elements, each aligned. It is written through this value alone,
            // which is borrowed.
            unsafe { std::slice::from_raw_parts(first, len as usize / size_of::<T>()) }
        })
    }

    /// The elements in the layout's order, piece by piece, to be written.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let address = self.whole.memory.address();
        self.layout().runs().map(move |(at, len)| {
            let first = address.wrapping_offset(at as isize).cast::<T>();
            // SAFETY: as in `rows`; the value is borrowed exclusively, and pieces share no element, as `split` has checked.
            unsafe { std::slice::from_raw_parts_mut(first, len as usize / size_of::<T>()) }
        })
    }

    /// Where it lies, or what of it a layout selects: itself where it stands in one piece, else the whole memory and the layout.
    fn place(&self, layout: &Arc<Raw>) -> PartMemory {
        let memory = &self.whole.memory;
        let (address, len, share) = (memory.address(), memory.len(), memory.share());
        if !layout.is_contiguous() {
            return PartMemory { address, len, share, layout: Some(Arc::clone(layout)) };
        }
        let at = layout.origin() as usize;
        PartMemory {
            address: address.wrapping_add(at),
            len: layout.bytes() as usize,
            share: share.map(|share| Share { offset: share.offset + at as u64, ..share }),
            layout: None,
        }
    }

    /// The part as memory that a transfer fills; [`PartMut::from_memory`] gives it back.
    pub(crate) fn into_posted(self) -> PostedMemory {
        let PartMemory { address, len, share, layout } = self.place(self.layout());
        let bytes = self.layout().bytes() as usize;
        // SAFETY: the owner keeps the memory allocated and is the only one to reach the part's elements. Where the memory is more than the
        // part, it travels with the part's layout, beside which nobody touches it.
        let memory = unsafe { MemoryMut::from_raw_parts(address, len, share, Box::new(self)) };
        PostedMemory { memory, bytes, layout }
    }

    /// The part that this memory was made of.
    ///
    /// # Errors
    /// The memory itself, if it was not made of a part.
    pub(crate) fn from_memory(memory: MemoryMut) -> Result<Self, MemoryMut> {
        if !memory.owner().is::<Self>() {
            return Err(memory);
        }
        Ok(*memory.into_owner().downcast().expect("the owner was looked at"))
    }
}

/// A part's place in memory.
struct PartMemory {
    address: *mut u8,
    len: usize,
    share: Option<Share>,
    layout: Option<Arc<Raw>>,
}

impl<T: Element> Part<T> {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements in the layout's order, piece by piece: each piece is what stands side by side.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.0.rows()
    }

    /// What a layout selects of the part, in the layout's order, piece by piece.
    ///
    /// # Panics
    /// As [`Part::only`] does.
    pub fn rows_in<'a>(&'a self, selection: &'a PartLayout<T>) -> impl Iterator<Item = &'a [T]> {
        self.check(selection);
        let address = self.0.whole.memory.address();
        selection.layout.runs().map(move |(at, len)| {
            let first = address.wrapping_offset(at as isize).cast::<T>();
            // SAFETY: `check` has compared the bounds; a selection within a part is whole elements of it, or of no part. Nobody writes
            // either while the part is shared.
            unsafe { std::slice::from_raw_parts(first, len as usize / size_of::<T>()) }
        })
    }

    /// The part, exclusive again, if this is the last handle: no clone is alive, and no transfer reads it.
    ///
    /// # Errors
    /// The same part, when another handle or a transfer still holds it.
    pub fn try_into_mut(self) -> Result<PartMut<T>, Self> {
        Arc::try_unwrap(self.0).map_err(Self)
    }

    /// Sends the part, and calls back with the number of elements that went out when the receivers have released it. If the caller kept a
    /// clone, that is then the last handle.
    pub fn on_sent(self, completion: impl Into<Completion<u64>>) -> SendPart<T> {
        SendPart { on_sent: Some(completion.into()), ..self.into() }
    }

    /// Sends only what a layout selects of the part, in the layout's order.
    ///
    /// # Panics
    /// If the layout was not made for a part like this one: the same part of a buffer that was split by the same layouts.
    pub fn only(self, selection: &PartLayout<T>) -> SendPart<T> {
        self.check(selection);
        SendPart { layout: Arc::clone(selection.layout.raw()), ..self.into() }
    }

    fn check(&self, selection: &PartLayout<T>) {
        let Whole { memory, parts } = &*self.0.whole;
        let is_same = |(one, other): (&Arc<Raw>, &Arc<Raw>)| Arc::ptr_eq(one, other) || one == other;
        let is_alike = selection.number == self.0.number
            && selection.parts.len() == parts.len()
            && selection.parts.iter().zip(parts).all(is_same);
        assert!(is_alike, "a selection within a part is for that part of buffers split by the same layouts");
        let bounds = selection.layout.check_bounds(memory.len() as u64);
        bounds.unwrap_or_else(|error| panic!("a selection within a part: {error}"));
    }

    fn outgoing(self, layout: &Arc<Raw>) -> OutgoingMemory {
        let PartMemory { address, len, share, layout } = self.0.place(layout);
        // SAFETY: the owner keeps the memory allocated, and, being shared, the part's elements unwritten. Where the memory is more than
        // the part, it travels with the part's layout, beside which nobody reads it.
        let memory = unsafe { Memory::lent(address, len, share, Box::new(self)) };
        OutgoingMemory { memory, layout, dealt: None, terms: Terms::default(), hand_back: None }
    }
}

/// A part to be sent, or what a layout selects of it, whose sender may be told when its receivers have released it.
pub struct SendPart<T: Element> {
    part: Part<T>,
    layout: Arc<Raw>,
    on_sent: Option<Completion<u64>>,
    registration: Registration,
}

impl<T: Element> From<Part<T>> for SendPart<T> {
    fn from(part: Part<T>) -> Self {
        let (layout, registration) = (Arc::clone(part.0.layout()), Registration::default());
        Self { part, layout, on_sent: None, registration }
    }
}

impl<T: Element> SendPart<T> {
    /// Calls back as [`Part::on_sent`] does.
    pub fn on_sent(self, completion: impl Into<Completion<u64>>) -> Self {
        Self { on_sent: Some(completion.into()), ..self }
    }

    /// Sets when the memory is made reachable for other nodes, as [`SendBuffer::registration`](crate::SendBuffer::registration) does.
    pub fn registration(self, registration: Registration) -> Self {
        Self { registration, ..self }
    }
}

impl<T: Element> NocopyLanding<T> for PartMut<T> {
    type Buffer = T;

    fn erase(self) -> PostedMemory {
        self.into_posted()
    }
}

impl<T: Element> NocopyArgument<T> for Part<T> {
    fn erase(self) -> Outgoing {
        SendPart::from(self).erase()
    }
}

impl<T: Element> NocopyArgument<T> for SendPart<T> {
    fn erase(self) -> Outgoing {
        let Self { part, layout, on_sent, registration } = self;
        let hand_back = on_sent.map(|on_sent| {
            let hand_back: HandBack = Box::new(move |bytes, fire| {
                let (callback, sent) = on_sent.finish(bytes / size_of::<T>() as u64);
                fire(callback, sent);
            });
            hand_back
        });
        let terms = Terms { registration, ..Terms::default() };
        Outgoing::Host(OutgoingMemory { hand_back, terms, ..part.outgoing(&layout) })
    }
}

impl<T: Element> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Element> fmt::Debug for PartMut<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PartMut({} elements)", self.len())
    }
}

impl<T: Element> fmt::Debug for Part<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Part({} elements)", self.len())
    }
}

impl<T: Element> fmt::Debug for SendPart<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SendPart({} elements)", self.layout.bytes() as usize / size_of::<T>())
    }
}

impl<T> Clone for PartLayout<T> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), number: self.number, layout: self.layout.clone() }
    }
}

impl<T> fmt::Debug for PartLayout<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PartLayout({} bytes of part {})", self.layout.bytes(), self.number)
    }
}
