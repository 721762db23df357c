//! A tile of the membrane as a chare. It sends its edges, and takes a step when it has those of its four neighbours.

use crate::field;
use chare::ThisInSyncs;
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};
use serde::{Deserialize, Serialize};

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

#[derive(Serialize, Deserialize)]
pub(crate) struct Tile {
    membrane: Membrane,
    field: Grid<2>,
    /// Steps taken.
    time: u32,
    /// Steps that are asked for.
    end: u32,
    /// Whether it is to take them: the sync before them is over.
    goes: bool,
    /// The callback for the end of these steps.
    done: Option<Callback<Vec<Picture>>>,
    /// The edges that neighbours have sent for the next step but one: a neighbour may be ahead by one.
    early: Vec<(Side, Vec<f64>)>,
}

#[chare(array, index = (u32, u32), migrate, sync)]
impl Tile {
    #[entry]
    pub(crate) fn new(membrane: Membrane) -> Self {
        let (right, up): (u32, u32) = chare::this_index();
        let points = membrane.points as usize;
        let bump = |column, row| membrane.bump(right as usize * points + column, up as usize * points + row);
        let field = field::at_rest(points, bump);
        Self { membrane, field, time: 0, end: 0, goes: false, done: None, early: Vec::new() }
    }

    /// Goes on for some steps of time, after a sync; `done` gets the picture then.
    #[entry]
    pub(crate) fn run(&mut self, steps: u32, done: Callback<Vec<Picture>>) {
        self.end += steps;
        self.done = Some(done);
        self.sync_then(self.this_chare().begin_callback());
    }

    /// The sync is over.
    #[entry]
    fn begin(&mut self) {
        self.goes = true;
        self.go_on();
    }

    /// A neighbour's edge, on this side, as it is before step `time`.
    #[entry]
    fn touch(&mut self, time: u32, side: Side, edge: Vec<f64>) {
        if time == self.time {
            self.field.set_frame(side, &edge);
            self.step_if_ready();
        } else {
            self.early.push((side, edge));
        }
    }
}

impl Tile {
    /// Sends the edges for the next step, or the picture.
    fn go_on(&mut self) {
        if self.time == self.end {
            self.goes = false;
            let done = self.done.take().expect("steps are taken for somebody");
            self.contribute(set((self.this_index(), field::values(&self.field))), done);
            return;
        }
        let (tiles, blocks) = (self.this_collection(), [u64::from(self.membrane.tiles); 2]);
        let (right, up) = self.this_index();
        for side in Side::all(2) {
            let [right, up] = side.around([right.into(), up.into()], blocks).map(|at| at as u32);
            tiles.at((right, up)).touch(self.time, side.opposite(), self.field.edge_values(side));
        }
        self.step_if_ready();
    }

    /// Takes the next step if its surroundings are here and this tile has sent its own edges.
    fn step_if_ready(&mut self) {
        if !self.goes || !self.field.make_ready(4) {
            return;
        }
        field::step(&mut self.field);
        self.time += 1;
        for (side, edge) in std::mem::take(&mut self.early) {
            self.field.set_frame(side, &edge);
        }
        self.go_on();
    }
}
