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
    /// Who takes part in reductions, unless every PE does.
    takers: Option<Takers>,
}

/// PEs that take part in reductions where others do not.
#[derive(Debug)]
struct Takers {
    /// By PE.
    pes: Box<[bool]>,
    /// By node: whether a PE takes part on the node or on one below it in the tree.
    nodes: Box<[bool]>,
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
        let filled = match &self.blueprint.elements {
            Elements::Range(range) => map.fullest_if_all_have_some(range),
            Elements::List(_) => None,
        };
        let takers = if let Some(most) = filled {
            self.check_room(most)?;
            None
        } else {
            let population = self.population(&map);
            let on = |node| self.topology.pes_of(node).map(|pe| population[pe.0 as usize]).sum::<u64>();
            let most = (0..self.topology.nodes()).map(NodeId).map(on).max().unwrap_or(0);
            self.check_room(most)?;
            (!self.may_be_anywhere()).then(|| self.takers(&population))
        };
        self.placed.get_or_init(|| Placed { map, bond, takers });
        Ok(())
    }

    /// The members that each PE begins with, counted.
    fn population(&self, map: &PlacementMap) -> Vec<u64> {
        let mut population = vec![0; self.topology.pes() as usize];
        match &self.blueprint.elements {
            Elements::Range(range) => map.count_homes(range, &mut population),
            Elements::List(list) => {
                list.iter().for_each(|(index, _)| population[map.home(*index).0 as usize] += 1);
            }
        }
        population
    }

    fn takers(&self, population: &[u64]) -> Takers {
        let pes: Box<[bool]> = population.iter().map(|members| *members > 0).collect();
        let mut nodes = vec![false; self.topology.nodes() as usize].into_boxed_slice();
        for node in (0..self.topology.nodes()).map(NodeId) {
            if self.topology.pes_of(node).any(|pe| pes[pe.0 as usize]) {
                let up = std::iter::successors(Some(node), |node| self.topology.parent(*node, self.root()));
                up.for_each(|node| nodes[node.index()] = true);
            }
        }
        Takers { pes, nodes }
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
        self.placed().takers.as_ref().is_none_or(|takers| takers.pes[pe.0 as usize])
    }

    /// Whether a PE takes part in reductions on a node or on one of the nodes below it in the tree.
    pub(crate) fn is_any_below(&self, node: NodeId) -> bool {
        self.placed().takers.as_ref().is_none_or(|takers| takers.nodes[node.index()])
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
        for node in (0..3).map(NodeId) {
            let below = |pe: &PeId| info.topology.is_below(info.topology.node_of(*pe), node, info.root());
            let any = (0..6).map(PeId).filter(below).any(|pe| info.takes_part(pe));
            assert_eq!(info.is_any_below(node), any, "{node} of {info:?}");
        }
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
    fn the_fullest_node_is_known_without_counting() {
        for (nodes, pes) in [(1, 1), (3, 2), (4, 4), (5, 3)] {
            let topology = Topology::on_one_host(nodes, pes);
            let all = u64::from(topology.pes());
            for len in [all - 1, all, all + 1, 2 * all, 3 * all + 2, 100] {
                for placement in [Placement::Block, Placement::RoundRobin] {
                    let info = info(len, placement, topology.clone()).unwrap();
                    let population = info.population(&info.placed().map);
                    let most = population.chunks(pes as usize).map(|node| node.iter().sum::<u64>()).max();
                    let range = info.blueprint.elements.range().expect("it is one");
                    let known = info.placed().map.fullest_if_all_have_some(range);
                    let all_have_some = population.iter().all(|members| *members > 0);
                    assert_eq!(known, most.filter(|_| all_have_some), "{len} on {nodes} times {pes}");
                }
            }
        }
    }

    #[test]
    fn groups_have_one_member_per_pe() {
        let info = info(6, Placement::PerPe, Topology::on_one_host(3, 2)).unwrap();
        check_homes(&info, &(0..6).map(Index::from).collect::<Vec<_>>());
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
