//! Placement maps: the homes of one collection's members, evaluated from its [`Placement`].

use super::blueprint::Blueprint;
use super::placement::{AnyMap, Placement, Rule, maps};
use crate::model::coordinates::lane;
use crate::model::ids::{Index, NodeId, PeId};
use crate::model::index_range::IndexRange;
use crate::model::registry::IndexRegistration;
use crate::model::topology::Topology;
use std::sync::Arc;

/// The homes of one collection's members.
pub(crate) struct PlacementMap {
    placement: Placement,
    rule: Option<Arc<dyn AnyMap>>,
    range: Option<Arc<IndexRange>>,
    dimensions: usize,
    /// The position within each node of the PE that has a nodegroup's member; different nodegroups are on different PEs of a node.
    rank: u32,
    topology: Topology,
}

impl PlacementMap {
    /// # Errors
    /// A placement that does not fit the collection or the job, in words.
    pub(crate) fn new(
        blueprint: &Blueprint,
        index: &IndexRegistration,
        topology: Topology,
    ) -> Result<Self, String> {
        let range = blueprint.elements.range().cloned();
        let len = range.as_ref().map_or(0, |range| range.len());
        let mut rule = None;
        match &blueprint.placement {
            Placement::Table(table) => {
                if table.len() as u64 != len {
                    return Err(format!(
                        "a placement table for {} elements on an array of {len}",
                        table.len()
                    ));
                }
                if let Some(pe) = table.iter().find(|pe| pe.0 >= topology.pes()) {
                    return Err(format!(
                        "a placement on {pe}, but the job has PEs 0 to {}",
                        topology.pes() - 1
                    ));
                }
            }
            Placement::By(Rule { map, encoded }) => {
                let found = maps().find(map).filter(|found| found.index == index.type_id);
                let Some(found) = found else {
                    return Err("a placement for indices of another type".to_owned());
                };
                rule = Some((found.decode)(encoded).map_err(|error| error.to_string())?);
            }
            Placement::PerPe if len != u64::from(topology.pes()) => {
                return Err(format!("{len} members of a group that has {}", topology.pes()));
            }
            Placement::PerNode if len != u64::from(topology.nodes()) => {
                return Err(format!("{len} members of a nodegroup that has {}", topology.nodes()));
            }
            _ => {}
        }
        let rank = blueprint.id.serial % topology.pes_per_node();
        let placement = blueprint.placement.clone();
        Ok(Self { placement, rule, range, dimensions: index.dimensions, rank, topology })
    }

    /// The PE that knows where a member lives, or that there is no such member.
    pub(crate) fn home(&self, index: Index) -> PeId {
        let pes = self.topology.pes();
        if let Some(rule) = &self.rule {
            return rule.home(index, pes).unwrap_or_else(|| hashed(index, pes));
        }
        let position = self.range.as_ref().and_then(|range| range.position(index));
        match (&self.placement, position) {
            (Placement::Block, Some(position)) => {
                // 128 bits: a position times the number of PEs.
                PeId((u128::from(position) * u128::from(pes) / u128::from(self.len())) as u32)
            }
            (Placement::RoundRobin, Some(position)) => PeId((position % u64::from(pes)) as u32),
            (Placement::RoundRobin, None) if self.dimensions > 0 => {
                let lanes = (0..self.dimensions).map(|dimension| lane(index, dimension, self.dimensions));
                PeId((lanes.fold(0, u64::wrapping_add) % u64::from(pes)) as u32)
            }
            (Placement::Table(table), Some(position)) => table[position as usize],
            (Placement::PerPe, Some(position)) => PeId(position as u32),
            (Placement::PerNode, Some(position)) => self.topology.pe(NodeId(position as u32), self.rank),
            _ => hashed(index, pes),
        }
    }

    fn len(&self) -> u64 {
        self.range.as_ref().map_or(0, |range| range.len())
    }

    /// Whether a range is the one that this map was made for; an array that is bound to its collection may have another.
    fn is_for(&self, range: &IndexRange) -> bool {
        self.range.as_deref() == Some(range)
    }

    /// The members of a range whose home is a PE, in the order of their indices.
    pub(crate) fn members_on(&self, range: &IndexRange, pe: PeId) -> Vec<Index> {
        let at = |position| range.index(position);
        match self.placement {
            Placement::Block if self.is_for(range) => {
                (self.block_start(pe.0)..self.block_start(pe.0 + 1)).map(at).collect()
            }
            Placement::RoundRobin if self.is_for(range) => {
                (u64::from(pe.0)..self.len()).step_by(self.topology.pes() as usize).map(at).collect()
            }
            Placement::PerPe if self.is_for(range) => vec![at(u64::from(pe.0))],
            Placement::PerNode if self.is_for(range) => {
                let node = self.topology.node_of(pe);
                let position = (self.topology.pe(node, self.rank) == pe).then(|| u64::from(node.0));
                position.map(at).into_iter().collect()
            }
            _ => (0..range.len()).map(at).filter(|index| self.home(*index) == pe).collect(),
        }
    }

    /// The members of a range on the node that has most of them, if it is plain without counting that every PE has some.
    pub(crate) fn fullest_if_all_have_some(&self, range: &IndexRange) -> Option<u64> {
        let (nodes, per_node) = (u64::from(self.topology.nodes()), u64::from(self.topology.pes_per_node()));
        let (pes, len) = (nodes * per_node, self.len());
        let most = match self.placement {
            Placement::Block => len.div_ceil(nodes),
            Placement::RoundRobin => len / pes * per_node + (len % pes).min(per_node),
            Placement::PerPe => per_node,
            _ => return None,
        };
        (self.is_for(range) && len >= pes).then_some(most)
    }

    /// Counts the members of a range by their homes.
    pub(crate) fn count_homes(&self, range: &IndexRange, population: &mut [u64]) {
        let (pes, len) = (u64::from(self.topology.pes()), self.len());
        match self.placement {
            Placement::Block if self.is_for(range) => {
                for (pe, count) in (0..).zip(population) {
                    *count = self.block_start(pe + 1) - self.block_start(pe);
                }
            }
            Placement::RoundRobin if self.is_for(range) => {
                for (pe, count) in (0..).zip(population) {
                    *count = len / pes + u64::from(pe < len % pes);
                }
            }
            _ => {
                let homes = (0..range.len()).map(|position| self.home(range.index(position)));
                homes.for_each(|home| population[home.0 as usize] += 1);
            }
        }
    }

    fn block_start(&self, pe: u32) -> u64 {
        (u128::from(pe) * u128::from(self.len())).div_ceil(u128::from(self.topology.pes())) as u64
    }
}

impl std::fmt::Debug for PlacementMap {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?} of {:?}", self.placement, self.range)
    }
}

/// A home by hash: the same in every process and build, unlike the hashes of tables.
fn hashed(index: Index, pes: u32) -> PeId {
    // The finalizer of SplitMix64 (Steele, Lea, Flood 2014), which lets each bit reach all others.
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    PeId((mix(index.low() ^ mix(index.high())) % u64::from(pes)) as u32)
}
