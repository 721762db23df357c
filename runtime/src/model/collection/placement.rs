//! Placements: the rule by which every process finds the same home PE for an element.
//!
//! 1. A home depends on the index and on the collection's blueprint, and on nothing that changes; so every PE finds a home without
//!    asking. The home alone knows where its element *lives*: see [`crate::pe::places`].
//! 2. Indices outside the collection's range, or of a collection without one, have homes too.

use crate::model::arguments::Message;
use crate::model::ids::{CollectionId, Index, PeId};
use crate::model::index::ArrayIndex;
use crate::model::registry::linked::Linked;
use crate::model::registry::name::hash_of;
use chare_lrts::codec;
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::sync::{Arc, OnceLock};

/// The homes of an array's elements. Elements are created at their homes, unless they are inserted elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// By a rule of the program's own; see [`Placement::by`].
    #[doc(hidden)]
    By(Rule),
    /// At the homes of another array's elements with the same indices.
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
        let Some(registration) = maps().iter().find(|map| map.type_id == TypeId::of::<M>()) else {
            let name = std::any::type_name::<M>();
            panic!("`{name}` places elements but is not registered; write `chare::array_map!({name});`")
        };
        let mut encoded = Vec::new();
        codec::encode_into(&map, &mut encoded)
            .unwrap_or_else(|error| panic!("this placement cannot be sent: {error}"));
        Self::By(Rule { map: registration.id, encoded: encoded.into() })
    }
}

/// A user's rule: the id of its type, and the encoding of its value.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub(crate) map: u64,
    pub(crate) encoded: Arc<[u8]>,
}

/// The array that an array is bound to.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bond(pub(crate) CollectionId);

/// A rule for the homes of elements, for [`Placement::by`]. Evaluated in every process, so it must depend on nothing but itself,
/// the index and the number of PEs.
///
/// An index whose encoding is longer than 15 bytes is not known on PEs that only pass on messages to its element; so its home is by
/// hash, whatever the rule.
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
    /// The index type of the arrays that the rule is for.
    type Index: ArrayIndex;

    /// The home of an element, one of `pes` PEs.
    fn home(&self, index: &Self::Index, pes: u32) -> PeId;
}

/// A rule whose type is erased.
pub(crate) trait AnyMap: Send + Sync {
    /// The home of an element; `None` where the index is a digest.
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

/// The registration of a rule's type.
pub struct MapRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: u64,
    pub(crate) type_id: TypeId,
    pub(crate) index: TypeId,
    pub(crate) decode: DecodeMap,
}

impl MapRegistration {
    /// The registration of a rule's type under its full name.
    pub const fn of<M: ArrayMap>(name: &'static str) -> Self {
        Self {
            name,
            id: hash_of(name),
            type_id: TypeId::of::<M>(),
            index: TypeId::of::<M::Index>(),
            decode: |bytes| Ok(Arc::new(codec::decode::<M>(bytes)?)),
        }
    }
}

inventory::collect!(MapRegistration);

/// The rules for homes that are linked into this program.
pub(crate) fn maps() -> &'static Linked<u64, MapRegistration> {
    static MAPS: OnceLock<Linked<u64, MapRegistration>> = OnceLock::new();
    MAPS.get_or_init(|| Linked::collect(inventory::iter::<MapRegistration>(), |map| map.name, |map| map.id))
}

/// Makes a rule's type known to all processes; written beside its `impl` of [`ArrayMap`].
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
