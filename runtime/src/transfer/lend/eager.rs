//! Eager argument: the only nocopy argument of a call to another node, if it is so short that its bytes travel with the message whoever
//! takes it, and nobody waits to hear how much of it was taken.
//!
//! 1. Its bytes are written from the sender's memory straight behind the call's block (see
//!    [`PlainCall`](crate::model::envelope::PlainCall)), by the plan that gathers them if a layout selects them. The sender has its
//!    buffer back before the message leaves. So nothing is lent, nothing is released, and no descriptor is made.
//! 2. The receiver copies the bytes once out of the frame. A post method's buffer is filled from there, in the step in which the post
//!    method gives it; any other parameter has what came.
//!
//! All other arguments go by descriptors: see [`send`](super::send) and [`receive`](crate::transfer::take::receive).

use crate::base::counters::Counters;
use crate::model::nocopy::selected::Gathered;
use crate::model::nocopy::{
    Arrived, Descriptor, Few, Given, Nocopy, NocopyKind, Outgoing, OutgoingMemory, Registration, packed_bytes,
};
use crate::node::Node;
use crate::transfer::copy::laid_out::land_bytes;
use crate::transfer::copy::planned::with_gathering;
use crate::transfer::ways;
use chare_layout::Raw;
use chare_lrts::Memory;
use chare_lrts::codec::Fill;
use smallvec::smallvec;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// An eager argument of the caller's; as what fills, its bytes.
pub(crate) struct Eager<'a> {
    memory: &'a Memory,
    layout: Option<&'a Arc<Raw>>,
}

impl<'a> Eager<'a> {
    /// The argument for a parameter of this kind, which is of the host, if it is an eager one. It is dealt out to nobody.
    pub(crate) fn of(kind: NocopyKind, outgoing: &'a OutgoingMemory) -> Option<Self> {
        let OutgoingMemory { memory, layout, terms, hand_back, .. } = outgoing;
        // Less may land than is sent, and somebody waits to hear how much.
        let is_reported = kind.is_posted() && hand_back.is_some();
        // What is registered now is registered wherever it goes.
        let is_registered = terms.registration == Registration::Now;
        let is_eager = !is_reported && !is_registered && ways::is_always_eager(outgoing.bytes());
        is_eager.then_some(Self { memory, layout: layout.as_ref() })
    }

    /// Counts what its writing has copied, by the thread of these counters.
    pub(crate) fn count(&self, counters: &Counters) {
        counters.count_copy_here(self.bytes());
        if self.layout.is_some() {
            counters.packed.add(1);
        }
    }
}

impl Fill for Eager<'_> {
    fn bytes(&self) -> usize {
        packed_bytes(self.memory, self.layout.map(|layout| &**layout))
    }

    fn fill<'room>(&self, room: &'room mut [MaybeUninit<u8>]) -> &'room mut [u8] {
        let Self { memory, layout } = *self;
        let Some(layout) = layout else { return room.write_copy_of_slice(memory.as_slice()) };
        let gathered = with_gathering(layout, |plan| Gathered { plan, source: memory }.fill(room));
        gathered.unwrap_or_else(|error| unreachable!("the layout was checked against its buffer: {error}"))
    }
}

/// Lets go of an eager argument that has been written, and hands its buffer back to a sender who waits for it.
pub(crate) fn hand_back(node: &Node, written: Option<Outgoing>) {
    let Some(Outgoing::Host(OutgoingMemory { memory, layout, hand_back, .. })) = written else { return };
    let Some(hand_back) = hand_back else { return };
    let bytes = packed_bytes(&memory, layout.as_deref());
    drop(memory);
    hand_back(bytes as u64, &mut |callback, sent| node.fire(callback, sent));
}

/// Fills the buffer that a post method gave for an eager argument, on the thread of these counters; `None` if it is none: nothing was done.
///
/// # Errors
/// A buffer that does not fit, in words.
pub(crate) fn land(
    counters: &Counters,
    nocopy: &mut Nocopy,
    given: &mut Few<Option<Given>>,
) -> Option<Result<(), String>> {
    let Nocopy::Described(described) = nocopy else { return None };
    let [Descriptor::Inline { bytes, lender: None }] = &described[..] else { return None };
    let [Some(Given::Host(landing))] = &mut given[..] else { return None };
    // Where it lies: what was given is moved once, when it is full.
    if let Err(cause) = land_bytes(bytes.as_slice(), landing) {
        return Some(Err(cause));
    }
    counters.count_copy_here(landing.bytes);
    if landing.is_scattered() {
        counters.stepped.add(1);
    }
    let Some(Some(Given::Host(landed))) = given.pop() else { unreachable!("looked at above") };
    *nocopy = Nocopy::Arrived(smallvec![Arrived::Posted(landed)]);
    Some(Ok(()))
}
