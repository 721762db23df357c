//! Several buffers in which one argument lands.

#![expect(unsafe_code, reason = "has several pieces of memory filled as one")]

use super::span::{Piece, Span};
use crate::model::nocopy::buffer::{BufferMut, Element, ElementType};
use crate::model::nocopy::landing::{NocopyLanding, PostedMemory};
use crate::model::nocopy::parts::PartMut;
use chare_lrts::MemoryMut;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

/// Several buffers for one posted argument of elements `P`, filled in order: see [`Several`](crate::Several).
///
/// Each piece is a vector or a [`BufferMut`], the first elements of one or those that a layout selects
/// ([`Landing`](crate::Landing)), or a [`PartMut`]. Given to [`Post::post_several`](crate::Post::post_several), it comes
/// back by [`Posted::into_several`](crate::Posted::into_several), and gives the pieces back in their order.
pub struct SeveralMut<P: Element> {
    pieces: VecDeque<(PostedMemory, ElementType)>,
    elements: PhantomData<fn() -> P>,
}

impl<P: Element> SeveralMut<P> {
    /// The first piece.
    pub fn of<T: Element>(first: impl NocopyLanding<P, Buffer = T>) -> Self {
        Self { pieces: VecDeque::new(), elements: PhantomData }.and(first)
    }

    /// These pieces, and then another.
    #[must_use]
    pub fn and<T: Element>(mut self, next: impl NocopyLanding<P, Buffer = T>) -> Self {
        self.pieces.push_back((next.erase(), ElementType::of::<T>()));
        self
    }

    /// How many elements are to be filled.
    pub fn len(&self) -> usize {
        self.bytes() / size_of::<P>()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    fn bytes(&self) -> usize {
        self.pieces.iter().map(|(piece, _)| piece.bytes).sum()
    }

    /// Takes the first piece that is still here, a whole buffer.
    ///
    /// # Panics
    /// If there is none, or it is a part, or of other elements.
    pub fn next_buffer<T: Element>(&mut self) -> BufferMut<T> {
        match PartMut::<T>::from_memory(self.next::<T>()) {
            Ok(part) => panic!("the next of several pieces is {part:?}, which `next_part` takes"),
            Err(memory) => BufferMut::from_memory(memory)
                .unwrap_or_else(|memory| panic!("the next of several pieces is {memory:?}")),
        }
    }

    /// Takes the first piece that is still here, a part of a buffer.
    ///
    /// # Panics
    /// If there is none, or it is a buffer, or of other elements.
    pub fn next_part<T: Element>(&mut self) -> PartMut<T> {
        let part = PartMut::from_memory(self.next::<T>());
        part.unwrap_or_else(|_| panic!("the next of several pieces is a buffer, which `next_buffer` takes"))
    }

    fn next<T: Element>(&mut self) -> MemoryMut {
        let next = self.pieces.pop_front();
        let (piece, elements) = next.expect("each of several pieces has been taken already");
        let wanted = ElementType::of::<T>();
        assert!(
            elements.id == wanted.id,
            "the next of several pieces has elements `{}`, not `{}`",
            elements.name,
            wanted.name
        );
        piece.memory
    }

    /// The pieces as one memory that a transfer fills; [`SeveralMut::from_memory`] gives them back.
    pub(crate) fn into_posted(self) -> PostedMemory {
        let bytes = self.bytes();
        let places: Vec<Piece<'_>> = self.pieces.iter().map(|(piece, _)| place(piece)).collect();
        let Span { address, len, share, layout, .. } = Span::around(&places);
        // SAFETY: the owner keeps the pieces allocated and is the only one to reach them; the memory travels with the layout that selects
        // them, beside which nobody touches it. The address is one of all pieces, which have exposed theirs.
        let memory = unsafe { MemoryMut::from_raw_parts(address, len, share, Box::new(self)) };
        PostedMemory { memory, bytes, layout: Some(layout) }
    }

    /// The pieces that this memory was made of.
    ///
    /// # Errors
    /// The memory itself, if it was not made of pieces.
    pub(crate) fn from_memory(memory: MemoryMut) -> Result<Self, MemoryMut> {
        if !memory.owner().is::<Self>() {
            return Err(memory);
        }
        Ok(*memory.into_owner().downcast().expect("the owner was looked at"))
    }
}

fn place(piece: &PostedMemory) -> Piece<'_> {
    let PostedMemory { memory, bytes, layout } = piece;
    Piece { address: memory.address(), share: memory.share(), bytes: *bytes, layout: layout.as_ref() }
}

impl<P: Element> fmt::Debug for SeveralMut<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SeveralMut({} elements in {} pieces)", self.len(), self.pieces.len())
    }
}
