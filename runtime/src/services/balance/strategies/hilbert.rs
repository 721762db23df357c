//! Hilbert's curve: objects in the order of a curve through space, cut into one stretch for each domain.
//!
//! Objects that are near each other come to one PE, and PEs that follow each other have neighbouring stretches. Where loads change little
//! from one balancing to the next, only what is at the ends of stretches moves.

use super::positioned::by_positions;
use super::{chains, curve};
use crate::model::loads::{Loads, Moves, Object};

/// Spreads the objects that have positions along the curve: `O(n log n)` for `n` objects.
pub(super) fn hilbert(loads: &Loads, moves: &mut Moves) {
    let position = |object: &Object| object.position;
    let points: Vec<[f64; 3]> = loads.objects().iter().filter_map(position).collect();
    let mut places = curve::places(&points).into_iter();
    let place = |object| position(object).and_then(|_| places.next()).unwrap_or_default();
    let places: Vec<u64> = loads.objects().iter().map(place).collect();
    by_positions(loads, moves, |items, domains| {
        let mut row: Vec<(u64, u32)> =
            items.iter().zip(0..).map(|(item, number)| (places[item.object as usize], number)).collect();
        row.sort_unstable();
        let row: Vec<u32> = row.into_iter().map(|(_, number)| number).collect();
        chains::cut(&row, items, domains)
    });
}
