//! Refusals: why a claim is not granted.

use super::bells::Bells;
use super::board::Notice;
use super::claim::{ClaimDenied, ClaimMode};
use crate::error::TransferError;
use crate::ids::NodeId;

/// Why a claim failed.
#[derive(Debug, PartialEq, Eq)]
pub enum ClaimError {
    /// Another operation holds the region; the caller tries again later.
    Busy,
    /// It will never succeed.
    Failed(TransferError),
}

/// Why a claim on a region of `node` was not granted, after those were told whom the attempt was in the way of.
pub(crate) fn not_granted(denied: ClaimDenied, node: NodeId, bells: &Bells) -> ClaimError {
    match denied {
        ClaimDenied::Busy => ClaimError::Busy,
        ClaimDenied::Stale(askers) => {
            bells.tell(askers);
            ClaimError::Failed(TransferError::StaleKey(node))
        }
    }
}

/// Compares a range and a way of access with what was registered.
///
/// # Errors
/// Out of range, a put into a source, or memory of a device.
pub fn check_range(
    node: NodeId,
    notice: &Notice,
    offset: u64,
    len: u64,
    mode: ClaimMode,
) -> Result<(), TransferError> {
    if mode == ClaimMode::Write && !notice.writable {
        return Err(TransferError::ReadOnly(node));
    }
    if notice.is_of_device {
        return Err(TransferError::DeviceMemory(node));
    }
    if offset.checked_add(len).is_none_or(|end| end > notice.len) {
        return Err(TransferError::OutOfRange { node, offset, len, region_len: notice.len });
    }
    Ok(())
}
