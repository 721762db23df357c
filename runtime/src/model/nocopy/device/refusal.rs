//! Refusals of device transfers: why registered memory of a device was not read or written, between nodes and for who asked.

use crate::model::nocopy::Element;
use chare_device::{DeviceBuffer, DeviceError};
use chare_lrts::{NodeId, TransferError};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use thiserror::Error;

/// Where a buffer stays.
pub(super) const STAYS: &str =
    "a device buffer comes back on its own node: make the callback of its transfer there";

/// What a node answers that does not give what another one wants of its devices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum DeviceRefusal {
    /// The handle names nothing that is registered.
    Stale,
    /// What is wanted does not fit what is registered, in words.
    Misfit(String),
    /// A device did not do it, in words.
    Failed(String),
}

impl DeviceRefusal {
    /// The refusal as who asked `owner` is told of it.
    pub(crate) fn of(self, owner: NodeId) -> DeviceTransferError {
        match self {
            Self::Stale => DeviceTransferError::Stale(owner),
            Self::Misfit(cause) => DeviceTransferError::Misfit { owner, cause },
            Self::Failed(cause) => DeviceTransferError::Refused { owner, cause },
        }
    }
}

/// Why a transfer of registered device memory failed: [`try_rget_device`](crate::try_rget_device) and
/// [`try_rput_device`](crate::try_rput_device).
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum DeviceTransferError {
    /// The handle names no memory that is registered now: its owner dropped or closed it, or the handle is forged.
    #[error(
        "the handle is stale or forged: {0} has no such device memory registered; keep it until the last transfer is over"
    )]
    Stale(NodeId),
    /// The handle means another number of bytes than what is registered has, or selects what lies outside it.
    #[error(
        "the handle does not fit what {owner} has registered: {cause}; make handles by `handle` and `only` alone"
    )]
    Misfit {
        /// Who registered the memory.
        owner: NodeId,
        /// What does not fit.
        cause: String,
    },
    /// The device of the other side did not do it: it is lost, or has no memory left.
    #[error("{owner} could not go on with it: {cause}")]
    Refused {
        /// The other side.
        owner: NodeId,
        /// What its device said.
        cause: String,
    },
    /// The device of who asked did not do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The network did not carry it.
    #[error(transparent)]
    Network(#[from] TransferError),
}

impl DeviceTransferError {
    /// What `node` answers who has asked it for a transfer that failed so there.
    pub(crate) fn told_by(self, node: NodeId) -> DeviceRefusal {
        match self {
            Self::Stale(_) => DeviceRefusal::Stale,
            Self::Misfit { cause, .. } => DeviceRefusal::Misfit(cause),
            Self::Refused { owner, cause } if owner == node => DeviceRefusal::Failed(cause),
            failed => DeviceRefusal::Failed(failed.to_string()),
        }
    }
}

/// A failed transfer of registered device memory; its local buffer comes back, its contents as far as the transfer got.
///
/// As an argument of a callback it stays on its node: to send it to another one ends the job.
#[derive(Clone, Error)]
#[error("{cause}")]
pub struct DeviceTransferFailed<T: Element> {
    /// The buffer given; nothing if a command that had it was not taken by its device.
    pub buffer: Option<DeviceBuffer<T>>,
    /// Why.
    #[source]
    pub cause: DeviceTransferError,
}

impl<T: Element> fmt::Debug for DeviceTransferFailed<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Refused in words.
impl<T: Element> Serialize for DeviceTransferFailed<T> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(STAYS))
    }
}

/// Refused in words.
impl<'de, T: Element> Deserialize<'de> for DeviceTransferFailed<T> {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom(STAYS))
    }
}
