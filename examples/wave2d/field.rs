//! A piece of the membrane: the wave equation in steps of time.

use chare_examples::stencil::Grid;

/// A quarter of the largest step that stays stable, squared: how far a wave comes in one step of time, in points.
const SPEED_SQUARED: f64 = 0.125;

/// Displacements of a piece at rest, as `shape` says for column and row. A grid keeps those of a step before, too.
pub(crate) fn at_rest(points: usize, shape: impl Fn(usize, usize) -> f64) -> Grid<2> {
    let is_inside = |at: usize| (1..=points).contains(&at);
    Grid::new(
        [points; 2],
        |[column, row]| {
            if is_inside(column) && is_inside(row) { shape(column - 1, row - 1) } else { 0.0 }
        },
    )
}

/// All displacements, row by row.
pub(crate) fn values(field: &Grid<2>) -> Vec<f64> {
    field.lines().flat_map(|(_, points)| points).copied().collect()
}

/// One step of time.
pub(crate) fn step(field: &mut Grid<2>) {
    let [_, stride] = field.strides();
    field.sweep(|now, line, points| {
        for (at, point) in (line.start..).zip(points) {
            let (west, east, south, north) = (now[at - 1], now[at + 1], now[at - stride], now[at + stride]);
            let bend = (west + east) + (south + north) - 4.0 * now[at];
            *point = 2.0 * now[at] - *point + SPEED_SQUARED * bend;
        }
    });
}
