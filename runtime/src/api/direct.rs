//! The Direct API: `rget` reads and `rput` writes registered memory of a peer, within its bounds, any number of times.
//!
//! 1. Handles come from [`RegisteredSource`](crate::RegisteredSource) and [`RegisteredTarget`](crate::RegisteredTarget) and travel as
//!    ordinary arguments.
//! 2. A transfer takes the local buffer and hands it back through its completion, once, however the transfer ends. The peer learns of the
//!    transfer by its own callback, if its handle was made with one.
//! 3. A failed transfer ends the job, or comes back as [`TransferFailed`] to a caller of one of the `try_` functions.
//!
//! The idea is Charm++'s Zero Copy Direct API (`CkNcpyBuffer`, manual section "Zero Copy Messaging API"), with ownership in place
//! of raw pointers.

use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::frame::{self, Header};
use crate::model::error::JobError;
use crate::model::nocopy::{
    Buffer, BufferMut, BufferSelection, Completion, Element, Landing, RemoteRange, SourceSelection,
    TargetSelection, ToldLayout,
};
use crate::node::Node;
use crate::node::lending::transfers::Status;
use crate::pe::Pe;
use crate::transfer::copy::laid_out::{self, Remote};
use crate::transfer::copy::packing;
use crate::transfer::copy::scattered_put::put_scattered;
use chare_lrts::{MemoryMut, TransferError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A local buffer that does not fit the handle; it comes back.
#[derive(Error)]
#[error("a local buffer of {have} elements for a transfer of {need}; {cure}")]
pub struct Misfit<B> {
    /// The buffer given.
    pub buffer: B,
    /// The buffer's length in elements.
    pub have: usize,
    /// The handle's length in elements.
    pub need: usize,
    pub(super) cure: &'static str,
}

impl<B> fmt::Debug for Misfit<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A failed transfer; its local buffer comes back, its contents as far as the transfer got.
#[derive(Clone, Error, Serialize, Deserialize)]
#[error("{cause}")]
pub struct TransferFailed<B> {
    /// The buffer given.
    pub buffer: B,
    /// Why: a stale or forged handle, a range outside the registered memory, a peer that is gone.
    #[source]
    pub cause: TransferError,
}

impl<B> fmt::Debug for TransferFailed<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The result of a transfer, with its buffer either way.
pub type Transferred<B> = Result<B, TransferFailed<B>>;

/// Reads a peer's elements into `into`: a buffer from its start on, or a [`Landing`] where its layout says. `into` may be longer than the
/// handle, and its tail stays untouched. `done` receives the buffer when it is filled. One copy or one network read; no message to the
/// peer's processor where the path is one-sided. A landing by a layout takes a copy more where the peer's memory cannot be mapped.
///
/// ```
/// use chare::layout::Dims;
/// use chare::prelude::*;
/// use chare::{Landing, RegisteredSource, rget};
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let source = RegisteredSource::register(vec![1u8, 2, 3]);
///     let column = Dims::new([3, 2]).select((.., 1));
///     let (filled, done) = chare::future();
///     rget(&source.handle(), Landing::at(&column, vec![0; 6]), done).expect("it is as long");
///     assert_eq!(filled.await[..], [0, 1, 0, 2, 0, 3]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// Of a handle, [`SourceHandle::only`](crate::SourceHandle::only) selects what a layout says; where the memory cannot be mapped, the span of
/// the selection is read, or its pieces, as the path allows.
///
/// A handle that is stale or out of range when the transfer runs ends the job with an error that says so; see [`try_rget`].
///
/// # Errors
/// [`Misfit`] when `into` is shorter than the handle.
pub fn rget<T: Element>(
    from: impl Into<SourceSelection<T>>,
    into: impl Into<Landing<T>>,
    done: impl Into<Completion<BufferMut<T>>>,
) -> Result<Status, Misfit<BufferMut<T>>> {
    let done = done.into();
    get(from.into(), into.into(), |outcome| {
        outcome.map(|buffer| done.finish(buffer)).map_err(|failed| failed.cause)
    })
}

/// Reads as [`rget`] does, by handles that may have become stale: a failure goes to `done`, and the job goes on.
///
/// ```
/// use chare::prelude::*;
/// use chare::{RegisteredSource, try_rget};
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let source = RegisteredSource::register(vec![1.0; 100]);
///     let handle = source.handle();
///     drop(source);
///     let (outcome, done) = chare::future();
///     try_rget(&handle, BufferMut::zeroed(100), done).expect("it is as long");
///     let failed = outcome.await.expect_err("the handle is stale");
///     assert_eq!(failed.buffer.len(), 100);
///     assert!(failed.to_string().contains("stale"));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// [`Misfit`] when `into` is shorter than the handle.
pub fn try_rget<T: Element>(
    from: impl Into<SourceSelection<T>>,
    into: impl Into<Landing<T>>,
    done: impl Into<Completion<Transferred<BufferMut<T>>>>,
) -> Result<Status, Misfit<BufferMut<T>>> {
    let done = done.into();
    get(from.into(), into.into(), |outcome| Ok(done.finish(outcome)))
}

/// Writes `from` into a peer's elements, from the handle's start on: a buffer, or what [`Buffer::only`](crate::Buffer::only) selects of
/// one. `done` receives the buffer when its bytes are in the peer's memory. One copy or one network write; one for each piece of memory
/// where [`TargetHandle::only`](crate::TargetHandle::only) selects some, and a copy more for what is selected of `from`.
///
/// A handle that is stale or out of range when the transfer runs ends the job with an error that says so; see [`try_rput`].
///
/// # Errors
/// [`Misfit`] when `from` is longer than the handle.
pub fn rput<T: Element>(
    from: impl Into<BufferSelection<T>>,
    to: impl Into<TargetSelection<T>>,
    done: impl Into<Completion<Buffer<T>>>,
) -> Result<Status, Misfit<Buffer<T>>> {
    let done = done.into();
    put(from.into(), to.into(), |outcome| {
        outcome.map(|buffer| done.finish(buffer)).map_err(|failed| failed.cause)
    })
}

/// Writes as [`rput`] does, by handles that may have become stale: a failure goes to `done`, and the job goes on.
///
/// # Errors
/// [`Misfit`] when `from` is longer than the handle.
pub fn try_rput<T: Element>(
    from: impl Into<BufferSelection<T>>,
    to: impl Into<TargetSelection<T>>,
    done: impl Into<Completion<Transferred<Buffer<T>>>>,
) -> Result<Status, Misfit<Buffer<T>>> {
    let done = done.into();
    put(from.into(), to.into(), |outcome| Ok(done.finish(outcome)))
}

/// The callback of the initiator and its value when a transfer is over; an error ends the job.
type FinishedTransfer = Result<(ErasedCallback, Arguments), TransferError>;

fn get<T: Element>(
    from: SourceSelection<T>,
    into: Landing<T>,
    finish: impl FnOnce(Transferred<BufferMut<T>>) -> FinishedTransfer + Send + 'static,
) -> Result<Status, Misfit<BufferMut<T>>> {
    let (range, need) = (from.range, from.len());
    if into.len() < need {
        let have = into.len();
        return Err(Misfit {
            buffer: into.into_buffer(),
            have,
            need,
            cure: "use a longer buffer or a slice of the handle",
        });
    }
    let node = Pe::current(|pe| Arc::clone(&pe.node));
    let (offset, bytes) = range.bytes::<T>();
    let then_node = Arc::clone(&node);
    let finish = move |moved: Result<usize, TransferError>, buffer: BufferMut<T>| {
        let outcome = match moved.clone() {
            Ok(_) => Ok(buffer),
            Err(cause) => Err(TransferFailed { buffer, cause }),
        };
        settle(&then_node, "rget", range, moved, finish(outcome));
    };
    node.outside.sent.add_shared(1);
    let landing = into.into_posted();
    let layout = match from.layout.map(|ToldLayout(layout)| layout) {
        // A handle from a peer is an allegation, and so is its layout.
        Some(layout) if layout.check_bounds(bytes as u64).is_err() => {
            let (node, offset, len) = (range.key.node, layout.origin().max(0) as u64, layout.span());
            let cause = TransferError::OutOfRange { node, offset, len, region_len: bytes as u64 };
            finish(Err(cause), typed(landing.memory));
            return Ok(Status::Complete);
        }
        layout => layout,
    };
    if layout.is_some() || landing.layout.is_some() {
        let finish = move |moved, memory| finish(moved, typed(memory));
        let remote = Remote { key: range.key, offset, bytes, layout };
        return Ok(laid_out::get(&node, remote, landing, finish));
    }
    let memory = landing.memory;
    let then_node = Arc::clone(&node);
    let then = move |completion: chare_lrts::Completion| match (completion.memory, completion.result) {
        (Some(memory), moved) => finish(moved, typed(memory)),
        (None, Err(cause)) => {
            then_node.fail(JobError::Transfer { what: "rget".to_owned(), node: then_node.id, cause });
        }
        (None, Ok(_)) => unreachable!("a get that is over hands its memory back"),
    };
    Ok(node.get((range.key, offset), (memory, bytes), Box::new(then)))
}

/// The buffer that a landing was made of.
fn typed<T: Element>(memory: MemoryMut) -> BufferMut<T> {
    BufferMut::from_memory(memory).unwrap_or_else(|_| unreachable!("it was such a buffer"))
}

fn put<T: Element>(
    from: BufferSelection<T>,
    to: TargetSelection<T>,
    finish: impl FnOnce(Transferred<Buffer<T>>) -> FinishedTransfer + Send + 'static,
) -> Result<Status, Misfit<Buffer<T>>> {
    let (range, need) = (to.range, to.len());
    let have = from.len();
    let BufferSelection { buffer: from, layout } = from;
    if have > need {
        return Err(Misfit {
            buffer: from,
            have,
            need,
            cure: "use a shorter buffer or a handle to more elements",
        });
    }
    let node = Pe::current(|pe| Arc::clone(&pe.node));
    let (offset, _) = range.bytes::<T>();
    let memory = match &layout {
        None => from.memory().clone(),
        Some(layout) => packing::packed_memory(&node, from.memory(), layout),
    };
    let then_node = Arc::clone(&node);
    let finish = move |moved: Result<usize, TransferError>| {
        let outcome = match moved.clone() {
            Ok(_) => Ok(from),
            Err(cause) => Err(TransferFailed { buffer: from, cause }),
        };
        settle(&then_node, "rput", range, moved, finish(outcome));
    };
    node.outside.sent.add_shared(1);
    Ok(match to.layout {
        Some(ToldLayout(layout)) => put_scattered(&node, (range.key, offset), &layout, &memory, finish),
        None => {
            let then = move |completion: chare_lrts::Completion| finish(completion.result);
            node.put((range.key, offset), memory, Box::new(then))
        }
    })
}

/// Tells both sides that a transfer is over, or ends the job when it failed and the initiator did not ask for the failure.
fn settle(
    node: &Node,
    what: &str,
    range: RemoteRange,
    moved: Result<usize, TransferError>,
    outcome: FinishedTransfer,
) {
    if let Ok(bytes) = moved {
        node.outside.count_copy(bytes);
        notify_owner(node, range, bytes as u64);
    }
    match outcome {
        Ok((callback, value)) => node.fire(callback, value),
        Err(cause) => node.fail(JobError::Transfer { what: what.to_owned(), node: node.id, cause }),
    }
    node.outside.processed.add_shared(1);
}

fn notify_owner(node: &Node, range: RemoteRange, bytes: u64) {
    let Some(callback) = range.notify else { return };
    if range.key.node == node.id {
        node.fire(callback, Arguments::new(bytes));
    } else if let Ok(frame) = frame::encode(&Header::Notify { callback, bytes }, None) {
        node.outside.sent.add_shared(1);
        node.post(&node.outside, range.key.node, frame);
    }
}
