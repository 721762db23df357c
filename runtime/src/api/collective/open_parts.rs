//! Open parts: parts of a buffer that are registered, so that whoever has the elements puts them there by itself.
//!
//! 1. Each open part is a region of its own. Who fills it claims it for writing: so no two write a part at the same time.
//! 2. The claim ends before the buffer's owner hears that the part is filled, so that it gets the part back without waiting.
//! 3. Between the elements of a part may lie those of others. Then its region is one that is filled in place alone, by its layout: its node
//!    refuses a peer's get or put of it. A process of the host that maps it is trusted.
//! 4. A part is open only where that pays: its elements are too many to travel with a message. Who cannot reach it, or comes late, sends
//!    the elements.

use crate::model::arguments::Arguments;
use crate::model::nocopy::{OutgoingMemory, PartMut, PostedMemory};
use crate::node::Node;
use crate::pe::Pe;
use crate::prelude::*;
use crate::transfer::copy::laid_out::{land_at_once, land_in_pieces};
use crate::transfer::ways;
use chare_layout::RawPartition;
use chare_lrts::{Held, RegionKey};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most parts of a buffer of which any is open: their keys travel with every handle.
const PARTS_MAX: u64 = 32;

/// What a buffer's owner hears of a part that is filled: its number, and by whom.
pub(super) type Filled = (u64, PeId);

/// The parts of a buffer that are open, for those who fill them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct OpenParts {
    partition: RawPartition,
    /// By the number of the part.
    keys: Vec<Option<RegionKey>>,
}

/// A part that is missing.
pub(super) enum Missing {
    Closed(PartMut<u8>),
    Open(RegionKey),
}

impl Missing {
    /// Opens the part for others, if that pays.
    pub(super) fn open(self) -> Self {
        let Self::Closed(part) = self else { return self };
        if ways::is_always_eager(part.len()) {
            return Self::Closed(part);
        }
        let PostedMemory { memory, layout, .. } = part.into_posted();
        if memory.share().is_none() {
            return Self::Closed(of_held(Held::Target(memory)));
        }
        let registered = Pe::current(|pe| match layout {
            Some(_) => pe.node.network.regions().register_holey(memory).map_err(Held::Target),
            None => pe.node.network.regions().register(Held::Target(memory)),
        });
        registered.map_or_else(|held| Self::Closed(of_held(held)), Self::Open)
    }

    /// The part; `None` while somebody fills it.
    pub(super) fn close(self) -> Option<PartMut<u8>> {
        match self {
            Self::Closed(part) => Some(part),
            Self::Open(key) => {
                let held = Pe::current(|pe| pe.node.network.regions().deregister(&key));
                held.unwrap_or_else(|error| unreachable!("it is closed once: {error}")).map(of_held)
            }
        }
    }

    fn key(&self) -> Option<RegionKey> {
        match self {
            Self::Closed(_) => None,
            Self::Open(key) => Some(*key),
        }
    }
}

/// The part that was registered.
fn of_held(held: Held) -> PartMut<u8> {
    let Held::Target(memory) = held else { unreachable!("a target was registered") };
    PartMut::from_memory(memory).unwrap_or_else(|_| unreachable!("it was a part"))
}

impl OpenParts {
    /// Whether parts of a buffer are opened in this job, if it is divided so.
    pub(super) fn pay(partition: &RawPartition) -> bool {
        // The layouts of a table's parts travel as they are, and may be long.
        let is_short = partition.is_rule() && partition.len() <= PARTS_MAX;
        is_short && Pe::current(|pe| pe.node.topology.pes() > 1)
    }

    /// Those of the parts of a buffer that are open; `None` if there are none.
    pub(super) fn among<'a>(
        partition: &RawPartition,
        missing: impl Iterator<Item = &'a Option<Missing>>,
    ) -> Option<Self> {
        let keys: Vec<_> = missing.map(|part| part.as_ref().and_then(Missing::key)).collect();
        let partition = partition.clone();
        keys.iter().any(Option::is_some).then_some(Self { partition, keys })
    }

    /// Fills the part at this place from memory of this process, if it is open, can be reached and has this length: at once if it is short.
    /// What is long goes on in pieces; `owner` is sent its number in the end.
    pub(super) fn fill(
        &self,
        place: &[u64],
        elements: &OutgoingMemory,
        owner: &Callback<Filled>,
    ) -> Option<Fill> {
        let number = self.partition.number_of(place)?;
        let key = self.keys.get(number as usize)?.as_ref()?;
        let part = self.partition.part(number)?;
        let bytes = elements.bytes();
        if part.bytes() != bytes as u64 {
            return None;
        }
        Pe::current(|pe| {
            let memory = pe.node.network.fill(key)?;
            let layout = (!part.is_contiguous()).then(|| Arc::new(part));
            let is_meant = match &layout {
                None => memory.len() == bytes,
                Some(layout) => layout.check_bounds(memory.len() as u64).is_ok(),
            };
            let posted = is_meant.then_some(PostedMemory { memory, bytes, layout })?;
            if !ways::is_long(bytes) {
                land_at_once(&pe.node, elements, posted).ok()?;
                return Some(Fill::Over(number));
            }
            let (owner, filled) = (owner.erase(), (number, pe.id));
            let then = move |node: &Arc<Node>| node.fire(owner, Arguments::new(filled));
            land_in_pieces(&pe.node, elements, posted, "filling a part of a gather", then).ok()?;
            Some(Fill::UnderWay)
        })
    }
}

/// A part that is being filled.
pub(super) enum Fill {
    /// The part of this number is filled, and its owner is to be told.
    Over(u64),
    /// The owner will be told.
    UnderWay,
}

#[cfg(test)]
mod tests {
    #![expect(unsafe_code, reason = "says of memory that others map it")]

    use super::*;
    use crate::job::in_process::Job;
    use chare_layout::Partition;
    use chare_lrts::claim::ClaimMode;
    use chare_lrts::{MemoryMut, Share};

    /// A buffer that other processes could map.
    fn shared(bytes: usize) -> BufferMut<u8> {
        let mut owner = vec![0_u8; bytes];
        let address = owner.as_mut_ptr();
        // SAFETY: the owner keeps the bytes, which nobody else reaches.
        let memory = unsafe {
            MemoryMut::from_raw_parts(address, bytes, Some(Share { row: 0, offset: 0 }), Box::new(owner))
        };
        BufferMut::from_memory(memory).unwrap_or_else(|_| unreachable!("bytes lie anywhere"))
    }

    #[test]
    fn no_get_and_no_put_reaches_what_lies_between_the_elements_of_a_part() {
        let code = Job::in_process(1, 1).run(|| async {
            let columns = Partition::<u8>::columns([1024, 128], 2).expect("two columns");
            let rows = Partition::<u8>::blocks([1024 * 128], [2]).expect("two halves");
            for (partition, is_refused) in [(columns, true), (rows, false)] {
                let buffer = shared(1024 * 128);
                let (_rest, parts) = buffer.split_by_raw(partition.raw()).expect("it is as long");
                for part in parts {
                    let open = Missing::Closed(part).open();
                    let key = open.key().expect("it is long, and lies in the pool");
                    Pe::current(|pe| {
                        let regions = pe.node.network.regions();
                        for mode in [ClaimMode::Read, ClaimMode::Write] {
                            assert_eq!(regions.claim(&key, 0, 1, mode).is_err(), is_refused, "{mode:?}");
                        }
                        assert!(pe.node.network.fill(&key).is_some(), "who has its layout fills it");
                    });
                    assert!(open.close().is_some());
                }
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
