//! The homes of one collection's members: its [`Placement`], evaluated.

use crate::collection::CollectionInfo;
use crate::coordinates::lane;
use crate::ids::{Index, NodeId, PeId};
use crate::layout::Layout;
use crate::placement::{AnyMap, Placement, Rule};
use crate::registry;
use crate::shape::Shape;
use std::sync::Arc;

/// The homes of one collection's members.
pub(crate) struct Map {
    placement: Placement,
    rule: Option<Arc<dyn AnyMap>>,
    shape: Option<Arc<Shape>>,
    dimensions: usize,
    /// Different nodegroups are on different PEs of a node.
    rank: u32,
    layout: Layout,
}

impl Map {
    /// # Errors
    /// A placement that does not fit the collection or the job, in words.
    pub(crate) fn new(info: &CollectionInfo) -> Result<Self, String> {
        let (shape, layout, chare) = (info.shape().cloned(), info.layout, info.chare);
        let len = shape.as_ref().map_or(0, |shape| shape.len());
        let mut rule = None;
        match info.placement() {
            Placement::Table(table) => {
                if table.len() as u64 != len {
                    return Err(format!(
                        "a placement table for {} elements on an array of {len}",
                        table.len()
                    ));
                }
                if let Some(pe) = table.iter().find(|pe| pe.0 >= layout.pes()) {
                    return Err(format!(
                        "a placement on {pe}, but the job has PEs 0 to {}",
                        layout.pes() - 1
                    ));
                }
            }
            Placement::By(Rule { map, encoded }) => {
                let found = registry::registry().map(*map).filter(|found| found.index == chare.index.type_id);
                let Some(found) = found else {
                    return Err("a placement for indices of another type".to_owned());
                };
                rule = Some((found.decode)(encoded).map_err(|error| error.to_string())?);
            }
            Placement::PerPe if len != u64::from(layout.pes()) => {
                return Err(format!("{len} members of a group that has {}", layout.pes()));
            }
            Placement::PerNode if len != u64::from(layout.nodes()) => {
                return Err(format!("{len} members of a nodegroup that has {}", layout.nodes()));
            }
            _ => {}
        }
        let rank = info.id.serial % layout.pes_per_node();
        let placement = info.placement().clone();
        Ok(Self { placement, rule, shape, dimensions: chare.index.dimensions, rank, layout })
    }

    /// The PE that knows where a member lives, or that there is none.
    pub(crate) fn home(&self, index: Index) -> PeId {
        let pes = self.layout.pes();
        if let Some(rule) = &self.rule {
            return rule.home(index, pes).unwrap_or_else(|| hashed(index, pes));
        }
        let position = self.shape.as_ref().and_then(|shape| shape.position(index));
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
            (Placement::PerNode, Some(position)) => self.layout.pe(NodeId(position as u32), self.rank),
            _ => hashed(index, pes),
        }
    }

    fn len(&self) -> u64 {
        self.shape.as_ref().map_or(0, |shape| shape.len())
    }

    /// Whether a range is the one that this rule is for; a bound array may have another.
    fn is_for(&self, shape: &Shape) -> bool {
        self.shape.as_deref() == Some(shape)
    }

    /// The members of a range whose home is a PE, in the order of their indices.
    pub(crate) fn members_on(&self, shape: &Shape, pe: PeId) -> Vec<Index> {
        let at = |position| shape.index(position);
        match self.placement {
            Placement::Block if self.is_for(shape) => {
                (self.block_start(pe.0)..self.block_start(pe.0 + 1)).map(at).collect()
            }
            Placement::RoundRobin if self.is_for(shape) => {
                (u64::from(pe.0)..self.len()).step_by(self.layout.pes() as usize).map(at).collect()
            }
            _ => (0..shape.len()).map(at).filter(|index| self.home(*index) == pe).collect(),
        }
    }

    /// Counts the members of a range by their homes.
    pub(crate) fn count_homes(&self, shape: &Shape, population: &mut [u64]) {
        let (pes, len) = (u64::from(self.layout.pes()), self.len());
        match self.placement {
            Placement::Block if self.is_for(shape) => {
                for (pe, count) in (0..).zip(population) {
                    *count = self.block_start(pe + 1) - self.block_start(pe);
                }
            }
            Placement::RoundRobin if self.is_for(shape) => {
                for (pe, count) in (0..).zip(population) {
                    *count = len / pes + u64::from(pe < len % pes);
                }
            }
            _ => {
                let homes = (0..shape.len()).map(|position| self.home(shape.index(position)));
                homes.for_each(|home| population[home.0 as usize] += 1);
            }
        }
    }

    fn block_start(&self, pe: u32) -> u64 {
        (u128::from(pe) * u128::from(self.len())).div_ceil(u128::from(self.layout.pes())) as u64
    }
}

impl std::fmt::Debug for Map {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?} of {:?}", self.placement, self.shape)
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
