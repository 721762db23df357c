//! Gathers: many members fill one buffer, each its part, in place.
//!
//! 1. The target is a chare on the PE that began the gather. It splits the buffer by the partition once, so that no two parts share an
//!    element, whoever fills them and in whatever order.
//! 2. A member calls it with its elements as a nocopy argument, which lands in the member's part: one pass from the member's layout to the
//!    part's where the memory is reached in place, however many parts are under way. Small parts travel with the call. A member on the
//!    target's PE copies what is short without a call.
//! 3. Parts that are too long to travel with a call are [open](super::open_parts) where that pays: a member that reaches the buffer puts its elements there by itself, while others
//!    do the same, and calls the target with the number of the part.
//! 4. When the last part has landed, the parts are the buffer again, which goes to the callback; and the target is destroyed. Whatever is
//!    put after that was put before.
//!
//! The target takes bytes, whatever the elements: see [`filling`](super::filling).

use super::filling::{Bytes, Filling, in_bytes};
use super::open_parts::{Fill, Filled, OpenParts};
use crate::api::proxy::ElementHandle;
use crate::model::index::ArrayIndex;
use crate::model::nocopy::{Completion, Element, NocopyArgument, OutgoingMemory};
use crate::pe::Pe;
use crate::pe::creations::Epitaph;
use crate::prelude::*;
use chare_layout::{Partition, RawPartition};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// A buffer that many members fill, each its part: small, serializable, an ordinary argument.
///
/// Whoever wants the buffer begins the gather; each part is put once, by whomever, and when all have been put the buffer is handed to the
/// callback. Several gathers may be under way at one time, of the same members, too.
///
/// ```
/// use chare::prelude::*;
/// use chare::{Gather, Partition};
///
/// struct Worker;
///
/// #[chare(array)]
/// impl Worker {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn report(&mut self, columns: Gather<u64>) {
///         let column = vec![self.this_index(); 2];
///         columns.put(self.this_index(), column);
///     }
/// }
///
/// let code = chare::Job::in_process(2, 2).run(|| async {
///     let workers = WorkerProxy::create(3);
///     let columns = Partition::columns([2, 3], 3).expect("three columns");
///     let (filled, done) = chare::future::<BufferMut<u64>>();
///     workers.report(Gather::into(BufferMut::zeroed(6), &columns, done));
///     assert_eq!(filled.await[..], [0, 1, 2, 0, 1, 2]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// A part costs one message, unless it is short and put on the PE that began the gather, and one copy to where it belongs. Where the buffer lies in the pool and the member's process maps it, or is
/// the one that began the gather, the member makes that copy before its call returns, or, of long parts, whoever of its process has time does: so parts are filled side by side. That is so for parts of
/// more than 1 KiB, without [`on_sent`](SendBuffer::on_sent), of buffers that a rule divides into 32 parts at most. Elsewhere the PE that began the gather copies, or of long parts whoever of its node has time, and the
/// member's process where both have their memory in the pool. The member's buffer is read where it lies if it can be.
///
/// A gather of which a part never comes waits: as a reduction does to which somebody never contributes. A node that is lost ends the job.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Gather<T> {
    target: GatherTargetProxy,
    open: Option<OpenParts>,
    elements: PhantomData<fn() -> T>,
}

impl<T: Element> Gather<T> {
    /// Begins to gather into a buffer, on this PE; `done` receives the buffer when all parts have been put, empty ones included. Copies
    /// nothing.
    ///
    /// # Panics
    /// Outside a PE, or if the buffer's length is not the partition's.
    pub fn into(
        target: impl Into<BufferMut<T>>,
        partition: &Partition<T>,
        done: impl Into<Completion<BufferMut<T>>>,
    ) -> Self {
        let target = target.into();
        let (have, need) = (target.len(), partition.elements());
        assert!(have == need, "a gather of {need} elements into a buffer of {have}: give one as long");
        let (target, done) = in_bytes(target, done.into());
        let done = Callback::once(done);
        // At once: what it opens, every member is to know.
        let target = ElementHandle::create_here((target, partition.raw().clone(), done));
        let open = target.local(|target: &mut GatherTarget| target.0.open()).flatten();
        Self { target: GatherTargetProxy(target), open, elements: PhantomData }
    }

    /// Puts the part of a member: of the member with this index, where parts are counted or placed as members are; an integer is the
    /// number of a part. `elements` is whatever a nocopy parameter takes: a vector, a [`Buffer`], a [`SendBuffer`] by a layout or with a
    /// callback, a [`Part`](crate::Part). One message, or none; see above.
    ///
    /// An index without a part, a part of another length, and one that was put before end the job with an error that says so.
    ///
    /// # Panics
    /// If the index is no integer or tuple of integers, or is below zero.
    pub fn put(&self, index: impl ArrayIndex, elements: impl NocopyArgument<T>) {
        let place = index.place();
        let place = place.unwrap_or_else(|| panic!("{index:?} is no place of a part: give its number"));
        let elements = Bytes::of(elements);
        if !self.copy(&place, &elements) {
            self.target.put(place, chare::my_pe(), elements);
        }
    }

    /// Copies the elements to the part without a message that brings them. Returns whether that can be.
    fn copy(&self, place: &[u64], elements: &Bytes) -> bool {
        let copy_here = |elements| self.target.0.local(|target| target.copy(place, elements));
        if elements.at_once().and_then(copy_here).is_some() {
            return true;
        }
        let (Some(open), Some(elements)) = (&self.open, elements.plain()) else { return false };
        match open.fill(place, elements, &self.target.filled_callback()) {
            Some(Fill::Over(number)) => self.target.filled((number, chare::my_pe())),
            Some(Fill::UnderWay) => {}
            None => return false,
        }
        true
    }
}

impl<T> Clone for Gather<T> {
    fn clone(&self) -> Self {
        Self { target: self.target.clone(), open: self.open.clone(), elements: PhantomData }
    }
}

impl<T> PartialEq for Gather<T> {
    fn eq(&self, other: &Self) -> bool {
        self.target == other.target
    }
}

impl<T> Eq for Gather<T> {}

impl<T> fmt::Debug for Gather<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Gather(..)")
    }
}

/// What is said of a part that comes when the gather is over.
const OVER: Epitaph = Epitaph {
    call: "Gather::put",
    cause: "the gather is over, because each of its parts was put before: put each part once",
};

/// The chare that fills the buffer.
struct GatherTarget(Filling);

#[chare]
impl GatherTarget {
    #[entry]
    fn new(target: BufferMut<u8>, partition: RawPartition, done: Callback<BufferMut<u8>>) -> Self {
        let filling = Filling::new(target, partition, move |filled| done.send(filled));
        let mut filling = filling.unwrap_or_else(|cause| panic!("{cause}"));
        if filling.finish_if_full() {
            Self::end();
        }
        Self(filling)
    }

    #[entry]
    fn put(&mut self, _place: Vec<u64>, _from: PeId, #[nocopy(post)] part: Posted<u8>) {
        if self.0.land(part) {
            Self::end();
        }
    }

    #[entry]
    fn filled(&mut self, part: Filled) {
        let (number, from) = part;
        match self.0.filled(number) {
            Ok(true) => Self::end(),
            Ok(false) => {}
            Err(cause) => fail(from, &cause),
        }
    }

    #[post(put)]
    fn post_put(&mut self, place: &[u64], from: &PeId, part: Post<u8>) {
        if let Err((cause, part)) = self.0.post(place, part) {
            // Before the post is dropped, which ends the job, too, and knows less.
            fail(*from, &cause);
            drop(part);
        }
    }
}

/// Ends the job, also where a panic would be outlived by whoever puts: nobody would hear of the buffer.
#[cold]
fn fail(from: PeId, cause: &str) {
    Pe::current(|pe| pe.fail("a gather".to_owned(), format!("{from} puts {cause} of a gather")));
}

impl GatherTarget {
    /// Copies a part that lies on this PE.
    fn copy(&mut self, place: &[u64], elements: &OutgoingMemory) {
        match self.0.copy(place, elements) {
            Ok(true) => Self::end(),
            Ok(false) => {}
            Err(cause) => fail(chare::my_pe(), &cause),
        }
    }

    fn end() {
        Pe::current(|pe| pe.with_running(|identity| pe.epitaphs.set(identity.name(), OVER)));
        chare::destroy();
    }
}
