//! Job errors: the one error with which a job ends, which names what failed, where and why.

use crate::model::ids::{NodeId, PeId};
use chare_device::DeviceError;
use chare_lrts::{LrtsError, TransferError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The reason that something asked of a job has no answer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The job ended before.
    #[error("the job ended before it answered; `JobHandle::ended` says why it did")]
    JobEnded,
    /// Whoever was to answer panicked, or was destroyed before.
    #[error("{0}")]
    Failed(String),
}

/// The reason that a name could not be registered or found; see [`register`](crate::register()) and [`named`](crate::named()).
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing is registered by this name.
    #[error(
        "nothing is registered by the name {name:?}: `chare::register` it, and await that, before somebody looks for it"
    )]
    Unknown {
        /// The name.
        name: String,
    },
    /// Something is registered by this name already.
    #[error("the name {name:?} is taken, by a `{what}`: names stay as long as their job, so choose another")]
    Taken {
        /// The name.
        name: String,
        /// The type of what has it.
        what: String,
    },
    /// What is registered by this name is of another type.
    #[error("the name {name:?} is that of a `{what}`, not of a `{wanted}`")]
    OtherType {
        /// The name.
        name: String,
        /// The type of what is registered.
        what: String,
        /// The type that was asked for.
        wanted: String,
    },
    /// What is registered by this name is of the type that was asked for, which refuses to be decoded from what it was encoded to.
    #[error("the name {name:?} is that of a `{what}`, but it refuses: {cause}")]
    Undecodable {
        /// The name.
        name: String,
        /// The type of what is registered.
        what: String,
        /// What its `Deserialize` says.
        cause: String,
    },
    /// The name or the value is too long, or there are too many.
    #[error(
        "there is no room for the name {name:?}: names have at most 256 bytes, their values 64 KiB, and one PE keeps 65,536"
    )]
    NoRoom {
        /// The name.
        name: String,
    },
}

/// The reason that a job could not start or had to end.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum JobError {
    /// An option, a variable or an argument of the start is wrong.
    #[error("{0}")]
    Config(String),
    /// An entry method or an `async` task panicked.
    #[error("{what} panicked on {pe} ({node}): {cause}")]
    Panic {
        /// The chare and the entry.
        what: String,
        /// The PE on which it failed.
        pe: PeId,
        /// The node on which it failed.
        node: NodeId,
        /// The panic's message and place.
        cause: String,
    },
    /// A message cannot be delivered: its target, its arguments or its buffers do not fit.
    #[error("{what} failed on {pe} ({node}): {cause}")]
    Delivery {
        /// The chare and the entry.
        what: String,
        /// The PE on which it failed.
        pe: PeId,
        /// The node on which it failed.
        node: NodeId,
        /// The cause.
        cause: String,
    },
    /// A zero-copy transfer failed.
    #[error("{what} failed on {node}: {cause}")]
    Transfer {
        /// The transfer.
        what: String,
        /// The node on which it failed.
        node: NodeId,
        /// The cause.
        cause: TransferError,
    },
    /// A device refused what an argument's way needs, or is lost.
    #[error("{what} failed on {node}: {cause}")]
    Device {
        /// What was done, with the chare and the entry.
        what: String,
        /// The node on which it failed.
        node: NodeId,
        /// What the device says.
        cause: DeviceError,
    },
    /// A node sent bytes that are no message.
    #[error(
        "{peer} sent an invalid message to {node}: {cause}; all nodes must run the same build of the program"
    )]
    Undecodable {
        /// The node that sent the bytes.
        peer: NodeId,
        /// The node that received them.
        node: NodeId,
        /// The defect, in words.
        cause: String,
    },
    /// The network, a peer or the kernel failed.
    #[error("{node}: {cause}")]
    Lrts {
        /// The node that noticed.
        node: NodeId,
        /// The failure.
        cause: LrtsError,
    },
    /// Nothing happens any more in a simulated job, and it has not ended.
    #[cfg(feature = "sim")]
    #[error(
        "the job stands still: after {time_ns} ns of its time nothing is on its way, nobody has anything to do, and it has not ended\n{what}"
    )]
    Standstill {
        /// The virtual time, in nanoseconds.
        time_ns: u64,
        /// What waits, in words.
        what: String,
    },
    /// The runtime does not keep a promise in a simulated job: a fault of the runtime.
    #[cfg(feature = "sim")]
    #[error(
        "with event {event} of the simulated job, {time_ns} ns after its begin, a promise was broken: {what}"
    )]
    Oracle {
        /// The event, counted from the job's begin.
        event: u64,
        /// The virtual time, in nanoseconds.
        time_ns: u64,
        /// The promise, in words.
        what: String,
    },
    /// A simulated job is over, and something between its nodes is not even: a fault of the runtime.
    #[cfg(feature = "sim")]
    #[error("the job is over, and nothing is on its way:\n{what}")]
    Audit {
        /// What is not, in words.
        what: String,
    },
    /// Another node ended the job; its own message says why.
    #[error("{0}")]
    Elsewhere(String),
}
