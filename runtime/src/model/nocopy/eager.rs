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
pub(crate) struct EagerBytes {
    memory: Memory,
    /// What gathers the bytes from the memory, at the sender of what a layout selects.
    plan: Option<Arc<Plan>>,
    /// The release of a sender that waits for no answer; never looked at, dropped when the message is written, after the memory.
    _release: Option<Arc<Release>>,
}

impl EagerBytes {
    /// All bytes of some memory.
    pub(crate) fn whole(memory: Memory) -> Self {
        Self { memory, plan: None, _release: None }
    }

    /// What a plan, to one piece of memory, gathers of this memory while the message is written.
    pub(crate) fn gathered(memory: Memory, plan: Arc<Plan>) -> Self {
        Self { memory, plan: Some(plan), _release: None }
    }

    /// With a release that is dropped when the message is written.
    pub(crate) fn until_written(self, release: Option<Arc<Release>>) -> Self {
        Self { _release: release, ..self }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.plan.as_ref().map_or(self.memory.len(), |plan| plan.bytes() as usize)
    }

    /// The bytes as they came.
    pub(crate) fn into_memory(self) -> Memory {
        debug_assert!(self.plan.is_none(), "what came has been gathered");
        self.memory
    }

    /// The memory, or `into` with a copy of it.
    ///
    /// # Errors
    /// When `into` is of another length than the memory, in words.
    pub(crate) fn land(self, into: Option<MemoryMut>) -> Result<Memory, String> {
        let memory = self.into_memory();
        let Some(mut into) = into else { return Ok(memory) };
        if into.len() != memory.len() {
            return Err(format!("{} bytes for a value of {}", memory.len(), into.len()));
        }
        into.as_mut_slice().copy_from_slice(memory.as_slice());
        Ok(into.freeze())
    }
}

impl Serialize for EagerBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.plan {
            None => LendableBytes(&self.memory).serialize(serializer),
            Some(plan) => FilledBytes(&Gathered { plan, source: &self.memory }).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EagerBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let memory = match LentBytes::deserialize(deserializer)? {
            LentBytes::Beside(memory) => memory,
            LentBytes::Within(bytes) => MemoryMut::heap_copy_of(&bytes).freeze(),
        };
        Ok(Self::whole(memory))
    }
}
