//! Moves: what a balancer plans, and the loads as they will be; and the record of a balancing, the loads that the balancer looked at and the moves
//! that it planned, as `+balance_dump` writes it.

use super::pes::{Loads, imbalance};
use super::tournament::Tournament;
use crate::model::ids::{NodeId, PeId};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// The moves that a balancer plans, one after another, and the loads with what is planned so far.
///
/// A move that cannot be is refused and counted: of an object that may not move, to a PE that is not there, to a node that has no
/// [room](Loads::room) for it. Objects that end where they are do not move.
///
/// A balancer of a program's own, which also looks at what a move costs; [`balance_by`](crate::balance_by) tries it without a job, and
/// `+balancer thrifty` has it balance one:
///
/// ```
/// use chare::{Loads, Moves, PeId};
///
/// /// Takes from whoever has too much the objects that weigh most for their bytes.
/// #[chare::balancer]
/// fn thrifty(loads: &Loads, moves: &mut Moves) {
///     let mut objects: Vec<usize> = (0..loads.objects().len()).collect();
///     let gain = |number: usize| {
///         let object = &loads.objects()[number];
///         object.load / (object.bytes + 1000) as f64
///     };
///     objects.sort_by(|one, other| gain(*other).total_cmp(&gain(*one)));
///     for number in objects {
///         let object = &loads.objects()[number];
///         let lightest = moves.lightest();
///         let is_better = moves.load_of(lightest) + object.load < moves.load_of(object.at);
///         if moves.load_of(object.at) > 1.02 * loads.average() && is_better {
///             moves.to(number, lightest);
///         }
///     }
/// }
///
/// let loads = Loads::sample(2, [(PeId(0), 1.0), (PeId(0), 2.0), (PeId(1), 1.0)]);
/// assert_eq!(chare::balance_by(thrifty, &loads), [(0, PeId(1))]);
/// ```
#[derive(Clone, Debug)]
pub struct Moves {
    loads: Loads,
    /// The PE of each object.
    places: Vec<PeId>,
    /// The work of each PE.
    work: Vec<f64>,
    /// The bytes that may still be moved to each node.
    room: Vec<u64>,
    refused: u64,
    /// The times of PEs, and the same below zero: made when somebody asks, so that others do not pay.
    lightest: OnceCell<Tournament>,
    heaviest: OnceCell<Tournament>,
}

impl Moves {
    /// None yet.
    pub(crate) fn new(loads: &Loads) -> Self {
        Self {
            places: loads.objects().iter().map(|object| object.at).collect(),
            work: (0..loads.pes()).map(|pe| loads.work_on(PeId(pe))).collect(),
            room: (0..loads.nodes()).map(|node| loads.room(NodeId(node))).collect(),
            loads: loads.clone(),
            refused: 0,
            lightest: OnceCell::new(),
            heaviest: OnceCell::new(),
        }
    }

    /// Plans that an object moves to a PE; the last plan counts, and one for the PE on which it is takes the others back. Returns whether
    /// that can be: what is refused stays as it was planned.
    ///
    /// Cost: constant; logarithmic in the number of PEs once [`lightest`](Self::lightest) or [`heaviest`](Self::heaviest) was asked for.
    pub fn to(&mut self, object: usize, pe: PeId) -> bool {
        let is_possible = self.plan(object, pe).is_some();
        self.refused += u64::from(!is_possible);
        is_possible
    }

    /// Plans a move; `None` if it cannot be.
    fn plan(&mut self, number: usize, pe: PeId) -> Option<()> {
        let object = *self.loads.objects().get(number)?;
        let before = self.places[number];
        if before == pe {
            return Some(());
        }
        if !object.may_move || pe.0 >= self.loads.pes() {
            return None;
        }
        let [home, old, new] = [object.at, before, pe].map(|pe| self.loads.node_of(pe));
        if old != new {
            if new != home {
                let room = &mut self.room[new.0 as usize];
                *room = room.checked_sub(object.bytes)?;
            }
            if old != home {
                self.room[old.0 as usize] += object.bytes;
            }
        }
        self.places[number] = pe;
        self.add(before, -object.load);
        self.add(pe, object.load);
        Some(())
    }

    fn add(&mut self, pe: PeId, load: f64) {
        let work = &mut self.work[pe.0 as usize];
        // What is taken away again leaves no trace of what was rounded.
        *work = (*work + load).max(0.0);
        let time = |work: f64| work / self.loads.speed(pe);
        if let Some(lightest) = self.lightest.get_mut() {
            lightest.set(pe.0 as usize, time(*work));
        }
        if let Some(heaviest) = self.heaviest.get_mut() {
            heaviest.set(pe.0 as usize, -time(*work));
        }
    }

    /// The PE of an object, as planned so far.
    ///
    /// # Panics
    /// If there is no such object.
    pub fn place_of(&self, object: usize) -> PeId {
        self.places[object]
    }

    /// The time that a PE takes, with what is planned so far: its work by its speed.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn load_of(&self, pe: PeId) -> f64 {
        self.work[pe.0 as usize] / self.loads.speed(pe)
    }

    /// The PE that takes the shortest time, with what is planned so far; of equal ones the first. Cost: logarithmic in the number of PEs.
    pub fn lightest(&self) -> PeId {
        let lightest = self.lightest.get_or_init(|| Tournament::new(self.times()));
        PeId(lightest.least() as u32)
    }

    /// The PE that takes the longest time, with what is planned so far; of equal ones the first. Cost: as for
    /// [`lightest`](Self::lightest).
    pub fn heaviest(&self) -> PeId {
        let heaviest = self.heaviest.get_or_init(|| Tournament::new(self.times().map(|time| -time)));
        PeId(heaviest.least() as u32)
    }

    /// The bytes that may still be moved to a node, with what is planned so far.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn room(&self, node: NodeId) -> u64 {
        self.room[node.0 as usize]
    }

    /// The time of the PE that takes longest, with what is planned so far. Linear in the number of PEs.
    pub fn max(&self) -> f64 {
        self.times().fold(0.0, f64::max)
    }

    /// How much longer the longest PE takes than all would if they took the same, with what is planned so far; see [`Loads::imbalance`].
    pub fn imbalance(&self) -> f64 {
        imbalance(self.max(), self.loads.average())
    }

    /// How many moves were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The objects that move, in the order of their numbers, and where to.
    pub fn planned(&self) -> Vec<(usize, PeId)> {
        let is_at = self.loads.objects().iter().map(|object| object.at);
        let planned = self.places.iter().zip(is_at).enumerate();
        planned.filter(|(_, (place, at))| *place != at).map(|(number, (place, _))| (number, *place)).collect()
    }

    fn times(&self) -> impl Iterator<Item = f64> {
        (0..self.loads.pes()).map(|pe| self.load_of(PeId(pe)))
    }
}

/// A balancing of a job: what its balancer looked at, and what it planned. [`read_balancings`](crate::read_balancings) reads those of a job that ran
/// with `+balance_dump FILE`, to try other balancers on them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceRecord {
    /// Its number among those of the job, from 0 on.
    pub number: u64,
    /// The balancers that took turns, as `+balancer` named them.
    pub balancer: String,
    /// The loads before it.
    pub loads: Loads,
    /// The objects that it moved, by their numbers in [`Loads::objects`], and where to.
    pub moves: Vec<(usize, PeId)>,
    /// How many moves were refused.
    pub refused: u64,
    /// How much longer than the average the longest PE was to take after the moves; before them, [`Loads::imbalance`] says it.
    pub imbalance_after: f64,
}
