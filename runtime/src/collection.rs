//! Arrays, groups and nodegroups: how many members, and which PE each lives on.
//!
//! Every process of the job gets the same description when the collection is created, so any of them finds any member without asking.

use crate::host_memory::host_memory_bytes;
use crate::ids::{CollectionId, Index, NodeId, PeId};
use crate::layout::Layout;
use crate::registry::ChareRegistration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the elements of an array live.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// Neighbouring indices together, as evenly as possible. The default.
    Block,
    /// Element `i` on PE `i` modulo the number of PEs.
    RoundRobin,
    /// Element `i` on the `i`-th PE of the table; see [`Placement::by`].
    Table(Arc<[PeId]>),
    /// Group: member `i` on PE `i`.
    #[doc(hidden)]
    PerPe,
    /// Nodegroup: member `i` on a PE of node `i`.
    #[doc(hidden)]
    PerNode,
}

impl Placement {
    /// A placement by any rule: `rule` is asked once per element, here; its answers travel with the array.
    ///
    /// ```
    /// use chare::{PeId, Placement};
    /// let even_on_zero = Placement::by(10, |index| PeId(if index % 2 == 0 { 0 } else { 1 }));
    /// # let _ = even_on_zero;
    /// ```
    pub fn by(len: u64, rule: impl FnMut(u64) -> PeId) -> Self {
        Self::Table((0..len).map(rule).collect())
    }
}

/// How an array is created: its length and placement. A bare length means block placement.
#[derive(Clone, Debug)]
pub struct ArrayOptions {
    pub(crate) len: u64,
    pub(crate) placement: Placement,
}

impl ArrayOptions {
    /// `len` elements, indices from 0.
    pub fn new(len: u64) -> Self {
        Self { len, placement: Placement::Block }
    }

    /// Places elements otherwise than in blocks.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }
}

impl From<u64> for ArrayOptions {
    fn from(len: u64) -> Self {
        Self::new(len)
    }
}

/// What every process knows of a collection.
#[derive(Debug)]
pub(crate) struct CollectionInfo {
    pub(crate) id: CollectionId,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) len: u64,
    placement: Placement,
    layout: Layout,
    /// Members per PE.
    population: Vec<u64>,
}

impl CollectionInfo {
    /// # Errors
    /// A placement that does not fit the length or the job, or more members than a host's memory holds, in words.
    pub(crate) fn new(
        id: CollectionId,
        chare: &'static ChareRegistration,
        len: u64,
        placement: Placement,
        layout: Layout,
    ) -> Result<Self, String> {
        if let Placement::Table(table) = &placement {
            if table.len() as u64 != len {
                return Err(format!("a placement table for {} elements on an array of {len}", table.len()));
            }
            if let Some(pe) = table.iter().find(|pe| pe.0 >= layout.pes()) {
                return Err(format!("a placement on {pe}, but the job has PEs 0 to {}", layout.pes() - 1));
            }
        }
        let fixed = match placement {
            Placement::PerPe => Some(layout.pes()),
            Placement::PerNode => Some(layout.nodes()),
            _ => None,
        };
        if let Some(members) = fixed.filter(|members| u64::from(*members) != len) {
            return Err(format!("{len} members of a group that has {members}"));
        }
        let mut info = Self { id, chare, len, placement, layout, population: Vec::new() };
        info.population = info.count_members();
        info.check_room(host_memory_bytes())?;
        Ok(info)
    }

    /// Compares the members of the fullest node with a host's memory: another node may ask for any number of them.
    fn check_room(&self, memory_bytes: u64) -> Result<(), String> {
        let on = |node| self.layout.pes_of(node).map(|pe| self.population(pe)).sum::<u64>();
        let most = (0..self.layout.nodes()).map(NodeId).map(on).max().unwrap_or(0);
        let needed = u128::from(most) * u128::from(self.chare.bytes);
        if needed <= u128::from(memory_bytes) {
            return Ok(());
        }
        Err(format!(
            "{} members take at least {needed} bytes on one node, whose host has {memory_bytes}; create fewer, or use more hosts",
            self.len
        ))
    }

    /// The PE of a member; `None` if there is no such member.
    pub(crate) fn locate(&self, index: Index) -> Option<PeId> {
        let Index(index) = index;
        if index >= self.len {
            return None;
        }
        let pes = u64::from(self.layout.pes());
        let pe = match &self.placement {
            // 128 bits: an index times the number of PEs.
            Placement::Block => (u128::from(index) * u128::from(pes) / u128::from(self.len)) as u64,
            Placement::RoundRobin => index % pes,
            Placement::Table(table) => return table.get(index as usize).copied(),
            Placement::PerPe => index,
            Placement::PerNode => {
                // Different nodegroups on different PEs of a node.
                let rank = self.id.serial % self.layout.pes_per_node();
                return Some(self.layout.pe(NodeId(index as u32), rank));
            }
        };
        Some(PeId(pe as u32))
    }

    /// The members of one PE, in index order.
    pub(crate) fn members_on(&self, pe: PeId) -> Vec<Index> {
        let (pes, at) = (u64::from(self.layout.pes()), u64::from(pe.0));
        let indices: Box<dyn Iterator<Item = u64>> = match self.placement {
            Placement::Block => Box::new(self.block_start(at)..self.block_start(at + 1)),
            Placement::RoundRobin => Box::new((at..self.len).step_by(pes as usize)),
            _ => Box::new((0..self.len).filter(|index| self.locate(Index(*index)) == Some(pe))),
        };
        indices.map(Index).collect()
    }

    fn block_start(&self, pe: u64) -> u64 {
        (u128::from(pe) * u128::from(self.len)).div_ceil(u128::from(self.layout.pes())) as u64
    }

    fn count_members(&self) -> Vec<u64> {
        let pes = u64::from(self.layout.pes());
        match self.placement {
            Placement::Block => (0..pes).map(|pe| self.block_start(pe + 1) - self.block_start(pe)).collect(),
            Placement::RoundRobin => {
                (0..pes).map(|pe| self.len / pes + u64::from(pe < self.len % pes)).collect()
            }
            _ => {
                let mut population = vec![0; pes as usize];
                for index in 0..self.len {
                    if let Some(pe) = self.locate(Index(index)) {
                        population[pe.0 as usize] += 1;
                    }
                }
                population
            }
        }
    }

    /// How many members live on a PE.
    pub(crate) fn population(&self, pe: PeId) -> u64 {
        self.population[pe.0 as usize]
    }

    /// How many members live on a node and on the nodes below it in the tree rooted at the creator's node.
    pub(crate) fn population_below(&self, node: NodeId) -> u64 {
        let own: u64 = self.layout.pes_of(node).map(|pe| self.population(pe)).sum();
        let below: u64 =
            self.layout.children(node, self.root()).map(|child| self.population_below(child)).sum();
        own + below
    }

    /// The node at the root of the collection's reduction tree.
    pub(crate) fn root(&self) -> NodeId {
        self.layout.node_of(self.id.creator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Chare, Constructor, EntryRegistration, kind};

    struct Dummy;
    impl Constructor for Dummy {
        type Chare = Self;
        type Arguments = ();
        const SIGNATURE: &'static str = "";
        fn construct((): ()) -> Self {
            Self
        }
    }
    impl Chare for Dummy {
        const NAME: &'static str = "Dummy";
        const ENTRIES: &'static [EntryRegistration] = &[];
        type Kind = kind::Array;
        type Proxy = ();
        type Element = ();
        type Constructor = Self;
    }
    static DUMMY: ChareRegistration = ChareRegistration::of::<Dummy>();

    fn info(len: u64, placement: Placement, layout: Layout) -> CollectionInfo {
        let id = CollectionId { creator: PeId(0), serial: 3 };
        CollectionInfo::new(id, &DUMMY, len, placement, layout).unwrap()
    }

    #[test]
    fn every_member_lives_on_exactly_one_pe_and_every_pe_knows_how_many_it_has() {
        let layout = Layout::new(3, 2);
        let by_rule = |len| Placement::by(len, |index| PeId((index * index % 6) as u32));
        for len in [0, 1, 5, 6, 7, 100] {
            for placement in [Placement::Block, Placement::RoundRobin, by_rule(len)] {
                let info = info(len, placement.clone(), layout);
                let mut seen = Vec::new();
                for pe in 0..6 {
                    let members = info.members_on(PeId(pe));
                    assert_eq!(members.len() as u64, info.population(PeId(pe)), "{placement:?} {len}");
                    assert!(members.iter().all(|index| info.locate(*index) == Some(PeId(pe))));
                    seen.extend(members);
                }
                seen.sort();
                assert_eq!(seen, (0..len).map(Index).collect::<Vec<_>>(), "{placement:?} {len}");
                assert_eq!(info.locate(Index(len)), None);
                assert_eq!(info.population_below(info.root()), len);
            }
        }
    }

    #[test]
    fn nodegroups_have_one_member_per_node() {
        let info = info(3, Placement::PerNode, Layout::new(3, 2));
        assert_eq!(info.locate(Index(2)), Some(PeId(5)));
        assert_eq!(info.members_on(PeId(5)), [Index(2)]);
        assert!(info.members_on(PeId(4)).is_empty());
    }

    #[test]
    fn members_fit_the_memory_of_a_host_or_are_refused() {
        // Three on the fullest node.
        let info = info(5, Placement::Block, Layout::new(2, 2));
        let needed = 3 * DUMMY.bytes;
        assert_eq!(info.check_room(needed), Ok(()));
        assert!(info.check_room(needed - 1).unwrap_err().contains("5 members"));
        let id = CollectionId { creator: PeId(0), serial: 0 };
        for placement in [Placement::Block, Placement::RoundRobin] {
            let refused = CollectionInfo::new(id, &DUMMY, u64::MAX, placement, Layout::new(2, 2));
            assert!(refused.is_err_and(|cause| cause.contains("create fewer")));
        }
    }

    #[test]
    fn a_table_that_does_not_fit_is_refused() {
        let id = CollectionId { creator: PeId(0), serial: 0 };
        let new = |len, placement| CollectionInfo::new(id, &DUMMY, len, placement, Layout::new(1, 2));
        assert!(new(3, Placement::by(2, |_| PeId(0))).unwrap_err().contains("2 elements"));
        assert!(new(2, Placement::by(2, |_| PeId(2))).unwrap_err().contains("PE 2"));
    }
}
