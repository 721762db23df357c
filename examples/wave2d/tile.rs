//! A tile of the membrane as a chare. It sends its edges, and takes a step when it has those of its four neighbours.

use crate::field::{Field, Surroundings};
use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The membrane, whose opposite sides touch.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Membrane {
    /// Tiles in each direction.
    pub(crate) tiles: u32,
    /// Points of a tile in each direction.
    pub(crate) points: u32,
}

impl Membrane {
    /// Points in each direction.
    pub(crate) fn side(self) -> usize {
        (self.tiles * self.points) as usize
    }

    /// The first displacement of the membrane: where drops have just fallen.
    pub(crate) fn bump(self, column: usize, row: usize) -> f64 {
        let side = self.side() as f64;
        let height = |[x, y, height]: [f64; 3]| {
            let (x, y) = (column as f64 / side - x, row as f64 / side - y);
            height * (-DROP_SHARPNESS * (x * x + y * y)).exp()
        };
        DROPS.map(height).iter().sum()
    }
}

/// The places of drops, as shares of the membrane's sides, and their heights.
const DROPS: [[f64; 3]; 3] = [[0.34, 0.38, 1.0], [0.68, 0.30, 0.6], [0.58, 0.72, 0.8]];

/// How narrow drops are: at a fortieth of the side a third is left.
const DROP_SHARPNESS: f64 = 1600.0;

/// A tile and its displacements.
pub(crate) type Picture = ((u32, u32), Vec<f64>);

pub(crate) struct Tile {
    membrane: Membrane,
    field: Field,
    /// Steps taken.
    time: u32,
    /// Steps to take.
    end: u32,
    /// The callback for the end of these steps.
    done: Option<Callback<Vec<Picture>>>,
    /// The edges that the neighbours have sent, by step: a neighbour may be ahead by one.
    arrived: BTreeMap<u32, [Option<Vec<f64>>; 4]>,
}

#[chare(array, index = (u32, u32))]
impl Tile {
    #[entry]
    pub(crate) fn new(membrane: Membrane) -> Self {
        let (right, up): (u32, u32) = chare::this_index();
        let points = membrane.points as usize;
        let bump = |column, row| membrane.bump(right as usize * points + column, up as usize * points + row);
        let field = Field::new(points, points, bump);
        Self { membrane, field, time: 0, end: 0, done: None, arrived: BTreeMap::new() }
    }

    /// Goes on for some steps of time; `done` gets the picture then.
    #[entry]
    pub(crate) fn run(&mut self, steps: u32, done: Callback<Vec<Picture>>) {
        self.end += steps;
        self.done = Some(done);
        self.go_on();
    }

    /// A neighbour's edge, on this side, as it is before step `time`.
    #[entry]
    fn touch(&mut self, time: u32, side: u8, edge: Vec<f64>) {
        self.arrived.entry(time).or_default()[usize::from(side)] = Some(edge);
        self.step_if_ready();
    }
}

impl Tile {
    /// Sends the edges for the next step, or the picture.
    fn go_on(&mut self) {
        if self.time == self.end {
            if let Some(done) = self.done.take() {
                self.contribute(set((self.this_index(), self.field.values().to_vec())), done);
            }
            return;
        }
        let (tiles, Membrane { tiles: count, .. }) = (self.this_collection(), self.membrane);
        let (x, y) = self.this_index();
        let (before, after) = (|at: u32| (at + count - 1) % count, |at: u32| (at + 1) % count);
        let neighbours = [(before(x), y), (after(x), y), (x, before(y)), (x, after(y))];
        // Our left side is our neighbour's right.
        for ((neighbour, edge), side) in neighbours.into_iter().zip(self.field.edges()).zip([1, 0, 3, 2]) {
            tiles.at(neighbour).touch(self.time, side, edge);
        }
        self.step_if_ready();
    }

    /// Takes the next step if its surroundings are here and this tile has sent its own edges.
    fn step_if_ready(&mut self) {
        let is_complete = |edges: &[Option<Vec<f64>>; 4]| edges.iter().all(Option::is_some);
        if self.time == self.end || !self.arrived.get(&self.time).is_some_and(is_complete) {
            return;
        }
        let edges = self.arrived.remove(&self.time).unwrap_or_default();
        let surroundings: Surroundings = edges.map(Option::unwrap_or_default);
        self.field.step(&surroundings);
        self.time += 1;
        self.go_on();
    }
}
