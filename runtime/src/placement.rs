//! Which PE an element's home is: the one rule of a collection that every process evaluates alike.
//!
//! 1. A home depends on the index and on what was said when the collection was created, on nothing that changes: so anyone finds
//!    it without asking. Where an element *lives* is the home's knowledge: see [`crate::location`].
//! 2. Indices outside the collection's range, or of a collection without one, have homes too.

use crate::codec;
use crate::collection::CollectionInfo;
use crate::coordinates::lane;
use crate::ids::{CollectionId, Index, NodeId, PeId};
use crate::index::ArrayIndex;
use crate::layout::Layout;
use crate::message::Message;
use crate::registry;
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::sync::Arc;

/// Where the elements of an array have their homes; there they are created, unless they are inserted elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// Neighbours in the array's range together, as evenly as possible; indices outside of it as by `Hash`. The default.
    Block,
    /// The elements of the array's range in turn; indices outside of it by the sum of their coordinates.
    RoundRobin,
    /// Scattered, by a hash of the index.
    Hash,
    /// The elements of the array's range as the table says, one entry each, in the order of the indices; indices outside of it as
    /// by `Hash`. See [`ArrayOptions::place_by`](crate::ArrayOptions::place_by).
    Table(Arc<[PeId]>),
    /// By a rule of one's own; see [`Placement::by`].
    #[doc(hidden)]
    By(Rule),
    /// Where another array's elements of the same indices have theirs.
    #[doc(hidden)]
    With(Bond),
    /// Group: member `i` on PE `i`.
    #[doc(hidden)]
    PerPe,
    /// Nodegroup: member `i` on a PE of node `i`.
    #[doc(hidden)]
    PerNode,
}

impl Placement {
    /// A placement by a rule that every process evaluates.
    ///
    /// # Panics
    /// If the rule's type is not registered: write `chare::array_map!(Type);` beside it.
    pub fn by<M: ArrayMap>(map: M) -> Self {
        let Some(registration) = registry::registry().map_of(TypeId::of::<M>()) else {
            let name = std::any::type_name::<M>();
            panic!("`{name}` places elements but is not registered; write `chare::array_map!({name});`")
        };
        let mut encoded = Vec::new();
        codec::encode_into(&map, &mut encoded)
            .unwrap_or_else(|error| panic!("this placement cannot be sent: {error}"));
        Self::By(Rule { map: registration.id, encoded: encoded.into() })
    }
}

/// A user's rule: which, and its value's encoding.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    map: u64,
    encoded: Arc<[u8]>,
}

/// The array that an array is bound to.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bond(pub(crate) CollectionId);

/// A rule for the homes of elements, for [`Placement::by`]. Evaluated in every process, so it must depend on nothing but itself,
/// the index and the number of PEs.
///
/// An index whose encoding is longer than 15 bytes is not known where only messages to its element pass: its home is by hash,
/// whatever the rule.
///
/// ```
/// use chare::prelude::*;
/// use chare::{ArrayMap, ArrayOptions, Placement};
/// use serde::{Deserialize, Serialize};
///
/// /// A row of a matrix on one PE, some rows apart.
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Rows {
///     together: u32,
/// }
///
/// impl ArrayMap for Rows {
///     type Index = (u32, u32);
///
///     fn home(&self, &(row, _): &(u32, u32), pes: u32) -> PeId {
///         PeId(row / self.together % pes)
///     }
/// }
///
/// chare::array_map!(Rows);
///
/// struct Tile;
///
/// #[chare(array, index = (u32, u32))]
/// impl Tile {
///     #[entry]
///     fn new() -> Self {
///         let (row, _): (u32, u32) = chare::this_index();
///         assert_eq!(chare::my_pe(), PeId(row / 2 % 3));
///         Self
///     }
/// }
///
/// let code = chare::Job::in_process(1, 3).run(|| async {
///     let options = ArrayOptions::from((8, 8)).placement(Placement::by(Rows { together: 2 }));
///     TileProxy::create(options);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub trait ArrayMap: Message + Sync {
    /// The indices of the arrays that it is for.
    type Index: ArrayIndex;

    /// The home of an element, one of `pes` PEs.
    fn home(&self, index: &Self::Index, pes: u32) -> PeId;
}

/// A rule whose type is known to itself alone.
trait AnyMap: Send + Sync {
    /// `None` where the index is a digest.
    fn home(&self, index: Index, pes: u32) -> Option<PeId>;
}

impl<M: ArrayMap> AnyMap for M {
    fn home(&self, index: Index, pes: u32) -> Option<PeId> {
        let index = M::Index::unpack(index)?;
        let home = ArrayMap::home(self, &index, pes);
        let name = std::any::type_name::<M>();
        assert!(
            home.0 < pes,
            "`{name}` places element {index:?} on {home}, but the job has PEs 0 to {}",
            pes - 1
        );
        Some(home)
    }
}

type DecodeMap = fn(&[u8]) -> Result<Arc<dyn AnyMap>, codec::CodecError>;

/// What the runtime keeps of a type of rules.
pub struct MapRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: u64,
    pub(crate) type_id: TypeId,
    index: TypeId,
    decode: DecodeMap,
}

impl MapRegistration {
    /// The registration of a type under its full name.
    pub const fn of<M: ArrayMap>(name: &'static str) -> Self {
        Self {
            name,
            id: registry::type_id(name).0,
            type_id: TypeId::of::<M>(),
            index: TypeId::of::<M::Index>(),
            decode: |bytes| Ok(Arc::new(codec::decode::<M>(bytes)?)),
        }
    }
}

inventory::collect!(MapRegistration);

/// Makes a type of rules known to all processes, beside its `impl` of [`ArrayMap`](crate::ArrayMap).
#[macro_export]
macro_rules! array_map {
    ($map:ty) => {
        $crate::macro_support::inventory::submit! {
            $crate::macro_support::MapRegistration::of::<$map>(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!($map))
            )
        }
    };
}

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
