//! Curves through space: the position of a point on Hilbert's curve, along which neighbours are near each other.
//!
//! J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004), for as many dimensions as the points have.

/// The place of each point along a curve through the box that holds them all. Dimensions in which all are alike are left out.
pub(super) fn places(points: &[[f64; 3]]) -> Vec<u64> {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points {
        for axis in 0..3 {
            low[axis] = f64::min(low[axis], point[axis]);
            high[axis] = f64::max(high[axis], point[axis]);
        }
    }
    let axes: Vec<usize> = (0..3).filter(|axis| high[*axis] > low[*axis]).collect();
    // As many as a place has room for, and a coordinate has digits.
    let bits = (63 / axes.len().max(1) as u32).min(f64::MANTISSA_DIGITS - 1);
    // One scale for all axes: what is near in space is to be near on the curve. Halves, as the distance of two numbers may be infinite.
    let extent = axes.iter().map(|axis| high[*axis] / 2.0 - low[*axis] / 2.0).fold(0.0, f64::max);
    let cells = ((1_u64 << bits) - 1) as f64;
    let cell = |value: f64, axis: usize| ((value / 2.0 - low[axis] / 2.0) / extent * cells) as u64;
    let place = |point: &[f64; 3]| {
        let mut coordinates = [0; 3];
        let coordinates = &mut coordinates[..axes.len()];
        coordinates.iter_mut().zip(&axes).for_each(|(to, axis)| *to = cell(point[*axis], *axis));
        along(coordinates, bits)
    };
    points.iter().map(place).collect()
}

/// How far along the curve a cell is.
fn along(cell: &mut [u64], bits: u32) -> u64 {
    let Some(last) = cell.len().checked_sub(1) else { return 0 };
    for bit in (1..bits).rev().map(|bit| 1_u64 << bit) {
        for axis in 0..=last {
            if cell[axis] & bit != 0 {
                cell[0] ^= bit - 1;
            } else {
                let exchanged = (cell[0] ^ cell[axis]) & (bit - 1);
                cell[0] ^= exchanged;
                cell[axis] ^= exchanged;
            }
        }
    }
    (1..=last).for_each(|axis| cell[axis] ^= cell[axis - 1]);
    let flips = (1..bits).rev().map(|bit| 1_u64 << bit).filter(|bit| cell[last] & bit != 0);
    let flip = flips.fold(0, |flip, bit| flip ^ (bit - 1));
    let bit_of = |bit: u32, axis: &u64| ((axis ^ flip) >> bit) & 1;
    (0..bits)
        .rev()
        .fold(0, |place, bit| cell.iter().fold(place, |place, axis| place << 1 | bit_of(bit, axis)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All cells of a box, in the order of the curve.
    fn walk(dimensions: usize, bits: u32) -> Vec<Vec<u64>> {
        let side = 1_u64 << bits;
        let cell = |number: u64| (0..dimensions as u32).map(|axis| number / side.pow(axis) % side).collect();
        let mut cells: Vec<Vec<u64>> = (0..side.pow(dimensions as u32)).map(cell).collect();
        cells.sort_by_key(|cell| along(&mut cell.clone(), bits));
        cells
    }

    #[test]
    fn each_step_of_the_curve_leads_to_a_neighbour_and_none_comes_twice() {
        for (dimensions, bits) in [(1, 5), (2, 1), (2, 4), (3, 1), (3, 3)] {
            let walk = walk(dimensions, bits);
            for step in walk.windows(2) {
                let distance: u64 =
                    step[0].iter().zip(&step[1]).map(|(one, other)| one.abs_diff(*other)).sum();
                assert_eq!(distance, 1, "{dimensions} dimensions: {step:?}");
            }
            let mut places: Vec<u64> = walk.iter().map(|cell| along(&mut cell.clone(), bits)).collect();
            places.dedup();
            assert_eq!(places, (0..walk.len() as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn points_in_a_plane_or_on_a_line_are_walked_in_it() {
        let line: Vec<[f64; 3]> = (0..10).map(|x| [7.0, -3.0, f64::from(x)]).collect();
        assert!(places(&line).is_sorted());
        let mut plane: Vec<[f64; 3]> =
            (0..64).map(|cell| [f64::from(cell % 8), 1.0, f64::from(cell / 8)]).collect();
        let found = places(&plane);
        let mut order: Vec<usize> = (0..64).collect();
        order.sort_by_key(|cell| found[*cell]);
        plane = order.into_iter().map(|cell| plane[cell]).collect();
        for step in plane.windows(2) {
            let distance: f64 = (0..3).map(|axis| (step[0][axis] - step[1][axis]).abs()).sum();
            assert_eq!(distance, 1.0, "{step:?}");
        }
    }

    #[test]
    fn points_at_one_place_or_at_the_ends_of_all_numbers_have_places() {
        assert_eq!(places(&[[2.0; 3]; 2]), [0, 0]);
        let far = places(&[[f64::MIN; 3], [f64::MAX; 3]]);
        assert_ne!(far[0], far[1]);
    }
}
