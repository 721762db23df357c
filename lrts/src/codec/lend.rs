//! Lent memory: memory inside a value that may travel beside its encoding.
//!
//! 1. A buffer type serializes as [`LendableBytes`] and deserializes as [`LentBytes`]. In any format, and in this one
//!    unless [`encode_lending`](super::encode_lending) was asked for, those are plain bytes.
//! 2. Memory that is lent leaves a mark where its count would be: the highest bit, which no count has, and its index among
//!    the memories beside the bytes.
//! 3. On the way in each memory is taken by exactly one mark. A mark for any other is an error.

use crate::memory::Memory;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Sets a mark apart from a count.
pub(super) const LENT: u64 = 1 << 63;

/// The name under which both sides recognise the newtype around memory.
const NAME: &str = "Memory";

/// Serialized form of a type that owns [`Memory`].
pub struct LendableBytes<'a>(
    /// The bytes; a value that lends them shares this.
    pub &'a Memory,
);

/// Mark of lendable memory for the encoder, behind the newtype's name: never seen outside this module.
pub(super) struct Shared<'a>(pub(super) &'a Memory);

impl Serialize for LendableBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, &Shared(self.0))
    }
}

impl Serialize for Shared<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_slice())
    }
}

/// Which memory is lent, and what was lent so far.
pub(super) struct Lending {
    threshold_bytes: usize,
    pub(super) lent: Vec<Memory>,
}

impl Lending {
    pub(super) fn new(threshold_bytes: usize) -> Self {
        Self { threshold_bytes, lent: Vec::new() }
    }

    /// Takes memory that is large enough; returns its index.
    pub(super) fn offer(&mut self, memory: &Memory) -> Option<u64> {
        if memory.len() < self.threshold_bytes {
            return None;
        }
        self.lent.push(memory.clone());
        Some(self.lent.len() as u64 - 1)
    }
}

/// Deserialized form of a type that owns [`Memory`].
pub enum LentBytes<'de> {
    /// The bytes came in the value, to be copied.
    Within(Cow<'de, [u8]>),
    /// The bytes came beside the value, to be shared.
    Beside(Memory),
}

impl<'de> Deserialize<'de> for LentBytes<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NAME, LentVisitor)
    }
}

/// The visitor of [`LentBytes`], by which the decoder recognises it.
pub(super) struct LentVisitor;

impl<'de> Visitor<'de> for LentVisitor {
    type Value = LentBytes<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("bytes")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(LentBytes::Within(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        self.visit_byte_buf(bytes.to_vec())
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
        Ok(LentBytes::Within(Cow::Owned(bytes)))
    }
}
