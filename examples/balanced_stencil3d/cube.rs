//! A cube of points in which heat spreads, and a frame of one point around it. It knows no chares.

use chare_examples::stencil::Side;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;

#[derive(Serialize, Deserialize)]
pub(crate) struct Cube {
    /// Along each axis, without the frame.
    points: usize,
    /// With the frame, the first axis running fastest.
    values: Vec<f64>,
}

/// The heat of a point in the beginning, by its place in the whole field.
fn first_heat([x, y, z]: [usize; 3]) -> f64 {
    ((x * 7 + y * 13 + z * 29) % 101) as f64
}

impl Cube {
    /// A cube whose first point is at this place of the whole field.
    pub(crate) fn new(points: usize, first: [usize; 3]) -> Self {
        let mut cube = Self { points, values: vec![0.0; (points + 2).pow(3)] };
        for line in cube.lines() {
            for x in 0..points {
                let at = cube.line_start(line) + x;
                cube.values[at] = first_heat([first[0] + x, first[1] + line[0], first[2] + line[1]]);
            }
        }
        cube
    }

    /// How far the neighbours of a point along each axis are from it.
    fn strides(&self) -> [usize; 3] {
        [1, self.points + 2, (self.points + 2).pow(2)]
    }

    /// The lines along the first axis, by their places along the others.
    fn lines(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let points = self.points;
        (0..points).flat_map(move |z| (0..points).map(move |y| [y, z]))
    }

    fn line_start(&self, [y, z]: [usize; 2]) -> usize {
        let [_, line, layer] = self.strides();
        1 + (y + 1) * line + (z + 1) * layer
    }

    /// The positions of a layer of points behind a side: those of the frame, or those of the cube beside it.
    fn layer(&self, side: Side, in_frame: bool) -> impl Iterator<Item = usize> + use<> {
        let (points, strides) = (self.points, self.strides());
        let [across, along, up] = [0, 1, 2].map(|turn| strides[(side.axis() + turn) % 3]);
        let inwards = usize::from(!in_frame);
        let depth = if side.is_upper() { points + 1 - inwards } else { inwards };
        let line = move |row| (1..=points).map(move |at| depth * across + at * along + row * up);
        (1..=points).flat_map(line)
    }

    /// The outermost points on a side.
    pub(crate) fn face(&self, side: Side) -> Vec<f64> {
        self.layer(side, false).map(|at| self.values[at]).collect()
    }

    /// Takes over the face of the neighbour on a side.
    pub(crate) fn set_frame(&mut self, side: Side, face: &[f64]) {
        self.layer(side, true).zip(face).for_each(|(at, value)| self.values[at] = *value);
    }

    /// Lets heat spread for one step of time, computed as often as that: once would do.
    pub(crate) fn sweep(&mut self, times: u32) {
        let (strides, mut next) = (self.strides(), self.values.clone());
        for _ in 0..times {
            let now = black_box(&self.values);
            for line in self.lines() {
                let start = self.line_start(line);
                for at in start..start + self.points {
                    let around: f64 = strides.iter().map(|stride| now[at - stride] + now[at + stride]).sum();
                    next[at] = (now[at] + around) / 7.0;
                }
            }
        }
        self.values = next;
    }

    /// A number that depends on each point's heat, and of which those of all cubes make that of the whole field.
    pub(crate) fn fingerprint(&self, first: [usize; 3]) -> u64 {
        let point = |line: [usize; 2], x: usize| {
            let heat = self.values[self.line_start(line) + x].to_bits();
            let mut hasher = DefaultHasher::new();
            (first[0] + x, first[1] + line[0], first[2] + line[1], heat).hash(&mut hasher);
            hasher.finish()
        };
        let points = self.lines().flat_map(|line| (0..self.points).map(move |x| point(line, x)));
        points.fold(0, std::ops::BitXor::bitxor)
    }
}
