//! Buffer that many fill, each its part: as bytes, so that one chare serves all elements.
//!
//! A part is missing until its post has come, in the transfer's hands until it has landed, and then waits for the others. The buffer is
//! handed on when all have landed.

use crate::delivery::fire::fire;
use crate::model::arguments::Message;
use crate::model::nocopy::{Completion, Element, NocopyArgument, Outgoing, PartMut, Rest};
use crate::pe::Pe;
use crate::prelude::*;
use chare_layout::RawPartition;

/// A buffer as bytes, and a callback on this PE that takes it as such when it is filled.
pub(super) fn in_bytes<T: Element>(
    target: BufferMut<T>,
    done: Completion<BufferMut<T>>,
) -> (BufferMut<u8>, Callback<BufferMut<u8>>) {
    let bytes = BufferMut::from_memory(target.into_memory());
    let done = on_this_pe(done, |filled: BufferMut<u8>| {
        let filled = BufferMut::from_memory(filled.into_memory());
        filled.unwrap_or_else(|_| unreachable!("it was such a buffer"))
    });
    (bytes.unwrap_or_else(|_| unreachable!("bytes lie anywhere")), done)
}

/// A callback on this PE that makes of what it is sent what a completion is for.
pub(super) fn on_this_pe<V: Message, W: Message>(
    done: Completion<W>,
    make: impl FnOnce(V) -> W + 'static,
) -> Callback<V> {
    Callback::once(move |value| {
        let (callback, value) = done.finish(make(value));
        Pe::current(|pe| fire(pe, callback, value));
    })
}

/// A nocopy argument as bytes.
pub(super) struct Bytes(Outgoing);

impl Bytes {
    pub(super) fn of<T: Element>(argument: impl NocopyArgument<T>) -> Self {
        Self(argument.erase())
    }
}

impl NocopyArgument<u8> for Bytes {
    fn erase(self) -> Outgoing {
        self.0
    }
}

/// A buffer of which parts are missing.
pub(super) struct Filling {
    partition: RawPartition,
    /// Taken when the last part has landed.
    rest: Option<Rest<u8>>,
    /// By number; `None` once a post has come.
    missing: Vec<Option<PartMut<u8>>>,
    landed: Vec<PartMut<u8>>,
    done: Callback<BufferMut<u8>>,
}

impl Filling {
    /// # Panics
    /// If the buffer's length is not the partition's.
    pub(super) fn new(target: BufferMut<u8>, partition: RawPartition, done: Callback<BufferMut<u8>>) -> Self {
        let (rest, parts) = target.split_by_raw(&partition).unwrap_or_else(|error| panic!("{error}"));
        let missing = parts.into_iter().map(Some).collect();
        Self { partition, rest: Some(rest), missing, landed: Vec::new(), done }
    }

    /// Whether the part of this number has come.
    pub(super) fn has(&self, number: u64) -> bool {
        self.missing.get(number as usize).is_some_and(Option::is_none)
    }

    /// Gives the part at this place to the elements that are to land there.
    ///
    /// # Errors
    /// A place without a part, a part that was posted before, another number of elements, in words that begin with what was sent; and the
    /// post, unused.
    pub(super) fn post(&mut self, place: &[u64], elements: Post<u8>) -> Result<(), (String, Post<u8>)> {
        let (parts, name) = (self.missing.len(), name(place));
        let number = self.partition.number_of(place);
        let Some(part) = number.and_then(|number| self.missing.get_mut(number as usize)) else {
            return Err((format!("part {name}, which is none of the {parts} parts"), elements));
        };
        let element = self.partition.element_bytes() as usize;
        let have = elements.len() / element;
        match part.take_if(|part| part.len() == elements.len()) {
            Some(part) => {
                elements.post_part(part).expect("it is as long");
                Ok(())
            }
            None => {
                let cause = match part {
                    Some(part) => {
                        format!("{have} elements as part {name}, which has {},", part.len() / element)
                    }
                    None => format!("part {name}, which was put before,"),
                };
                Err((cause, elements))
            }
        }
    }

    /// Takes a part that has landed. Returns whether it was the last.
    pub(super) fn land(&mut self, part: Posted<u8>) -> bool {
        self.landed.push(part.into_part());
        self.finish_if_full()
    }

    /// Hands the buffer on, if all parts have landed.
    pub(super) fn finish_if_full(&mut self) -> bool {
        let is_full = self.landed.len() == self.missing.len();
        if let Some(rest) = self.rest.take_if(|_| is_full) {
            let filled = rest.join(std::mem::take(&mut self.landed));
            self.done.send(filled.expect("all parts have landed"));
        }
        is_full
    }
}

/// A part's place for humans.
fn name(place: &[u64]) -> String {
    match place {
        [number] => number.to_string(),
        _ => format!("{place:?}"),
    }
}
