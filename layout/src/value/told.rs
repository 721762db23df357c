//! Layouts in messages: by their bytes, which are believed as little as those that [`Raw::decode`] reads.

use crate::Raw;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.encode())
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The visitor of a layout's bytes.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Raw;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the bytes of a layout")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Raw, E> {
        Raw::decode(bytes).map_err(E::custom)
    }
}
