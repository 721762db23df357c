//! Device errors: what a device refused, or that it is lost, in words that say what to do.

use crate::words::info::Info;
use chare_layout::LayoutError;
use std::sync::Arc;

/// Why a device did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no such device here.
    #[error("no device: {cause}")]
    NoDevice {
        /// What is missing, and where to get it.
        cause: String,
    },
    /// The device has too little memory left.
    #[error(
        "{asked} bytes were asked for on {device}, and do not fit its {most} bytes beside the blocks there are: drop some, or split this one"
    )]
    OutOfMemory {
        /// Which device.
        device: String,
        /// Bytes that were asked for.
        asked: u64,
        /// Bytes there are.
        most: u64,
    },
    /// Staging memory is in use, for now; or never has as much.
    #[error(
        "{asked} bytes of pinned memory were asked for, and do not fit the {most} bytes of {device} beside those in use: try again when a transfer has ended, or in shorter chunks, as `to_vec` reads and `write` writes"
    )]
    NoRoom {
        /// Which device.
        device: String,
        /// Bytes that were asked for.
        asked: u64,
        /// Bytes there are.
        most: u64,
    },
    /// A range beyond its memory.
    #[error("bytes {start}..{end} were asked for of memory that has {len}: ask for less")]
    OutOfBounds {
        /// First byte.
        start: u64,
        /// One behind the last.
        end: u64,
        /// Bytes there are.
        len: u64,
    },
    /// A copy whose source and target share bytes.
    #[error("a copy of {bytes} bytes overlaps its own target: copy by way of another block")]
    Overlap {
        /// Bytes to copy.
        bytes: u64,
    },
    /// Lengths of the two ends of a copy differ.
    #[error("{from} bytes were to be copied to {to}: give spans of one length")]
    Lengths {
        /// Bytes of the source.
        from: u64,
        /// Bytes of the target.
        to: u64,
    },
    /// Something of another device.
    #[error("{what} of {owner} was given to {device}: use one of its own, or import the arena there")]
    Foreign {
        /// What it is.
        what: &'static str,
        /// Whose it is.
        owner: String,
        /// Who was given it.
        device: String,
    },
    /// A plan that does not go with its spans.
    #[error("a plan does not go with its memory: {0}")]
    Layout(#[from] LayoutError),
    /// A descriptor that is no memory of such a device.
    #[error("the descriptor is no memory that {device} can import: {cause}")]
    Import {
        /// Which device.
        device: String,
        /// Why not.
        cause: String,
    },
    /// The device or the system refused one thing; all else goes on.
    #[error("{operation} was refused by {device}: {cause}")]
    Refused {
        /// What was tried.
        operation: &'static str,
        /// Which device.
        device: String,
        /// What was answered.
        cause: String,
    },
    /// The device is gone for this process, with all that its memory held.
    #[error("{device} was lost: {cause}; what its memory held is gone: end the process and start it again")]
    Lost {
        /// Which device.
        device: String,
        /// What it said.
        cause: String,
    },
}

impl DeviceError {
    /// Something that `info`'s device or the system refused.
    pub(crate) fn refused(info: &Info, operation: &'static str, cause: impl ToString) -> Self {
        Self::Refused { operation, device: info.to_string(), cause: cause.to_string() }
    }

    /// A descriptor that `info`'s device cannot import.
    pub(crate) fn import(info: &Info, cause: impl ToString) -> Self {
        Self::Import { device: info.to_string(), cause: cause.to_string() }
    }

    /// Compares devices: what belongs to the one is of no use to the other.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`].
    pub(crate) fn check_owner(device: &Arc<Info>, what: &'static str, owner: &Arc<Info>) -> Result<(), Self> {
        if Arc::ptr_eq(owner, device) {
            return Ok(());
        }
        Err(Self::Foreign { what, owner: owner.to_string(), device: device.to_string() })
    }

    /// Whether the device is gone: every later call returns the same.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}
