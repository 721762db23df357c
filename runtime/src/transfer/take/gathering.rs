//! Gathering of the nocopy arguments of one message, some of which have to be fetched or copied.
//!
//! 1. An argument that is here keeps its place; memory waits for each argument that is not.
//! 2. The last transfer runs the closure that follows, with all arguments in order, on the thread that completes it. A transfer that
//!    fails ends the job, so no closure runs then.

use super::remote_memory::fetch;
use crate::model::error::JobError;
use crate::model::nocopy::{DeviceTransferError, Few};
use crate::node::Node;
use chare_device::{DeviceBufferMut, DeviceError};
use chare_lrts::{MemoryMut, RegionKey, TransferError};
use parking_lot::Mutex;
use std::sync::Arc;

/// The way in which one argument comes here.
pub(in crate::transfer) enum Plan<T> {
    Ready(T),
    Fetch(Fetch<T>),
    /// By work of this node, which is to be begun.
    Begin(Begin<T>),
}

impl<T: 'static> Plan<T> {
    /// The way of an argument that cannot come.
    pub(in crate::transfer) fn failed(failure: Failure) -> Self {
        Self::Begin(Box::new(move |node, finish| finish(node, Err(failure))))
    }

    /// The way of what becomes of the argument.
    pub(in crate::transfer) fn map<R: 'static>(self, then: impl FnOnce(T) -> R + Send + 'static) -> Plan<R> {
        match self {
            Self::Ready(argument) => Plan::Ready(then(argument)),
            Self::Fetch(Fetch { key, offset, into, bytes, arrive }) => {
                let arrive = Box::new(move |node: &Arc<Node>, memory| arrive(node, memory).map(then));
                Plan::Fetch(Fetch { key, offset, into, bytes, arrive })
            }
            Self::Begin(begin) => Plan::Begin(Box::new(move |node, finish| {
                begin(node, Box::new(move |node, argument| finish(node, argument.map(then))));
            })),
        }
    }
}

/// Closure that begins the work which brings an argument, and tells its end to the other closure.
pub(in crate::transfer) type Begin<T> = Box<dyn FnOnce(&Arc<Node>, Finish<T>) + Send>;

/// Closure that takes the argument, or hears why it does not come.
pub(in crate::transfer) type Finish<T> = Box<dyn FnOnce(&Arc<Node>, Result<T, Failure>) + Send>;

/// The reason that an argument cannot come.
pub(in crate::transfer) enum Failure {
    /// It does not fit, in words.
    Words(String),
    Transfer(TransferError),
    Device(DeviceError),
    /// The owner of registered memory of a device does not give it.
    Refused(DeviceTransferError),
    /// For this reason, and here is the device buffer that was to be filled.
    Unfilled(Box<Self>, DeviceBufferMut<u8>),
}

impl Failure {
    /// Ends the job. `what` names the transfer.
    pub(in crate::transfer) fn end(self, node: &Node, what: String) {
        let node_id = node.id;
        let delivery =
            |what, cause| JobError::Delivery { what, pe: node.topology.pe(node_id, 0), node: node_id, cause };
        node.fail(match self {
            Self::Words(cause) => delivery(what, cause),
            Self::Refused(DeviceTransferError::Device(cause)) | Self::Device(cause) => {
                JobError::Device { what, node: node_id, cause }
            }
            Self::Refused(DeviceTransferError::Network(cause)) | Self::Transfer(cause) => {
                JobError::Transfer { what, node: node_id, cause }
            }
            Self::Refused(cause) => delivery(what, cause.to_string()),
            Self::Unfilled(failure, _) => return failure.end(node, what),
        });
    }

    /// It, in words.
    pub(in crate::transfer) fn into_words(self) -> String {
        match self {
            Self::Words(cause) => cause,
            Self::Device(cause) => cause.to_string(),
            Self::Transfer(cause) => cause.to_string(),
            Self::Refused(cause) => cause.to_string(),
            Self::Unfilled(failure, _) => failure.into_words(),
        }
    }
}

impl From<String> for Failure {
    fn from(cause: String) -> Self {
        Self::Words(cause)
    }
}

impl From<DeviceError> for Failure {
    fn from(cause: DeviceError) -> Self {
        Self::Device(cause)
    }
}

/// Closure that makes an argument of the memory that was filled for it, or says in words why it cannot.
type Arrive<T> = Box<dyn FnOnce(&Arc<Node>, MemoryMut) -> Result<T, String> + Send>;

/// A transfer that is to be started.
pub(in crate::transfer) struct Fetch<T> {
    pub(in crate::transfer) key: RegionKey,
    /// The first byte to fetch.
    pub(in crate::transfer) offset: u64,
    pub(in crate::transfer) into: MemoryMut,
    /// Number of bytes to fetch.
    pub(in crate::transfer) bytes: usize,
    pub(in crate::transfer) arrive: Arrive<T>,
}

/// An argument that is not here.
enum Missing<T> {
    Fetch(Fetch<T>),
    Begin(Begin<T>),
}

/// The nocopy arguments of one message: those that are here, and the ways of the others.
pub(in crate::transfer) struct Gathering<T> {
    here: Few<T>,
    /// With the positions of the arguments among all, in order.
    missing: Vec<(usize, Missing<T>)>,
}

/// The slots that running transfers fill, and the closure that follows.
struct Unfinished<T, F> {
    slots: Few<Option<T>>,
    missing: usize,
    then: F,
}

impl<T: Send + 'static> Gathering<T> {
    /// Plans the way in which each argument comes here.
    ///
    /// # Errors
    /// That of the first plan that cannot be made.
    #[inline]
    pub(in crate::transfer) fn plan<E>(plans: impl Iterator<Item = Result<Plan<T>, E>>) -> Result<Self, E> {
        let mut gathering = Self { here: Few::new(), missing: Vec::new() };
        for (position, plan) in plans.enumerate() {
            match plan? {
                Plan::Ready(argument) => gathering.here.push(argument),
                Plan::Fetch(fetch) => gathering.missing.push((position, Missing::Fetch(fetch))),
                Plan::Begin(begin) => gathering.missing.push((position, Missing::Begin(begin))),
            }
        }
        Ok(gathering)
    }

    /// The arguments, if all are here.
    ///
    /// # Errors
    /// The gathering itself, when some are not here.
    pub(in crate::transfer) fn complete(self) -> Result<Few<T>, Self> {
        if self.missing.is_empty() { Ok(self.here) } else { Err(self) }
    }

    /// Fetches the arguments that are not here, then runs `then`. `what` names a transfer that fails, for its error.
    pub(in crate::transfer) fn fetch(
        self,
        node: &Arc<Node>,
        what: impl FnOnce() -> String + Clone + Send + 'static,
        then: impl FnOnce(&Arc<Node>, Few<T>) + Send + 'static,
    ) {
        let Self { here, missing } = self;
        let mut slots: Few<Option<T>> = here.into_iter().map(Some).collect();
        missing.iter().for_each(|(position, _)| slots.insert(*position, None));
        let waiting = Arc::new(Mutex::new(Some(Unfinished { slots, missing: missing.len(), then })));
        for (position, missing) in missing {
            let (waiting, failed) = (Arc::clone(&waiting), what.clone());
            let finish = move |node: &Arc<Node>, argument: Result<T, Failure>| {
                let argument = match argument {
                    Ok(argument) => argument,
                    Err(failure) => return failure.end(node, failed()),
                };
                let complete = {
                    let mut waiting = waiting.lock();
                    waiting.take_if(|waiting| waiting.fill(position, argument))
                };
                if let Some(Unfinished { slots, then, .. }) = complete {
                    then(node, slots.into_iter().flatten().collect());
                }
            };
            match missing {
                Missing::Begin(begin) => begin(node, Box::new(finish)),
                Missing::Fetch(Fetch { key, offset, into, bytes, arrive }) => {
                    fetch(node, what.clone(), (key, offset), (into, bytes), move |node, memory| {
                        let argument = arrive(node, memory).map_err(Failure::Words);
                        finish(node, argument);
                    });
                }
            }
        }
    }
}

impl<T, F> Unfinished<T, F> {
    /// Fills a slot. Returns whether no argument is missing any more.
    fn fill(&mut self, position: usize, argument: T) -> bool {
        self.slots[position] = Some(argument);
        self.missing -= 1;
        self.missing == 0
    }
}
