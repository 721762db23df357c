//! Messages that arrived before the chare, collection or section they are for; bounded.
//!
//! The news of a creation and a call of the created chare may take different ways. A PE keeps the call until the chare, collection,
//! member or section is created.
//!
//! The creation may never come: a proxy may be forged. So what is kept counts to the node's allowance of memory; a message beyond that
//! ends the job.

use crate::base::allowance::{Allowance, Purpose};
use crate::model::envelope::Envelope;
use crate::model::ids::{ChareId, CollectionId, Index, SectionId};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// A chare, collection, member or section that is not created yet, and that messages wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Missing {
    Chare(ChareId),
    Collection(CollectionId),
    /// A member, awaited at its home.
    Member(CollectionId, Index),
    /// A section, awaited at its root, or where members have their homes.
    Section(SectionId),
}

impl Missing {
    /// The number that the creator gave to the chare, collection or section.
    pub(super) fn serial(self) -> u32 {
        match self {
            Self::Chare(ChareId { serial, .. })
            | Self::Collection(CollectionId { serial, .. })
            | Self::Member(CollectionId { serial, .. }, _)
            | Self::Section(SectionId { serial, .. }) => serial,
        }
    }
}

impl fmt::Display for Missing {
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
    waiting: FxHashMap<Missing, Kept>,
    allowance: Arc<Allowance>,
}

#[derive(Default)]
struct Kept {
    envelopes: Vec<Envelope>,
    bytes: u64,
}

impl Early {
    /// No messages yet, on a PE of the node that has this allowance.
    pub(crate) fn new(allowance: Arc<Allowance>) -> Self {
        Self { waiting: FxHashMap::default(), allowance }
    }

    /// Keeps a message that takes so many bytes of memory.
    ///
    /// # Errors
    /// The message, and in words that there is no room for it.
    pub(crate) fn keep(
        &mut self,
        missing: Missing,
        envelope: Envelope,
        bytes: u64,
    ) -> Result<(), Box<(Envelope, String)>> {
        if let Err(used_up) = self.allowance.take(Purpose::Early, bytes) {
            let messages: usize = self.waiting.values().map(|kept| kept.envelopes.len()).sum();
            let cause = format!(
                "{missing} has not been created here, {messages} messages wait for creations on this PE, and {used_up}; make sure that \
                 whatever is called is created, and call it after that"
            );
            return Err(Box::new((envelope, cause)));
        }
        match missing {
            Missing::Chare(_) => {
                chare_lrts::sometimes!("a message came before its chare");
            }
            Missing::Collection(_) => {
                chare_lrts::sometimes!("a message came before its collection");
            }
            Missing::Member(..) => {
                chare_lrts::sometimes!("a message came before its element");
            }
            Missing::Section(_) => {
                chare_lrts::sometimes!("a message came before its section");
            }
        }
        let kept = self.waiting.entry(missing).or_default();
        kept.bytes += bytes;
        kept.envelopes.push(envelope);
        Ok(())
    }

    /// Whether no message waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The messages that waited for `missing`, which is here now.
    pub(crate) fn release(&mut self, missing: Missing) -> Vec<Envelope> {
        let Kept { envelopes, bytes } = self.waiting.remove(&missing).unwrap_or_default();
        self.allowance.give_back(Purpose::Early, bytes);
        envelopes
    }

    /// The members of a collection for which messages wait.
    pub(crate) fn members_missing(&self, collection: CollectionId) -> Vec<Missing> {
        let of_it = |awaited: &&Missing| matches!(awaited, Missing::Member(of, _) if *of == collection);
        self.waiting.keys().filter(of_it).copied().collect()
    }

    /// All kept messages, and what they wait for.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Missing, &Envelope)> {
        self.waiting.iter().flat_map(|(missing, kept)| {
            let missing = *missing;
            kept.envelopes.iter().map(move |envelope| (missing, envelope))
        })
    }

    /// All kept messages.
    pub(crate) fn take_all(&mut self) -> Vec<Envelope> {
        let kept = std::mem::take(&mut self.waiting);
        self.allowance.give_back(Purpose::Early, kept.values().map(|kept| kept.bytes).sum());
        kept.into_values().flat_map(|kept| kept.envelopes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::arguments::Arguments;
    use crate::model::call_options::CallOptions;
    use crate::model::callback::FutureId;
    use crate::model::envelope::Body;
    use crate::model::ids::PeId;

    fn missing(serial: u32) -> Missing {
        Missing::Collection(CollectionId { creator: PeId(3), serial })
    }

    fn envelope() -> Envelope {
        let future = FutureId { pe: PeId(0), slot: 0, generation: 0 };
        Envelope { options: CallOptions::new(), body: Body::Resolve { future, value: Arguments::new(1u64) } }
    }

    #[test]
    fn what_is_kept_takes_of_the_allowance_until_it_is_released() {
        let allowance = Arc::new(Allowance::new(160));
        let [mut early, mut other] = [(); 2].map(|()| Early::new(Arc::clone(&allowance)));
        for serial in [1, 2, 2, 1] {
            assert!(early.keep(missing(serial), envelope(), 30).is_ok());
        }
        let Err(refused) = other.keep(missing(7), envelope(), 1) else { panic!("there is no room") };
        let refusal = &refused.1;
        assert!(refusal.contains("collection 3.7") && refusal.contains("120 by messages"), "{refusal}");
        assert_eq!(early.release(missing(2)).len(), 2);
        assert!(other.keep(missing(7), envelope(), 61).is_err());
        assert!(other.keep(missing(7), envelope(), 60).is_ok());
        assert_eq!((other.release(missing(9)).len(), other.take_all().len()), (0, 1));
        assert_eq!(early.take_all().len(), 2);
        assert!(early.keep(missing(1), envelope(), u64::MAX).is_ok());
        assert!(other.keep(missing(1), envelope(), 1).is_err());
    }
}
