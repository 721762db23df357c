//! Buffer that many fill, each its part: as bytes, so that one chare serves all elements.
//!
//! A part is missing until its post has come, in the transfer's hands until it has landed, and then waits for the others. Missing parts may
//! be [open](super::open_parts). The buffer is handed on when all have landed.

use super::open_parts::{Missing, OpenParts};
use crate::delivery::fire::fire;
use crate::model::arguments::Message;
use crate::model::nocopy::{Completion, Element, NocopyArgument, Outgoing, OutgoingMemory, PartMut, Rest};
use crate::pe::Pe;
use crate::prelude::*;
use crate::transfer::copy::laid_out::land_at_once;
use crate::transfer::ways;
use chare_layout::RawPartition;

/// A buffer as bytes, and who takes it as such when it is filled, on this PE.
pub(super) fn in_bytes<T: Element>(
    target: BufferMut<T>,
    done: Completion<BufferMut<T>>,
) -> (BufferMut<u8>, impl FnOnce(BufferMut<u8>) + 'static) {
    let bytes = BufferMut::from_memory(target.into_memory());
    let done = finishing(done, |filled: BufferMut<u8>| {
        let filled = BufferMut::from_memory(filled.into_memory());
        filled.unwrap_or_else(|_| unreachable!("it was such a buffer"))
    });
    (bytes.unwrap_or_else(|_| unreachable!("bytes lie anywhere")), done)
}

/// Makes of what comes what a completion is for, and sends it, from this PE.
pub(super) fn finishing<V, W: Message>(
    done: Completion<W>,
    make: impl FnOnce(V) -> W + 'static,
) -> impl FnOnce(V) + 'static {
    move |value| {
        let (callback, value) = done.finish(make(value));
        Pe::current(|pe| fire(pe, callback, value));
    }
}

/// A nocopy argument as bytes.
pub(super) struct Bytes(Outgoing);

impl Bytes {
    pub(super) fn of<T: Element>(argument: impl NocopyArgument<T>) -> Self {
        Self(argument.erase())
    }

    /// What may be copied at once by whoever has the target: it lies in this process, is short, and nobody waits to hear of it.
    pub(super) fn at_once(&self) -> Option<&OutgoingMemory> {
        self.plain().filter(|memory| !ways::is_long(memory.bytes()))
    }

    /// What lies in this process, if nobody waits to hear of it.
    pub(super) fn plain(&self) -> Option<&OutgoingMemory> {
        match &self.0 {
            Outgoing::Host(memory) => {
                let is_plain = memory.hand_back.is_none() && memory.dealt.is_none();
                is_plain.then_some(memory)
            }
            Outgoing::Device(_) => None,
        }
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
    /// What no part selects, and who takes the buffer; taken when the last part has landed.
    end: Option<(Rest<u8>, Done)>,
    /// By number; `None` once a post has come.
    missing: Vec<Option<Missing>>,
    landed: Vec<PartMut<u8>>,
}

/// Who takes a buffer that is filled.
type Done = Box<dyn FnOnce(BufferMut<u8>)>;

impl Filling {
    /// # Errors
    /// A buffer whose length is not the partition's, in words.
    pub(super) fn new(
        target: BufferMut<u8>,
        partition: RawPartition,
        done: impl FnOnce(BufferMut<u8>) + 'static,
    ) -> Result<Self, String> {
        let (rest, parts) = target.split_by_raw(&partition).map_err(|error| error.to_string())?;
        let missing: Vec<_> = parts.into_iter().map(|part| Some(Missing::Closed(part))).collect();
        let landed = Vec::with_capacity(missing.len());
        Ok(Self { partition, end: Some((rest, Box::new(done))), missing, landed })
    }

    /// Opens the parts for those who can put their elements there by themselves, where that pays.
    pub(super) fn open(&mut self) -> Option<OpenParts> {
        if !OpenParts::pay(&self.partition) {
            return None;
        }
        for part in &mut self.missing {
            *part = part.take().map(Missing::open);
        }
        OpenParts::among(&self.partition, self.missing.iter())
    }

    /// Takes a part that somebody has filled by itself. Returns whether it was the last.
    ///
    /// # Errors
    /// A part that is not missing, in words that begin with what was put.
    pub(super) fn filled(&mut self, number: u64) -> Result<bool, String> {
        let part = self.missing.get_mut(number as usize).and_then(Option::take);
        let part = part.and_then(Missing::close).ok_or_else(|| before(&[number]))?;
        self.landed.push(part);
        Ok(self.finish_if_full())
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
        match self.take(place, elements.len()) {
            Ok(part) => {
                elements.post_part(part).expect("it is as long");
                Ok(())
            }
            Err(cause) => Err((cause, elements)),
        }
    }

    /// Copies what is short and lies in this process into the part at this place. Returns whether it was the last.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub(super) fn copy(&mut self, place: &[u64], elements: &OutgoingMemory) -> Result<bool, String> {
        let part = self.take(place, elements.bytes())?;
        let landed = Pe::current(|pe| land_at_once(&pe.node, elements, part.into_posted()))?;
        let part = PartMut::from_memory(landed);
        self.landed.push(part.unwrap_or_else(|_| unreachable!("it was a part")));
        Ok(self.finish_if_full())
    }

    /// Takes the part at this place for so many bytes.
    fn take(&mut self, place: &[u64], bytes: usize) -> Result<PartMut<u8>, String> {
        let (parts, name) = (self.missing.len(), || name(place));
        let number = self.partition.number_of(place);
        let Some(part) = number.and_then(|number| self.missing.get_mut(number as usize)) else {
            return Err(format!("part {}, which is none of the {parts} parts", name()));
        };
        let part = part.take().and_then(Missing::close).ok_or_else(|| before(place))?;
        if part.len() == bytes {
            return Ok(part);
        }
        let element = self.partition.element_bytes() as usize;
        let (have, wanted) = (bytes / element, part.len() / element);
        Err(format!("{have} elements as part {}, which has {wanted},", name()))
    }

    /// Takes a part that has landed. Returns whether it was the last.
    pub(super) fn land(&mut self, part: Posted<u8>) -> bool {
        self.landed.push(part.into_part());
        self.finish_if_full()
    }

    /// Hands the buffer on, if all parts have landed.
    pub(super) fn finish_if_full(&mut self) -> bool {
        let is_full = self.landed.len() == self.missing.len();
        if let Some((rest, done)) = self.end.take_if(|_| is_full) {
            let filled = rest.join(std::mem::take(&mut self.landed));
            done(filled.expect("all parts have landed"));
        }
        is_full
    }
}

/// What was put as a part that is not missing.
fn before(place: &[u64]) -> String {
    format!("part {}, which was put before,", name(place))
}

/// A part's place for humans.
fn name(place: &[u64]) -> String {
    match place {
        [number] => number.to_string(),
        _ => format!("{place:?}"),
    }
}
