//! How a job ends badly: one error, which names what failed, where and why.

use crate::model::ids::{NodeId, PeId};
use chare_lrts::{LrtsError, TransferError};
use thiserror::Error;

/// The reason that a job could not start or had to end.
#[derive(Debug, Error)]
pub enum JobError {
    /// An option, a variable or an argument of the start is wrong.
    #[error("{0}")]
    Config(String),
    /// An entry method or an `async` task panicked.
    #[error("{what} panicked on {pe} ({node}): {cause}")]
    Panic {
        /// Chare and entry.
        what: String,
        /// Where.
        pe: PeId,
        /// On which node.
        node: NodeId,
        /// The panic's message and place.
        cause: String,
    },
    /// A message cannot be delivered: its target, its arguments or its buffers do not fit.
    #[error("{what} failed on {pe} ({node}): {cause}")]
    Delivery {
        /// Chare and entry.
        what: String,
        /// Where.
        pe: PeId,
        /// On which node.
        node: NodeId,
        /// Why.
        cause: String,
    },
    /// A zero-copy transfer failed.
    #[error("{what} failed on {node}: {cause}")]
    Transfer {
        /// Which transfer.
        what: String,
        /// On which node.
        node: NodeId,
        /// Why.
        cause: TransferError,
    },
    /// A node sent bytes that are no message.
    #[error(
        "{peer} sent an invalid message to {node}: {cause}; all nodes must run the same build of the program"
    )]
    Undecodable {
        /// Who sent it.
        peer: NodeId,
        /// Who received it.
        node: NodeId,
        /// What is wrong.
        cause: String,
    },
    /// The network, a peer or the kernel failed.
    #[error("{node}: {cause}")]
    Lrts {
        /// Who noticed.
        node: NodeId,
        /// What happened.
        cause: LrtsError,
    },
    /// Another node ended the job; its own message says why.
    #[error("{0}")]
    Elsewhere(String),
}
