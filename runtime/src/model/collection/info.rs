//! Collections as every process knows them: the blueprint of an array, a group or a nodegroup, and the homes of its members.
//!
//! Every process gets the same blueprint when the collection is created, so each finds the home of any member without asking.

use super::placement_map::PlacementMap;
use crate::model::callback::ErasedCallback;
use crate::model::collection::{Blueprint, Bond, Elements, Placement};
use crate::model::ids::{CollectionId, Index, NodeId, PeId};
use crate::model::registry::ChareRegistration;
use crate::model::topology::Topology;
use std::sync::{Arc, OnceLock};

/// A collection as every process knows it.
#[derive(Debug)]
pub(crate) struct CollectionInfo {
    pub(crate) id: CollectionId,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) topology: Topology,
    blueprint: Blueprint,
    /// What members of one node may take.
    room_bytes: u64,
    /// Set at once, or, for an array that is bound to another, when that other array is known.
    placed: OnceLock<Placed>,
}

/// The homes of the members, and the counts that follow from them.
#[derive(Debug)]
struct Placed {
    map: Arc<PlacementMap>,
    /// The array, bound to no other, to which the others of the bond are bound, directly or not.
    bond: CollectionId,
    /// For each PE: whether it takes part in reductions.
    takes_part: Vec<bool>,
    /// For each node: how many PEs take part on the node and on the nodes below it in the tree.
    parts_below: Vec<u64>,
}

impl CollectionInfo {
    /// A collection whose members take at most `room_bytes` on one node: a host's memory.
    ///
    /// # Errors
    /// Elements or a placement that do not fit the chare or the job, or members that take more, in words.
    pub(crate) fn new(
        blueprint: Blueprint,
        chare: &'static ChareRegistration,
        topology: Topology,
        room_bytes: u64,
    ) -> Result<Self, String> {
        if let Elements::Range(range) = &blueprint.elements {
            range.check(chare.index.dimensions)?;
        }
        topology.seat_of(blueprint.id.creator).map_err(|cause| format!("of its creator, {cause}"))?;
        let info = Self { id: blueprint.id, chare, topology, blueprint, room_bytes, placed: OnceLock::new() };
        // The fullest node has at least as many members as the average one; a total that passes here is small enough to be counted.
        info.check_room(info.blueprint.elements.len() / u64::from(info.topology.nodes()))?;
        if info.bound_to().is_none() {
            let map = PlacementMap::new(&info.blueprint, &chare.index, info.topology.clone())?;
            info.place(Arc::new(map), info.id)?;
        }
        Ok(info)
    }

    /// Compares members of one node with the room for them, because another node may ask for any number of members.
    fn check_room(&self, members: u64) -> Result<(), String> {
        let needed = u128::from(members) * u128::from(self.chare.bytes);
        if needed <= u128::from(self.room_bytes) {
            return Ok(());
        }
        Err(format!(
            "{} members take at least {needed} bytes on one node, whose host has {}; create fewer, or use more hosts",
            self.blueprint.elements.len(),
            self.room_bytes
        ))
    }

    /// The array that this one is bound to.
    pub(crate) fn bound_to(&self) -> Option<CollectionId> {
        match self.blueprint.placement {
            Placement::With(Bond(other)) => Some(other),
            _ => None,
        }
    }

    /// Takes over the homes of the array that this one is bound to.
    ///
    /// # Errors
    /// When the two have indices of different types, or the elements of one alone may move, in words.
    pub(crate) fn bind(&self, other: &Self) -> Result<(), String> {
        if self.may_move() != other.may_move() {
            let [mover, other] = if self.may_move() { [self, other] } else { [other, self] };
            return Err(format!(
                "the elements of {} move, and those of {}, an array that is bound to it, do not: mark both `migrate`, or neither",
                mover.chare.name, other.chare.name
            ));
        }
        let (mine, theirs) = (&self.chare.index, &other.chare.index);
        if mine.type_id != theirs.type_id {
            let (mine, theirs) = ((mine.type_name)(), (theirs.type_name)());
            return Err(format!("an array with indices {mine} is bound to one with indices {theirs}"));
        }
        self.place(Arc::clone(&other.placed().map), other.bond())
    }

    /// What names the bond of arrays that are bound to each other: their first array; a collection that is bound to none names itself.
    pub(crate) fn bond(&self) -> CollectionId {
        self.placed().bond
    }

    /// Whether the collection begins without members and none can come.
    pub(crate) fn is_nobody_ever(&self) -> bool {
        self.blueprint.elements.len() == 0 && !self.may_be_anywhere()
    }

    /// Gives a collection in which nobody ever is its homes, because the array that it is bound to has ended.
    pub(crate) fn place_nobody(&self) {
        let map = PlacementMap::new(&self.blueprint, &self.chare.index, self.topology.clone());
        let placed = map.and_then(|map| self.place(Arc::new(map), self.id));
        debug_assert!(placed.is_ok(), "nobody takes no room");
    }

    fn place(&self, map: Arc<PlacementMap>, bond: CollectionId) -> Result<(), String> {
        let pes = self.topology.pes();
        let mut population = vec![0; pes as usize];
        match &self.blueprint.elements {
            Elements::Range(range) => map.count_homes(range, &mut population),
            Elements::List(list) => {
                list.iter().for_each(|(index, _)| population[map.home(*index).0 as usize] += 1);
            }
        }
        let on = |node| self.topology.pes_of(node).map(|pe| population[pe.0 as usize]).sum::<u64>();
        let most = (0..self.topology.nodes()).map(NodeId).map(on).max().unwrap_or(0);
        self.check_room(most)?;
        let takes_part: Vec<bool> =
            population.iter().map(|members| self.may_be_anywhere() || *members > 0).collect();
        let mut parts_below = vec![0; self.topology.nodes() as usize];
        for pe in (0..pes).map(PeId).filter(|pe| takes_part[pe.0 as usize]) {
            let mut node = Some(self.topology.node_of(pe));
            while let Some(above) = node {
                parts_below[above.index()] += 1;
                node = self.topology.parent(above, self.root());
            }
        }
        self.placed.get_or_init(|| Placed { map, bond, takes_part, parts_below });
        Ok(())
    }

    fn placed(&self) -> &Placed {
        self.placed.get().expect("a collection is placed before any PE knows it")
    }

    /// Whether a member may come to any PE after the creation: elements may be inserted, or created on demand.
    pub(crate) fn may_be_anywhere(&self) -> bool {
        self.is_open() || self.is_on_demand()
    }

    /// Whether a call may create the element that it is for.
    pub(crate) fn is_on_demand(&self) -> bool {
        self.chare.entries.iter().any(|entry| entry.demand.is_some())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.blueprint.is_open
    }

    /// Whether members may come and go one by one. Those of a group or nodegroup go together.
    pub(crate) fn is_array(&self) -> bool {
        !matches!(self.blueprint.placement, Placement::PerPe | Placement::PerNode)
    }

    /// Whether the members may move.
    pub(crate) fn may_move(&self) -> bool {
        self.chare.movement.is_some() && self.is_array()
    }

    /// Whether the members take part in syncs.
    pub(crate) fn syncs(&self) -> bool {
        self.may_move() && self.chare.movement.is_some_and(|movement| movement.syncs)
    }

    pub(crate) fn created(&self) -> Option<ErasedCallback> {
        self.blueprint.created
    }

    pub(crate) fn after(&self) -> Option<CollectionId> {
        self.blueprint.after
    }

    /// The PE that knows where a member lives, or that there is no such member.
    pub(crate) fn home(&self, index: Index) -> PeId {
        self.placed().map.home(index)
    }

    /// The members that one PE begins with, in the order of their indices if they are a range.
    pub(crate) fn members_on(&self, pe: PeId) -> Vec<Index> {
        match &self.blueprint.elements {
            Elements::Range(range) => self.placed().map.members_on(range, pe),
            Elements::List(list) => {
                list.iter().map(|(index, _)| *index).filter(|index| self.home(*index) == pe).collect()
            }
        }
    }

    /// Whether the collection begins with this member.
    pub(crate) fn began_with(&self, index: Index) -> bool {
        match &self.blueprint.elements {
            Elements::Range(range) => range.position(index).is_some(),
            Elements::List(list) => list.iter().any(|(listed, _)| *listed == index),
        }
    }

    /// The members that the collection begins with whose indices are digests, and the encodings of those indices.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Index, &[u8])> {
        let list = match &self.blueprint.elements {
            Elements::Range(_) => &[][..],
            Elements::List(list) => list,
        };
        list.iter().filter_map(|(index, name)| Some((*index, &**name.as_ref()?)))
    }

    /// The reason, in words, that there is no such member in a collection without insertions.
    pub(crate) fn explain_absence(&self, index: Index) -> String {
        let (name, shown) = (self.chare.name, self.chare.index.show(index));
        match &self.blueprint.elements {
            Elements::Range(range) if range.position(index).is_some() => {
                format!("member {shown} of {name} was destroyed before; call it no more after that")
            }
            Elements::Range(range) if !self.is_open() => {
                format!("{name} has {} members, there is no member {shown}", range.len())
            }
            _ => format!("{name} has no member {shown}, and none will be inserted any more"),
        }
    }

    /// Whether a PE takes part in reductions.
    pub(crate) fn takes_part(&self, pe: PeId) -> bool {
        self.placed().takes_part[pe.0 as usize]
    }

    /// How many PEs take part in reductions on a node and on the nodes below it in the tree.
    pub(crate) fn parts_below(&self, node: NodeId) -> u64 {
        self.placed().parts_below[node.index()]
    }

    /// The node at the root of the collection's reduction tree.
    pub(crate) fn root(&self) -> NodeId {
        self.topology.node_of(self.id.creator)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::index_range::IndexRange;
    use crate::model::registry::{Chare, Constructor, EntryRegistration, kind};

    /// A chare without entries.
    pub(crate) struct Dummy;
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
        type Index = u64;
        type Proxy = ();
        type Element = ();
        type Awaited = ();
        type Constructor = Self;
    }
    static DUMMY: ChareRegistration = ChareRegistration::of::<Dummy>();

    /// More than the members of any test take.
    const ROOM_BYTES: u64 = 1 << 30;

    fn blueprint(elements: Elements, placement: Placement) -> Blueprint {
        let id = CollectionId { creator: PeId(0), serial: 3 };
        Blueprint { id, chare: DUMMY.id, elements, placement, is_open: false, created: None, after: None }
    }

    /// An array of so many of them.
    pub(crate) fn dummies(len: u64, topology: Topology) -> CollectionInfo {
        info(len, Placement::Block, topology).expect("they fit the job")
    }

    fn info(len: u64, placement: Placement, topology: Topology) -> Result<CollectionInfo, String> {
        let elements = Elements::Range(Arc::new(IndexRange::counted(len)));
        CollectionInfo::new(blueprint(elements, placement), &DUMMY, topology, ROOM_BYTES)
    }

    /// Compares the members that six PEs know of a collection with the expected ones.
    fn check_homes(info: &CollectionInfo, expected: &[Index]) {
        let mut seen = Vec::new();
        for pe in (0..6).map(PeId) {
            let members = info.members_on(pe);
            assert_eq!(!members.is_empty(), info.takes_part(pe), "{info:?}");
            assert!(members.iter().all(|index| info.home(*index) == pe));
            seen.extend(members);
        }
        seen.sort();
        assert_eq!(seen, expected, "{info:?}");
        let parts = (0..6).filter(|pe| info.takes_part(PeId(*pe))).count();
        assert_eq!(info.parts_below(info.root()), parts as u64);
    }

    #[test]
    fn every_member_has_exactly_one_home_and_every_pe_knows_its_members() {
        let topology = Topology::on_one_host(3, 2);
        for len in [0, 1, 5, 6, 7, 100] {
            let table = Placement::Table((0..len).map(|index| PeId((index * index % 6) as u32)).collect());
            for placement in [Placement::Block, Placement::RoundRobin, Placement::Hash, table] {
                let info = info(len, placement, topology.clone()).unwrap();
                check_homes(&info, &(0..len).map(Index::from).collect::<Vec<_>>());
            }
        }
        let odd: Vec<Index> = (0..50).map(|number| Index::from(2 * number + 1)).collect();
        for placement in [Placement::Block, Placement::RoundRobin, Placement::Hash] {
            let list = Elements::List(odd.iter().map(|index| (*index, None)).collect());
            let info = CollectionInfo::new(blueprint(list, placement), &DUMMY, topology.clone(), ROOM_BYTES);
            check_homes(&info.unwrap(), &odd);
        }
    }

    #[test]
    fn nodegroups_have_one_member_per_node() {
        let info = info(3, Placement::PerNode, Topology::on_one_host(3, 2)).unwrap();
        assert_eq!(info.home(Index::from(2)), PeId(5));
        assert_eq!(info.members_on(PeId(5)), [Index::from(2)]);
        assert!(info.members_on(PeId(4)).is_empty());
    }

    #[test]
    fn a_placement_that_does_not_fit_is_refused() {
        let table = |pes: &[u32]| Placement::Table(pes.iter().copied().map(PeId).collect());
        let new = |len, placement| info(len, placement, Topology::on_one_host(1, 2));
        assert!(new(3, table(&[0, 0])).unwrap_err().contains("2 elements"));
        assert!(new(2, table(&[0, 2])).unwrap_err().contains("PE 2"));
        assert!(new(3, Placement::PerPe).unwrap_err().contains("3 members"));
    }

    #[test]
    fn members_fit_the_memory_of_a_host_or_are_refused() {
        let five = |room_bytes| {
            let elements = Elements::Range(Arc::new(IndexRange::counted(5)));
            let topology = Topology::on_one_host(2, 2);
            CollectionInfo::new(blueprint(elements, Placement::Block), &DUMMY, topology, room_bytes)
        };
        let needed = 3 * DUMMY.bytes;
        assert!(five(needed).is_ok());
        assert!(five(needed - 1).unwrap_err().contains("5 members"));
        for placement in [Placement::Block, Placement::RoundRobin, Placement::Hash] {
            let refused = info(u64::MAX, placement, Topology::on_one_host(2, 2));
            assert!(refused.is_err_and(|cause| cause.contains("create fewer")));
        }
    }

    #[test]
    fn a_creator_that_does_not_exist_is_refused() {
        let mut alleged = blueprint(Elements::List(Arc::default()), Placement::Hash);
        alleged.id.creator = PeId(2);
        let refused = CollectionInfo::new(alleged, &DUMMY, Topology::on_one_host(1, 2), ROOM_BYTES);
        assert!(refused.unwrap_err().contains("PE 2"));
    }
}
