//! Faults of a value or of its bytes, inside the codec, one pointer wide, so that results stay in registers; and the errors that its callers
//! see: the Rust type and what is wrong.

use std::any::type_name;
use std::fmt::Display;
use thiserror::Error;

/// How deep values may nest: far more than trees need, and few enough for the stack of a thread. A list whose every
/// element owns the next one belongs into a `Vec`.
pub const DEPTH_MAX: u32 = 256;

#[derive(Debug, Error)]
#[error(transparent)]
pub(super) struct Fault(Box<FaultKind>);

#[derive(Debug, Error)]
pub(super) enum FaultKind {
    #[error("{needed} bytes expected where {left} are left")]
    Short { needed: usize, left: usize },
    #[error("a count of {count} in front of {left} bytes")]
    Count { count: u64, left: usize },
    #[error("{0} bytes left over")]
    LeftOver(usize),
    #[error("{value:#x} where {expected} is expected")]
    Invalid { value: u64, expected: &'static str },
    #[error("a text that is not UTF-8")]
    Text,
    #[error(
        "it nests more than {DEPTH_MAX} deep; hold its parts in a `Vec`, one level deep, and name them by index"
    )]
    Deep,
    #[error(
        "it asks for {0}, which needs a format that names its fields; remove `flatten`, `untagged` and `skip` attributes"
    )]
    SelfDescription(&'static str),
    #[error("its serialization gives {before} bytes once and {after} bytes the next time")]
    Unsteady { before: usize, after: usize },
    #[error("it names memory {index}, which did not come with it or is named twice")]
    Lent { index: u64 },
    #[error("{0} memories came with it that it does not name")]
    LentLeftOver(usize),
    #[error("there is no memory for {0} bytes")]
    Memory(usize),
    #[error("{0}")]
    Other(String),
}

impl From<FaultKind> for Fault {
    #[cold]
    fn from(kind: FaultKind) -> Self {
        Self(Box::new(kind))
    }
}

impl serde::ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        FaultKind::Other(message.to_string()).into()
    }
}

impl serde::de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        FaultKind::Other(message.to_string()).into()
    }
}

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
