//! Wire format of [`Channel::Emulated`](crate::frame::Channel::Emulated): a small header of fixed-width little-endian fields, then
//! data.

use crate::codec;
use crate::error::TransferError;
use crate::ids::NodeId;
use serde::{Deserialize, Serialize};

/// More bytes than any header takes: 4 for the kind and at most 40 for its fields.
pub(super) const HEADER_BYTES_MAX: usize = 64;

/// Operations one node may have open at another. Enough to keep any network busy with chunks.
pub(crate) const OPERATIONS_MAX: usize = 64;

/// Names an operation between the node that posted it and the node that serves it. The poster counts them.
pub(crate) type OperationId = u64;

/// Which bytes of which region of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) slot: u32,
    pub(crate) generation: u64,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// Why an operation was not carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Reason {
    Stale,
    OutOfRange {
        region_len: u64,
    },
    ReadOnly,
    DeviceMemory,
    FilledInPlace,
    /// The serving node is shutting down.
    Closing,
}

impl Reason {
    pub(crate) fn of(error: &TransferError) -> Self {
        match error {
            TransferError::OutOfRange { region_len, .. } => Self::OutOfRange { region_len: *region_len },
            TransferError::ReadOnly(_) => Self::ReadOnly,
            TransferError::DeviceMemory(_) => Self::DeviceMemory,
            TransferError::FilledInPlace(_) => Self::FilledInPlace,
            TransferError::StaleKey(_)
            | TransferError::LocalTooShort { .. }
            | TransferError::Refused { .. }
            | TransferError::PeerLost(_) => Self::Stale,
        }
    }

    pub(crate) fn to_error(self, node: NodeId, offset: u64, len: u64) -> TransferError {
        match self {
            Self::Stale => TransferError::StaleKey(node),
            Self::OutOfRange { region_len } => TransferError::OutOfRange { node, offset, len, region_len },
            Self::ReadOnly => TransferError::ReadOnly(node),
            Self::DeviceMemory => TransferError::DeviceMemory(node),
            Self::FilledInPlace => TransferError::FilledInPlace(node),
            Self::Closing => TransferError::PeerLost(node),
        }
    }
}

/// A header's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoded {
    bytes: [u8; HEADER_BYTES_MAX],
    len: usize,
}

impl Encoded {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The header of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Header {
    /// Poster to server: send me this range.
    Get { id: OperationId, range: Range },
    /// Poster to server: write this range. Data that fit one frame follow at once, else none.
    Put { id: OperationId, range: Range },
    /// Server to poster: the range is yours, send the data of the put (again, if they came with it).
    Granted { id: OperationId },
    /// Server to poster: the next bytes of a get, `at` bytes into the range.
    GetChunk { id: OperationId, at: u64 },
    /// Poster to server: the next bytes of a put that was granted.
    PutChunk { id: OperationId, at: u64 },
    /// Server to poster: a put is in memory, or a get of no bytes is over.
    Done { id: OperationId },
    /// Server to poster: the operation failed, nothing was moved.
    Failed { id: OperationId, reason: Reason },
}

impl Header {
    /// Its bytes.
    pub(super) fn encode(self) -> Encoded {
        let mut bytes = [0; HEADER_BYTES_MAX];
        let len =
            codec::encode_to_slice(&self, &mut bytes).expect("the bound was counted from the longest header");
        Encoded { bytes, len }
    }

    /// Splits a frame into header and data.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let (header, data) = codec::decode_front::<Self>(bytes).map_err(|error| error.to_string())?;
        let may_carry = matches!(header, Self::Put { .. } | Self::GetChunk { .. } | Self::PutChunk { .. });
        if !may_carry && !data.is_empty() {
            return Err(format!("{} bytes follow {header:?}", data.len()));
        }
        Ok((header, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_survives_the_wire_and_fits_its_bound() {
        let range = Range { slot: u32::MAX, generation: u64::MAX, offset: u64::MAX, len: u64::MAX };
        for header in [
            Header::Get { id: u64::MAX, range },
            Header::Put { id: 0, range },
            Header::Granted { id: 1 },
            Header::GetChunk { id: 2, at: u64::MAX },
            Header::PutChunk { id: 2, at: u64::MAX },
            Header::Done { id: 3 },
            Header::Failed { id: 4, reason: Reason::OutOfRange { region_len: u64::MAX } },
        ] {
            assert_eq!(Header::decode(header.encode().as_slice()), Ok((header, &[][..])));
        }
    }

    #[test]
    fn truncated_unknown_and_overlong_headers_are_errors() {
        let encoded = Header::Done { id: 7 }.encode();
        let bytes = encoded.as_slice();
        for len in 0..bytes.len() {
            assert!(Header::decode(&bytes[..len]).is_err());
        }
        assert!(Header::decode(&[bytes, &[0]].concat()).is_err());
        assert!(Header::decode(&[0xff; 64]).is_err());
    }
}
