//! Measurements of a job, before anything is made of them: what a test writes, what PEs have told, what a file holds.

use super::error::LoadsError;
use super::object::{Edge, Object};
use crate::model::ids::PeId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// The largest load, in seconds, and the quickest PE beside others: sums and quotients of what is not larger, or slower, are numbers.
const LOAD_MAX: f64 = 1e15;
const SPEED_MAX: f64 = 1e6;

/// The same in words.
const OF_LOAD: &str = "a number from 0 to 10^15";
const OF_SPEED: &str = "a number from 10^-6 to 10^6";

/// Measurements of a job, of which [`Loads`](crate::Loads) are made. Its fields are filled in one by one:
///
/// ```
/// use chare::{Measured, NodeId, Object, PeId};
///
/// let mut measured = Measured::new(2, 1);                   // two nodes of one PE
/// measured.speeds[1] = 2.0;                                 // PE 1 is twice as fast
/// measured.room[0] = 4096;                                  // and node 0 has memory for one more
/// measured.objects = vec![Object { bytes: 4096, ..Object::new(PeId(1), 0.5) }; 3];
/// let loads = measured.build()?;
/// assert_eq!(loads.load_of(PeId(1)), 0.75);                 // three halves of a second at speed 2
/// assert_eq!(loads.room(NodeId(0)), 4096);
/// # Ok::<(), chare::LoadsError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Measured {
    /// How many PEs each node has.
    pub pes_per_node: u32,
    /// The host of each node, by a number of its own.
    pub hosts: Vec<u32>,
    /// How fast each PE is, beside others; 1 unless something else is said.
    pub speeds: Vec<f64>,
    /// The load of each PE that is no object's: of groups, singletons, the runtime. Counted as the load of objects.
    pub fixed: Vec<f64>,
    /// The bytes that may still be moved to each node; without end unless something else is said.
    pub room: Vec<u64>,
    /// The objects, in any order.
    pub objects: Vec<Object>,
    /// Who called whom: numbers are positions in `objects`. Empty where nobody has counted.
    pub edges: Vec<Edge>,
}

impl Measured {
    /// Those of a job without objects, on one host.
    pub fn new(nodes: u32, pes_per_node: u32) -> Self {
        let pes = nodes as usize * pes_per_node as usize;
        Self {
            pes_per_node,
            hosts: vec![0; nodes as usize],
            speeds: vec![1.0; pes],
            fixed: vec![0.0; pes],
            room: vec![u64::MAX; nodes as usize],
            objects: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Checks all that a balancer relies on, but for the edges.
    pub(super) fn check(&self) -> Result<(), LoadsError> {
        let (nodes, pes_per_node) = (self.hosts.len(), self.pes_per_node);
        let pes = u32::try_from(nodes).ok().and_then(|nodes| nodes.checked_mul(pes_per_node));
        let pes = pes.filter(|pes| *pes > 0).ok_or(LoadsError::Machine { nodes, pes_per_node })?;
        let count = |field, of, found, expected| match found == expected {
            true => Ok(()),
            false => Err(LoadsError::Count { field, of, found, expected }),
        };
        count("speeds", "PEs", self.speeds.len(), pes as usize)?;
        count("fixed", "PEs", self.fixed.len(), pes as usize)?;
        count("room", "nodes", self.room.len(), nodes)?;
        let is_load = |load: &f64| (0.0..=LOAD_MAX).contains(load);
        let is_speed = |speed: &f64| (1.0 / SPEED_MAX..=SPEED_MAX).contains(speed);
        each("the speed of PE", OF_SPEED, &self.speeds, is_speed)?;
        each("the fixed load of PE", OF_LOAD, &self.fixed, is_load)?;
        let bytes = self.objects.iter().try_fold(0_u64, |sum, object| sum.checked_add(object.bytes));
        bytes.ok_or(LoadsError::Bytes)?;
        for (number, object) in self.objects.iter().enumerate() {
            let wrong = |what, found, bound| Err(LoadsError::Number { what, number, found, bound });
            if object.at.0 >= pes {
                return Err(LoadsError::NoSuchPe { object: number, at: object.at, pes });
            }
            if !is_load(&object.load) {
                return wrong("the load of object", object.load, OF_LOAD);
            }
            let coordinates = object.position.iter().flatten();
            if let Some(lost) = coordinates.copied().find(|coordinate| !coordinate.is_finite()) {
                return wrong("a coordinate of object", lost, "a finite number");
            }
        }
        Ok(())
    }

    /// Makes one object of those of each bond, sorts objects by their PEs, and edges with them. Returns the number that each object has now.
    pub(super) fn arrange(&mut self) -> Result<Vec<usize>, LoadsError> {
        let mut numbers = self.unite()?;
        let places = places_by_pe(&self.objects, self.speeds.len());
        if let Some(places) = places {
            let mut sorted = self.objects.clone();
            places.iter().zip(&self.objects).for_each(|(place, object)| sorted[*place] = *object);
            self.objects = sorted;
            numbers.iter_mut().for_each(|number| *number = places[*number]);
        }
        for (edge, Edge { from, to, .. }) in self.edges.iter_mut().enumerate() {
            for end in [from, to] {
                let (object, objects) = (*end, numbers.len());
                *end = *numbers.get(object).ok_or(LoadsError::NoSuchObject { edge, object, objects })?;
            }
        }
        // Calls of an object to itself, or to what is bound to it, cost the same everywhere.
        self.edges.retain(|edge| edge.from != edge.to);
        Ok(numbers)
    }

    /// Makes one object of those of each bond. Returns the number that each object has now.
    fn unite(&mut self) -> Result<Vec<usize>, LoadsError> {
        if self.objects.iter().all(|object| object.bond.is_none()) {
            return Ok((0..self.objects.len()).collect());
        }
        let (mut united, mut firsts) = (Vec::<Object>::new(), FxHashMap::default());
        let mut numbers = Vec::with_capacity(self.objects.len());
        for object in &self.objects {
            if let Some(bond) = object.bond {
                match firsts.entry(bond) {
                    Entry::Vacant(first) => {
                        first.insert(united.len());
                    }
                    Entry::Occupied(first) => {
                        let number = *first.get();
                        join(&mut united[number], object, bond)?;
                        numbers.push(number);
                        continue;
                    }
                }
            }
            numbers.push(united.len());
            united.push(*object);
        }
        self.objects = united;
        Ok(numbers)
    }
}

/// Checks a number of each PE.
fn each(
    what: &'static str,
    bound: &'static str,
    found: &[f64],
    is_right: impl Fn(&f64) -> bool,
) -> Result<(), LoadsError> {
    match found.iter().position(|one| !is_right(one)) {
        Some(number) => Err(LoadsError::Number { what, number, found: found[number], bound }),
        None => Ok(()),
    }
}

/// Adds another object of a bond to its first.
fn join(first: &mut Object, other: &Object, bond: u32) -> Result<(), LoadsError> {
    if first.at != other.at {
        return Err(LoadsError::Bond { bond, one: first.at, other: other.at });
    }
    first.load += other.load;
    first.bytes += other.bytes;
    first.may_move &= other.may_move;
    first.position = first.position.or(other.position);
    Ok(())
}

/// The place of each object in an order by PEs that leaves those of a PE as they are; `None` if that is their order.
fn places_by_pe(objects: &[Object], pes: usize) -> Option<Vec<usize>> {
    if objects.is_sorted_by_key(|object| object.at) {
        return None;
    }
    let mut next = starts_by_pe(objects, pes);
    let place = |PeId(at)| {
        let next = &mut next[at as usize];
        *next += 1;
        *next - 1
    };
    Some(objects.iter().map(|object| object.at).map(place).collect())
}

/// The number of the first object of each PE, and at the end the number of objects, as if objects were sorted by their PEs.
pub(super) fn starts_by_pe(objects: &[Object], pes: usize) -> Vec<usize> {
    let mut starts = vec![0; pes + 1];
    objects.iter().for_each(|object| starts[object.at.0 as usize + 1] += 1);
    (0..pes).for_each(|pe| starts[pe + 1] += starts[pe]);
    starts
}
