//! Eager bytes: the bytes of a nocopy argument that travel with its message.
//!
//! They are written from the sender's memory into the message, and from the message into memory where elements of any type are aligned:
//! as many copies as a vector among the ordinary arguments takes.

use super::release::Release;
use chare_lrts::codec::{LendableBytes, LentBytes};
use chare_lrts::{Memory, MemoryMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The bytes of a nocopy argument that travel with its message.
pub(crate) struct EagerBytes {
    pub(crate) memory: Memory,
    /// The release of a sender that waits for no answer; never looked at, dropped when the message is written, after the memory.
    _release: Option<Arc<Release>>,
}

impl EagerBytes {
    /// Memory that the message takes along, and the release that is dropped when the message is written.
    pub(crate) fn new(memory: Memory, release: Option<Arc<Release>>) -> Self {
        Self { memory, _release: release }
    }

    /// The memory, or `into` with a copy of it.
    ///
    /// # Errors
    /// When `into` is of another length than the memory, in words.
    pub(crate) fn land(self, into: Option<MemoryMut>) -> Result<Memory, String> {
        let Some(mut into) = into else { return Ok(self.memory) };
        if into.len() != self.memory.len() {
            return Err(format!("{} bytes for a value of {}", self.memory.len(), into.len()));
        }
        into.as_mut_slice().copy_from_slice(self.memory.as_slice());
        Ok(into.freeze())
    }
}

impl Serialize for EagerBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LendableBytes(&self.memory).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EagerBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let memory = match LentBytes::deserialize(deserializer)? {
            LentBytes::Beside(memory) => memory,
            LentBytes::Within(bytes) => {
                let mut memory = MemoryMut::heap_zeroed(bytes.len());
                memory.as_mut_slice().copy_from_slice(&bytes);
                memory.freeze()
            }
        };
        Ok(Self { memory, _release: None })
    }
}
