//! Values to bytes and back: the only place that knows the wire's encoding (bincode 2, fixed-width integers,
//! little endian). Decoding never trusts a length: a value never takes more memory than its bytes justify.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The largest value that is decoded, in bytes: far beyond any message, below what a hostile length could ask for.
const DECODE_LIMIT: usize = 1 << 40;

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_fixed_int_encoding().with_limit::<DECODE_LIMIT>()
}

/// A value that does not become bytes, or bytes that are no value.
#[derive(Debug, Error)]
pub(crate) enum CodecError {
    /// The type's own serialization failed.
    #[error("cannot encode {type_name}: {cause}")]
    Encode {
        /// The Rust type.
        type_name: &'static str,
        /// What serde said.
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

/// Appends the encoding of `value`.
///
/// # Errors
/// When the type's serialization refuses.
pub(crate) fn encode_into<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
    bincode::serde::encode_into_std_write(value, out, config()).map(|_| ()).map_err(|error| {
        CodecError::Encode { type_name: std::any::type_name::<T>(), cause: error.to_string() }
    })
}

/// Decodes one value from the front of `bytes`; returns it and what follows it.
///
/// # Errors
/// When the bytes are no such value.
pub(crate) fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), CodecError> {
    match bincode::serde::decode_from_slice(bytes, config()) {
        Ok((value, used)) => Ok((value, &bytes[used..])),
        Err(error) => Err(decode_error::<T>(bytes, error.to_string())),
    }
}

/// Decodes a value that takes up all of `bytes`.
///
/// # Errors
/// When the bytes are no such value, or more than one.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    match decode_front(bytes)? {
        (value, []) => Ok(value),
        (_, rest) => Err(decode_error::<T>(bytes, format!("{} bytes left over", rest.len()))),
    }
}

fn decode_error<T>(bytes: &[u8], cause: String) -> CodecError {
    CodecError::Decode { type_name: std::any::type_name::<T>(), bytes: bytes.len(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let value = (7u32, "seven".to_owned(), vec![1.5f64, -2.5]);
        let mut bytes = Vec::new();
        encode_into(&value, &mut bytes).unwrap();
        assert_eq!(decode::<(u32, String, Vec<f64>)>(&bytes).unwrap(), value);
    }

    #[test]
    fn a_lying_length_is_an_error_not_an_allocation() {
        for length in [1u64, 1 << 31, (1 << 32) + 1, 1 << 62, u64::MAX] {
            assert!(decode::<Vec<u64>>(&length.to_le_bytes()).is_err(), "length {length}");
            assert!(decode::<String>(&length.to_le_bytes()).is_err(), "length {length}");
        }
    }

    #[test]
    fn left_over_bytes_are_an_error() {
        assert!(decode::<u32>(&[1, 0, 0, 0, 9]).is_err());
    }
}
