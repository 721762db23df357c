//! Dealing: how an argument of many is dealt out to them, which nodes need which parts, and where parts stand that were packed for some.
//!
//! What another node says of it is an allegation: places are checked against the memory before anything is read.

use crate::model::ids::NodeId;
use chare_layout::{LayoutError, Raw, RawPartition};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How one argument of a call of many is dealt out, as the PEs of a node know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dealing {
    pub(crate) partition: RawPartition,
    /// Where the parts stand that are on this node; `None`: all are, as the partition says.
    pub(crate) packed: Option<PackedParts>,
}

impl From<RawPartition> for Dealing {
    fn from(partition: RawPartition) -> Self {
        Self { partition, packed: None }
    }
}

impl Dealing {
    /// What the member at this place among the parts gets of the memory that is here; `None` if it has no part here.
    pub(crate) fn part_at(&self, place: &[u64]) -> Option<Raw> {
        let number = self.partition.number_of(place)?;
        match &self.packed {
            None => self.partition.part(number),
            Some(packed) => packed.find(number),
        }
    }
}

/// A part that was packed, with others, into one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PackedPart {
    number: u64,
    /// The node of the member that gets it.
    node: NodeId,
    start: u64,
    bytes: u64,
}

impl PackedPart {
    fn layout(&self) -> Result<Raw, LayoutError> {
        let start = i64::try_from(self.start).map_err(|_| LayoutError::TooFar { what: "the start" })?;
        Raw::bytes_of(self.bytes)?.shifted(start)
    }
}

/// The parts that were packed into one memory, by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackedParts(Arc<[PackedPart]>);

impl PackedParts {
    fn find(&self, number: u64) -> Option<Raw> {
        let found = self.0.binary_search_by_key(&number, |part| part.number).ok()?;
        self.0[found].layout().ok()
    }

    /// # Errors
    /// A part that stands outside memory of so many bytes, in words.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), String> {
        let is_outside =
            |part: &&PackedPart| part.start.checked_add(part.bytes).is_none_or(|end| end > bytes);
        self.0.iter().find(is_outside).map_or(Ok(()), |part| {
            Err(format!("part {} of a dealt argument lies outside its {bytes} bytes", part.number))
        })
    }
}

/// A dealt argument as one process holds it: the parts that are here, and the nodes that need them.
#[derive(Clone, Debug)]
pub(crate) enum DealtParts {
    /// All, where the partition says; with each part's number, in order, the node whose member gets it.
    All(RawPartition, Arc<[(u64, NodeId)]>),
    Packed(PackedParts),
}

impl DealtParts {
    /// What some nodes need: the layout by which it is packed, and where its parts stand then.
    ///
    /// # Errors
    /// More pieces than one layout may have.
    pub(crate) fn narrow(&self, needs: impl Fn(NodeId) -> bool) -> Result<(Raw, PackedParts), LayoutError> {
        let wanted: Vec<(u64, NodeId, Raw)> = match self {
            Self::All(partition, nodes) => {
                let wanted = nodes.iter().filter(|(_, node)| needs(*node));
                wanted.filter_map(|(number, node)| Some((*number, *node, partition.part(*number)?))).collect()
            }
            Self::Packed(PackedParts(parts)) => {
                let wanted = parts.iter().filter(|part| needs(part.node));
                wanted.map(|part| Ok((part.number, part.node, part.layout()?))).collect::<Result<_, _>>()?
            }
        };
        let pieces: Vec<_> = wanted.iter().map(|(_, _, part)| (1, 0, part)).collect();
        let layout = Raw::structure(&pieces)?;
        let mut start = 0;
        let packed = wanted.iter().map(|(number, node, part)| {
            let bytes = part.bytes();
            start += bytes;
            PackedPart { number: *number, node: *node, start: start - bytes, bytes }
        });
        Ok((layout, PackedParts(packed.collect())))
    }

    /// Where the parts stand, unless the partition says it.
    pub(crate) fn packed(&self) -> Option<&PackedParts> {
        match self {
            Self::All(..) => None,
            Self::Packed(packed) => Some(packed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_layout::Partition;

    /// Four columns of a matrix of 3 x 4 bytes, dealt out to nodes 0, 1, 1 and 2.
    fn columns() -> DealtParts {
        let partition = Partition::<u8>::columns([3, 4], 4).expect("a partition");
        let nodes = [(0, NodeId(0)), (1, NodeId(1)), (2, NodeId(1)), (3, NodeId(2))];
        DealtParts::All(partition.raw().clone(), nodes.into())
    }

    fn places(layout: &Raw) -> Vec<i64> {
        layout.runs_within(0, layout.bytes()).flat_map(|(at, len)| at..at + len as i64).collect()
    }

    #[test]
    fn nodes_are_packed_what_they_need_and_again_what_some_of_them_do() {
        let (layout, packed) = columns().narrow(|node| node.0 > 0).expect("it fits");
        assert_eq!(places(&layout), [1, 5, 9, 2, 6, 10, 3, 7, 11]);
        assert_eq!(packed.check(9), Ok(()));
        assert!(packed.check(8).unwrap_err().contains("part 3"));
        let find = |parts: &PackedParts, number| parts.find(number).map(|part| places(&part));
        assert_eq!((find(&packed, 0), find(&packed, 2)), (None, Some(vec![3, 4, 5])));
        let (layout, last) = DealtParts::Packed(packed).narrow(|node| node.0 == 2).expect("it fits");
        assert_eq!(places(&layout), [6, 7, 8]);
        assert_eq!((find(&last, 2), find(&last, 3)), (None, Some(vec![0, 1, 2])));
        let (nothing, _) = columns().narrow(|_| false).expect("it fits");
        assert_eq!(nothing.bytes(), 0);
    }

    #[test]
    fn places_that_another_node_invents_are_refused() {
        let invented =
            |start, bytes| PackedParts([PackedPart { number: 0, node: NodeId(0), start, bytes }].into());
        for (start, bytes) in [(0, 5), (4, 1), (u64::MAX, 2), (1 << 63, 1)] {
            assert!(invented(start, bytes).check(4).is_err(), "{start} and {bytes}");
        }
    }
}
