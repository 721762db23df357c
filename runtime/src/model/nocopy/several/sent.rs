//! Several buffers to be sent as one argument.

#![expect(unsafe_code, reason = "lends several pieces of memory as one")]

use super::span::{Piece, Span};
use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use crate::model::nocopy::buffer::Element;
use crate::model::nocopy::outgoing::{NocopyArgument, Outgoing, OutgoingMemory, Terms};
use crate::model::nocopy::release::HandBack;
use chare_lrts::Memory;
use std::fmt;
use std::marker::PhantomData;

/// Several buffers for one `#[nocopy]` parameter of elements `P`, which receives the elements of all of them, in order: what codes do that
/// keep each quantity of a grid or a particle in an array of its own.
///
/// Each piece is what such a parameter takes by itself: a vector, a [`Buffer`](crate::Buffer), a [`SendBuffer`](crate::SendBuffer) by a
/// layout, a [`Part`](crate::Part). Pieces of unlike elements go as bytes, by [`Layout::in_bytes`](crate::Layout::in_bytes). Each piece's
/// own `on_sent` runs when the argument is released; a piece that the receiver took a part of, or nothing, learns so. What a piece says of its
/// registration does not count.
///
/// It costs one message and one release, whatever the number of pieces; a piece costs about half of what a call of its own would. A
/// receiver that reaches all pieces copies them once, to where they are to be; that is so in one process, and on one host where they lie in
/// the runtime's memory ([`BufferMut::zeroed`](crate::BufferMut::zeroed)); elsewhere they are packed for the way. Pieces by lists are packed,
/// too, until the same ones have been sent twice.
///
/// ```
/// use chare::layout::{Dims, Layout};
/// use chare::prelude::*;
/// use chare::{Element, Landing, Several, SeveralMut};
///
/// fn column_of<T: Element>(at: usize) -> Layout<T, u8> {
///     Dims::new([4, 4]).select::<T>((.., at)).in_bytes()
/// }
///
/// struct Tile {
///     heat: Option<BufferMut<f64>>,
///     kind: Option<BufferMut<u32>>,
/// }
///
/// #[chare]
/// impl Tile {
///     #[entry]
///     fn new() -> Self {
///         Self { heat: Some(vec![0.0; 16].into()), kind: Some(vec![0; 16].into()) }
///     }
///
///     #[entry]
///     fn halo(&mut self, #[nocopy(post)] column: Posted<u8>) {
///         let mut landed = column.into_several();
///         let (heat, kind): (BufferMut<f64>, BufferMut<u32>) = (landed.next_buffer(), landed.next_buffer());
///         assert_eq!((heat[4], kind[4]), (1.5, 7));
///         chare::exit(0);
///     }
///
///     #[post(halo)]
///     fn post_halo(&mut self, column: Post<u8>) {
///         let (heat, kind) = (self.heat.take().expect("one comes"), self.kind.take().expect("one comes"));
///         let both = SeveralMut::of(Landing::at(&column_of::<f64>(0), heat))
///             .and(Landing::at(&column_of::<u32>(0), kind));
///         column.post_several(both).expect("as many bytes come");
///     }
/// }
///
/// let code = chare::Job::in_process(2, 1).run(|| async {
///     let both = Several::of(SendBuffer::from(vec![1.5; 16]).only(&column_of::<f64>(3)))
///         .and(SendBuffer::from(vec![7; 16]).only(&column_of::<u32>(3)));
///     TileProxy::create_on(PeId(1)).halo(both);
///     chare::future::<()>().0.await;
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// In MPI it is a struct of absolute addresses (`MPI_Type_create_struct` with `MPI_BOTTOM`).
pub struct Several<P: Element> {
    pieces: Vec<OutgoingMemory>,
    elements: PhantomData<fn() -> P>,
}

impl<P: Element> Several<P> {
    /// The first piece.
    pub fn of(first: impl NocopyArgument<P>) -> Self {
        Self { pieces: vec![of_host(first)], elements: PhantomData }
    }

    /// These pieces, and then another.
    #[must_use]
    pub fn and(mut self, next: impl NocopyArgument<P>) -> Self {
        self.pieces.push(of_host(next));
        self
    }
}

impl<P: Element> NocopyArgument<P> for Several<P> {
    fn erase(self) -> Outgoing {
        let mut pieces = self.pieces;
        let is_dealt = pieces.iter().any(|piece| piece.dealt.is_some());
        assert!(!is_dealt, "one of several buffers cannot be dealt out: send it as an argument of its own");
        let is_awaited = pieces.iter().any(|piece| piece.hand_back.is_some());
        let hand_back = is_awaited.then(|| {
            let backs: Vec<_> =
                pieces.iter_mut().map(|piece| (piece.bytes() as u64, piece.hand_back.take())).collect();
            let hand_back: HandBack = Box::new(move |taken, fire| hand_back(backs, taken, fire));
            hand_back
        });
        let Span { address, len, share, layout, comes_again } =
            Span::around(&pieces.iter().map(piece).collect::<Vec<_>>());
        // Lists are told to a peer who keeps them for the next time. Those of arrays that lie elsewhere each time would be told in vain: packing
        // costs less.
        let share = share.filter(|_| comes_again || layout.index_count() == 0);
        let memories: Vec<Memory> = pieces.into_iter().map(|piece| piece.memory).collect();
        // SAFETY: the owner keeps the pieces allocated and unwritten, and the memory travels with the layout that selects them, beside which
        // nobody reads it. The address is one of all pieces, which have exposed theirs; where they lie in an arena, all of it does.
        let memory = unsafe { Memory::lent(address, len, share, Box::new(memories)) };
        let (layout, terms) = (Some(layout), Terms { is_several: true, ..Terms::default() });
        Outgoing::Host(OutgoingMemory { memory, layout, dealt: None, terms, hand_back })
    }
}

/// # Panics
/// If the piece lies on a device.
fn of_host<P: Element>(piece: impl NocopyArgument<P>) -> OutgoingMemory {
    piece.erase().expect_host("`Several`, which is read as one,")
}

fn piece(outgoing: &OutgoingMemory) -> Piece<'_> {
    let OutgoingMemory { memory, layout, .. } = outgoing;
    Piece {
        address: memory.address(),
        share: memory.share(),
        bytes: outgoing.bytes(),
        layout: layout.as_ref(),
    }
}

/// Hands each piece back with as much of it as the first `taken` bytes of all pieces contain.
fn hand_back(
    pieces: Vec<(u64, Option<HandBack>)>,
    taken: u64,
    fire: &mut dyn FnMut(ErasedCallback, Arguments),
) {
    let mut left = taken;
    for (bytes, hand_back) in pieces {
        let taken = left.min(bytes);
        left -= taken;
        if let Some(hand_back) = hand_back {
            hand_back(taken, fire);
        }
    }
}

impl<P: Element> fmt::Debug for Several<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Several").field(&self.pieces).finish()
    }
}
