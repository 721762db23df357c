//! Messages that are here before what they are for: the news of a creation and a call of what was created may take different
//! ways. They are kept until the chare or collection comes.
//!
//! It may never come: a proxy may be forged. So the PEs of a node keep a quarter of the host's memory at most, in equal shares;
//! a message beyond that ends the job.

use crate::envelope::{Body, Envelope};
use crate::error::JobError;
use crate::host_memory::kept_bytes_max;
use crate::ids::{ChareId, CollectionId, Index, SectionId};
use crate::layout::Layout;
use crate::pe::Pe;
use rustc_hash::FxHashMap;
use std::fmt;

/// What messages wait for that arrived before it was created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Awaited {
    Chare(ChareId),
    Collection(CollectionId),
    /// At its home.
    Member(CollectionId, Index),
    /// At its root, or where members have their homes.
    Section(SectionId),
}

impl fmt::Display for Awaited {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chare(id) => write!(out, "chare {}.{}", id.creator.0, id.serial),
            Self::Collection(CollectionId { creator, serial }) => {
                write!(out, "collection {}.{serial}", creator.0)
            }
            Self::Member(CollectionId { creator, serial }, index) => {
                write!(out, "member {:#x} of collection {}.{serial}", index.bits(), creator.0)
            }
            Self::Section(id) => id.fmt(out),
        }
    }
}

/// The early messages of one PE.
pub(crate) struct Early {
    waiting: FxHashMap<Awaited, Kept>,
    /// Of all together.
    bytes: u64,
    bytes_max: u64,
}

#[derive(Default)]
struct Kept {
    envelopes: Vec<Envelope>,
    bytes: u64,
}

impl Early {
    /// For one PE of a job of this shape.
    pub(crate) fn new(layout: Layout) -> Self {
        Self::within(kept_bytes_max() / u64::from(layout.pes_per_node()))
    }

    fn within(bytes_max: u64) -> Self {
        Self { waiting: FxHashMap::default(), bytes: 0, bytes_max }
    }

    /// Keeps a message that takes so much memory.
    ///
    /// # Errors
    /// When there is no room for it, in words.
    fn keep(&mut self, awaited: Awaited, envelope: Envelope, bytes: u64) -> Result<(), String> {
        if bytes > self.bytes_max - self.bytes {
            let messages: usize = self.waiting.values().map(|kept| kept.envelopes.len()).sum();
            return Err(format!(
                "{awaited} has not been created here, and the {messages} messages that wait for creations take all of the {} bytes \
                 that this PE keeps for them; make sure that whatever is called is created, and call it after that",
                self.bytes_max
            ));
        }
        self.bytes += bytes;
        let kept = self.waiting.entry(awaited).or_default();
        kept.bytes += bytes;
        kept.envelopes.push(envelope);
        Ok(())
    }

    /// What waited for something that is here now.
    pub(crate) fn release(&mut self, awaited: Awaited) -> Vec<Envelope> {
        if self.waiting.is_empty() {
            // Nearly always, at every creation: no need for a hash.
            return Vec::new();
        }
        let Kept { envelopes, bytes } = self.waiting.remove(&awaited).unwrap_or_default();
        self.bytes -= bytes;
        envelopes
    }

    /// The members of a collection for which messages wait.
    pub(crate) fn members_awaited(&self, collection: CollectionId) -> Vec<Awaited> {
        let of_it = |awaited: &&Awaited| matches!(awaited, Awaited::Member(of, _) if *of == collection);
        self.waiting.keys().filter(of_it).copied().collect()
    }

    /// All of them.
    pub(crate) fn take_all(&mut self) -> Vec<Envelope> {
        self.bytes = 0;
        self.waiting.drain().flat_map(|(_, kept)| kept.envelopes).collect()
    }
}

/// Keeps a message until what it is for is created; ends the job when too many wait.
pub(crate) fn keep(pe: &Pe, awaited: Awaited, envelope: Envelope) {
    let what = match &envelope.body {
        Body::Call(call) => format!("a call of {}::{}", call.entry.chare, call.entry.name),
        Body::Broadcast(broadcast) => {
            format!("a call of all {}::{}", broadcast.entry.chare, broadcast.entry.name)
        }
        Body::SectionCall(call) => {
            format!("a call of {}::{} of {}", call.entry.chare, call.entry.name, call.section)
        }
        Body::Multicast(call) => {
            format!("a call of {}::{} of {}", call.entry.chare, call.entry.name, call.section)
        }
        Body::Section(message) => format!("news of {}", message.section),
        Body::Insert(insert) => format!("inserting a member of {}", insert.chare.name),
        Body::Contribution { .. } => "a reduction".to_owned(),
        _ => "news of a collection".to_owned(),
    };
    // Measured before the borrow: that runs the serialization of the user's types.
    let bytes = envelope.bytes();
    let kept = pe.early.borrow_mut().keep(awaited, envelope, bytes);
    if let Err(cause) = kept {
        pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callback::FutureId;
    use crate::ids::PeId;
    use crate::message::Arguments;
    use crate::queue::CallOptions;

    fn awaited(serial: u32) -> Awaited {
        Awaited::Collection(CollectionId { creator: PeId(3), serial })
    }

    fn envelope() -> Envelope {
        let future = FutureId { pe: PeId(0), slot: 0, generation: 0 };
        Envelope { options: CallOptions::new(), body: Body::Resolve { future, value: Arguments::new(1u64) } }
    }

    #[test]
    fn the_last_byte_of_room_is_used_and_no_more() {
        let mut early = Early::within(100);
        for serial in [1, 2, 2, 1] {
            early.keep(awaited(serial), envelope(), 25).unwrap();
        }
        let refusal = early.keep(awaited(7), envelope(), 1).unwrap_err();
        assert!(refusal.contains("collection 3.7") && refusal.contains("the 4 messages"), "{refusal}");
        assert_eq!(early.release(awaited(2)).len(), 2);
        assert!(early.keep(awaited(7), envelope(), 51).is_err());
        early.keep(awaited(7), envelope(), 50).unwrap();
        assert_eq!((early.release(awaited(9)).len(), early.take_all().len()), (0, 3));
        early.keep(awaited(1), envelope(), 100).unwrap();
        assert!(early.keep(awaited(1), envelope(), u64::MAX).is_err());
    }
}
