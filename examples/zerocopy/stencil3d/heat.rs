//! Heat in a box: points that stay heated, and Jacobi's sweep of the others. It knows no chares.

use chare_examples::stencil::{Grid, Line, Side};

/// The temperature that heated points keep.
const HEATED: f64 = 255.0;

/// Points of a box along x, y and z.
pub(crate) type Extent = [usize; 3];

/// Whether a point stays heated: its coordinate is a multiple of `every` along any axis.
fn is_heated(place: Extent, every: Extent) -> bool {
    place.iter().zip(every).any(|(at, every)| at.is_multiple_of(every))
}

/// A cold box with heated points.
pub(crate) fn grid(extent: Extent, heated_every: Extent) -> Grid<3> {
    Grid::new(extent, |place| {
        let is_inside = (0..3).all(|axis| (1..=extent[axis]).contains(&place[axis]));
        let is_hot = is_inside && is_heated(place.map(|at| at - 1), heated_every);
        if is_hot { HEATED } else { 0.0 }
    })
}

/// Every point becomes the mean of itself and its six neighbours; heated points stay.
pub(crate) fn sweep(grid: &mut Grid<3>, heated_every: Extent) {
    let [_, row, layer] = grid.strides();
    grid.sweep(|now, Line { place: [_, y, z], start }, points| {
        for (x, point) in points.iter_mut().enumerate() {
            let at = start + x;
            let neighbours = [at, at - 1, at + 1, at - row, at + row, at - layer, at + layer];
            let mean = || neighbours.map(|position| now[position]).iter().sum::<f64>() / 7.0;
            *point = if is_heated([x, y, z], heated_every) { HEATED } else { mean() };
        }
    });
}

/// The result of `iterations` sweeps over a whole box that continues at its opposite side.
pub(crate) fn solve(extent: Extent, heated_every: Extent, iterations: u32) -> Grid<3> {
    let mut grid = grid(extent, heated_every);
    for _ in 0..iterations {
        for side in Side::all(3) {
            let face = grid.edge_values(side);
            grid.set_frame(side.opposite(), &face);
        }
        assert!(grid.make_ready(6), "nobody else reads it");
        sweep(&mut grid, heated_every);
    }
    grid
}
