//! Eager bytes: the bytes of a nocopy argument that travel with its message.
//!
//! They are written from the sender's memory into the message, by the plan that gathers them if a layout selects them, and from the
//! message into memory where elements of any type are aligned: as many copies as a vector among the ordinary arguments takes.

use super::release::Release;
use super::selected::Gathered;
use chare_layout::Plan;
use chare_lrts::codec::{FilledBytes, LendableBytes, LentBytes};
use chare_lrts::{Memory, MemoryMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The bytes of a nocopy argument that travel with its message.
pub(crate) struct EagerBytes(Bytes);

enum Bytes {
    /// In the sender's memory.
    Leaving {
        memory: Memory,
        /// What gathers the bytes from the memory, if a layout selects them.
        plan: Option<Arc<Plan>>,
        /// The release of a sender that waits for no answer; never looked at, dropped when the message is written, after the memory.
        _release: Option<Arc<Release>>,
    },
    /// In memory of their own, as they came.
    Came(MemoryMut),
}

impl EagerBytes {
    /// All bytes of some memory.
    pub(crate) fn whole(memory: Memory) -> Self {
        Self(Bytes::Leaving { memory, plan: None, _release: None })
    }

    /// What a plan, to one piece of memory, gathers of this memory while the message is written.
    pub(crate) fn gathered(memory: Memory, plan: Arc<Plan>) -> Self {
        Self(Bytes::Leaving { memory, plan: Some(plan), _release: None })
    }

    /// Bytes that came with a message.
    pub(crate) fn came(bytes: &[u8]) -> Self {
        Self(Bytes::Came(MemoryMut::heap_copy_of(bytes)))
    }

    /// With a release that is dropped when the message is written.
    pub(crate) fn until_written(self, release: Option<Arc<Release>>) -> Self {
        match self.0 {
            Bytes::Leaving { memory, plan, .. } => Self(Bytes::Leaving { memory, plan, _release: release }),
            came => Self(came),
        }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Bytes::Leaving { plan: Some(plan), .. } => plan.bytes() as usize,
            Bytes::Leaving { memory, .. } => memory.len(),
            Bytes::Came(memory) => memory.len(),
        }
    }

    /// The bytes as they came.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Bytes::Leaving { memory, plan, .. } => {
                debug_assert!(plan.is_none(), "what came has been gathered");
                memory.as_slice()
            }
            Bytes::Came(memory) => memory.as_slice(),
        }
    }

    /// The memory in which the bytes came.
    pub(crate) fn into_memory(self) -> Memory {
        match self.0 {
            Bytes::Leaving { memory, plan, .. } => {
                debug_assert!(plan.is_none(), "what came has been gathered");
                memory
            }
            Bytes::Came(memory) => memory.freeze(),
        }
    }

    /// The memory, or `into` with a copy of it.
    ///
    /// # Errors
    /// When `into` is of another length than the memory, in words.
    pub(crate) fn land(self, into: Option<MemoryMut>) -> Result<Memory, String> {
        let Some(mut into) = into else { return Ok(self.into_memory()) };
        let bytes = self.as_slice();
        if into.len() != bytes.len() {
            return Err(format!("{} bytes for a value of {}", bytes.len(), into.len()));
        }
        into.as_mut_slice().copy_from_slice(bytes);
        Ok(into.freeze())
    }
}

impl Serialize for EagerBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Bytes::Leaving { memory, plan: None, .. } => LendableBytes(memory).serialize(serializer),
            Bytes::Leaving { memory, plan: Some(plan), .. } => {
                FilledBytes(&Gathered { plan, source: memory }).serialize(serializer)
            }
            Bytes::Came(memory) => serializer.serialize_bytes(memory.as_slice()),
        }
    }
}

impl<'de> Deserialize<'de> for EagerBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match LentBytes::deserialize(deserializer)? {
            LentBytes::Beside(memory) => Self::whole(memory),
            LentBytes::Within(bytes) => Self::came(&bytes),
        })
    }
}
