//! Errors of the codec, as its callers see them: the Rust type and what is wrong.

use super::fault::Fault;
use std::any::type_name;
use thiserror::Error;

/// A value that does not become bytes, or bytes that are no value.
#[derive(Debug, Error)]
pub enum CodecError {
    /// The type's own serialization failed, or the value nests too deep.
    #[error("cannot encode {type_name}: {cause}")]
    Encode {
        /// The Rust type.
        type_name: &'static str,
        /// What is wrong, and what to do.
        cause: String,
    },
    /// The bytes are no value of the type.
    #[error("cannot decode {type_name} from {bytes} bytes: {cause}")]
    Decode {
        /// The Rust type.
        type_name: &'static str,
        /// How many bytes there were.
        bytes: usize,
        /// What is wrong.
        cause: String,
    },
}

impl CodecError {
    pub(super) fn encode<T: ?Sized>(fault: Fault) -> Self {
        Self::Encode { type_name: type_name::<T>(), cause: fault.to_string() }
    }

    pub(super) fn decode<T>(bytes: &[u8], fault: Fault) -> Self {
        Self::Decode { type_name: type_name::<T>(), bytes: bytes.len(), cause: fault.to_string() }
    }
}
