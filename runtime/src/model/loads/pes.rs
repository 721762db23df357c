//! Loads of a job's PEs: the machine, what lies on it, and sums.

use super::error::LoadsError;
use super::measured::{Measured, starts_by_pe};
use super::object::{Edge, Object};
use crate::model::ids::{NodeId, PeId};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The loads of a job's PEs: all that a balancer looks at.
///
/// Made of [`Measured`]; for tests, also by [`Loads::sample`]. A clone shares all of it. Serializable, so that loads of a job can be tried
/// with other balancers.
///
/// | | |
/// |---|---|
/// | the machine | [`pes`](Self::pes), [`nodes`](Self::nodes), [`node_of`](Self::node_of), [`host_of`](Self::host_of), [`speed`](Self::speed), [`room`](Self::room) |
/// | what lies on it | [`objects`](Self::objects), [`on`](Self::on), [`edges`](Self::edges), [`fixed`](Self::fixed) |
/// | sums | [`total`](Self::total), [`average`](Self::average), [`load_of`](Self::load_of), [`max`](Self::max), [`imbalance`](Self::imbalance) |
///
/// Each takes a look or two. Those of a PE or a node panic if the job has no such one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Measured", into = "Measured")]
pub struct Loads {
    parts: Arc<Parts>,
}

#[derive(PartialEq, Debug)]
struct Parts {
    measured: Measured,
    /// The number of the first object of each PE, and the number of objects.
    starts: Vec<usize>,
    /// The work that lies on each PE.
    work: Vec<f64>,
    total: f64,
    /// The speeds of all PEs together.
    speed: f64,
}

impl Measured {
    /// Checks the measurements and makes loads of them. Sorts the objects by their PEs, in linear time.
    ///
    /// # Errors
    /// When they cannot be: counts that do not fit each other, objects on PEs that are not there, loads that are no numbers, bound objects
    /// that are apart.
    pub fn build(self) -> Result<Loads, LoadsError> {
        self.build_numbered().map(|(loads, _)| loads)
    }

    /// As [`Measured::build`]; also returns the number that each object has in [`Loads::objects`], the same for all of one bond.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use chare::{Measured, Object, PeId};
    ///
    /// let mut measured = Measured::new(1, 2);
    /// let bound = Object { bond: Some(7), ..Object::new(PeId(0), 1.0) };
    /// measured.objects = vec![Object::new(PeId(1), 4.0), bound, bound];
    /// let (loads, numbers) = measured.build_numbered()?;
    /// assert_eq!(numbers, [1, 0, 0]);
    /// assert_eq!(loads.objects()[0].load, 2.0);
    /// # Ok::<(), chare::LoadsError>(())
    /// ```
    pub fn build_numbered(mut self) -> Result<(Loads, Vec<usize>), LoadsError> {
        self.check()?;
        let numbers = self.arrange()?;
        let starts = starts_by_pe(&self.objects, self.speeds.len());
        let work_on = |(pe, objects): (usize, &[usize])| {
            self.fixed[pe]
                + self.objects[objects[0]..objects[1]].iter().map(|object| object.load).sum::<f64>()
        };
        let work: Vec<f64> = starts.windows(2).enumerate().map(work_on).collect();
        let (total, speed) = (work.iter().sum(), self.speeds.iter().sum());
        Ok((Loads { parts: Arc::new(Parts { measured: self, starts, work, total, speed }) }, numbers))
    }
}

impl Loads {
    /// Loads for a test: one node, and objects of which nothing is known but where they are and what they take.
    ///
    /// # Panics
    /// When there is no PE, or an object is where none is, or takes no time that can be.
    ///
    /// ```
    /// use chare::{Loads, PeId};
    ///
    /// let loads = Loads::sample(2, [(PeId(0), 1.0), (PeId(0), 2.0)]);
    /// assert_eq!(loads.imbalance(), 2.0);
    /// ```
    #[track_caller]
    pub fn sample(pes: u32, objects: impl IntoIterator<Item = (PeId, f64)>) -> Self {
        let objects = objects.into_iter().map(|(at, load)| Object::new(at, load)).collect();
        match (Measured { objects, ..Measured::new(1, pes) }).build() {
            Ok(loads) => loads,
            Err(error) => panic!("no such loads: {error}"),
        }
    }

    /// How many PEs the job has.
    pub fn pes(&self) -> u32 {
        self.parts.work.len() as u32
    }

    /// How many nodes the job has; each has as many PEs as any other.
    pub fn nodes(&self) -> u32 {
        self.parts.measured.hosts.len() as u32
    }

    /// The node of a PE.
    pub fn node_of(&self, pe: PeId) -> NodeId {
        NodeId(pe.0 / self.parts.measured.pes_per_node)
    }

    /// The PEs of a node.
    pub(crate) fn pes_of(&self, node: NodeId) -> Range<u32> {
        let pes = self.parts.measured.pes_per_node;
        node.0 * pes..(node.0 + 1) * pes
    }

    /// The host of a node, by a number of its own.
    pub fn host_of(&self, node: NodeId) -> u32 {
        self.parts.measured.hosts[node.0 as usize]
    }

    /// How fast a PE is, beside others.
    pub fn speed(&self, pe: PeId) -> f64 {
        self.parts.measured.speeds[pe.0 as usize]
    }

    /// The bytes that may still be moved to a node. What leaves it makes no room: it may leave after the others have come.
    pub fn room(&self, node: NodeId) -> u64 {
        self.parts.measured.room[node.0 as usize]
    }

    /// All objects, sorted by their PEs. A position here is an object's number.
    pub fn objects(&self) -> &[Object] {
        &self.parts.measured.objects
    }

    /// The numbers of the objects on a PE.
    pub fn on(&self, pe: PeId) -> Range<usize> {
        self.parts.starts[pe.0 as usize]..self.parts.starts[pe.0 as usize + 1]
    }

    /// Who called whom; empty unless the balancer needs it.
    pub fn edges(&self) -> &[Edge] {
        &self.parts.measured.edges
    }

    /// The load of a PE that is no object's.
    pub fn fixed(&self, pe: PeId) -> f64 {
        self.parts.measured.fixed[pe.0 as usize]
    }

    /// The work of all PEs: of what moves and of what does not.
    pub fn total(&self) -> f64 {
        self.parts.total
    }

    /// The time that each PE would take if all took the same.
    pub fn average(&self) -> f64 {
        self.parts.total / self.parts.speed
    }

    /// The time that a PE takes: its work by its speed.
    pub fn load_of(&self, pe: PeId) -> f64 {
        self.work_on(pe) / self.speed(pe)
    }

    /// The time of the PE that takes longest. Linear in the number of PEs.
    pub fn max(&self) -> f64 {
        (0..self.pes()).map(|pe| self.load_of(PeId(pe))).fold(0.0, f64::max)
    }

    /// How much longer the longest PE takes than all would if they took the same: 1 where all is even, and where there is nothing to do.
    pub fn imbalance(&self) -> f64 {
        imbalance(self.max(), self.average())
    }

    /// The work that lies on a PE.
    pub(super) fn work_on(&self, pe: PeId) -> f64 {
        self.parts.work[pe.0 as usize]
    }
}

/// How a longest time stands to an average one.
pub(super) fn imbalance(max: f64, average: f64) -> f64 {
    if average > 0.0 { max / average } else { 1.0 }
}

impl TryFrom<Measured> for Loads {
    type Error = LoadsError;

    fn try_from(measured: Measured) -> Result<Self, LoadsError> {
        measured.build()
    }
}

impl From<Loads> for Measured {
    fn from(loads: Loads) -> Self {
        loads.parts.measured.clone()
    }
}
