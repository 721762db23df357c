//! Recursive coordinate bisection: the box of all objects is halved across its longest side, with half of the work and half of the domains
//! on either side, and so on.

use super::domain::{Domain, Item, middle, share};
use super::positioned::by_positions;
use crate::model::loads::{Loads, Moves};
use std::cmp::Ordering;

/// Spreads the objects that have positions by halving the space: `O(n log p)` for `n` objects on `p` PEs.
pub(super) fn rcb(loads: &Loads, moves: &mut Moves) {
    by_positions(loads, moves, |items, domains| {
        let point = |item: &Item| loads.objects()[item.object as usize].position.unwrap_or_default();
        let load = |(item, number): (&Item, u32)| Point { at: point(item), load: item.load, number };
        let mut points: Vec<Point> = items.iter().zip(0..).map(load).collect();
        let mut places = vec![0; items.len()];
        halve(&mut points, domains, 0, &mut places);
        places
    });
}

#[derive(Clone, Copy)]
struct Point {
    at: [f64; 3],
    load: f64,
    number: u32,
}

/// Spreads points over domains, the first of which has the number `first`.
fn halve(points: &mut [Point], domains: &[Domain], first: u32, places: &mut [u32]) {
    if points.is_empty() {
        return;
    }
    if domains.len() == 1 {
        points.iter().for_each(|point| places[point.number as usize] = first);
        return;
    }
    let axis = longest_side(points);
    let (left, right) = domains.split_at(middle(domains));
    let work = share(points.iter().map(|point| point.load).sum(), left, right);
    let count = split(points, work, |one, other| compare(one, other, axis));
    let (below, above) = points.split_at_mut(count);
    halve(below, left, first, places);
    halve(above, right, first + left.len() as u32, places);
}

fn longest_side(points: &[Point]) -> usize {
    let side = |axis: usize| {
        let coordinates = || points.iter().map(|point| point.at[axis] / 2.0);
        coordinates().fold(f64::NEG_INFINITY, f64::max) - coordinates().fold(f64::INFINITY, f64::min)
    };
    let sides = [side(0), side(1), side(2)];
    (0..3).max_by(|one, other| sides[*one].total_cmp(&sides[*other])).unwrap_or_default()
}

/// Along an axis; where that says nothing along the others, so that a cut through a plane of points is straight, too.
fn compare(one: &Point, other: &Point, axis: usize) -> Ordering {
    let along = |axis: usize| one.at[axis].total_cmp(&other.at[axis]);
    along(axis).then(along((axis + 1) % 3)).then(along((axis + 2) % 3)).then(one.number.cmp(&other.number))
}

/// Moves the least points to the front, so many that they weigh as near to `work` as can be; returns how many.
fn split(points: &mut [Point], mut work: f64, compare: impl Fn(&Point, &Point) -> Ordering + Copy) -> usize {
    let (mut low, mut high) = (0, points.len());
    while high - low > 1 {
        let middle = (high - low) / 2;
        let rest = &mut points[low..high];
        rest.select_nth_unstable_by(middle, compare);
        let weight: f64 = rest[..middle].iter().map(|point| point.load).sum();
        if weight <= work {
            work -= weight;
            low += middle;
        } else {
            high = low + middle;
        }
    }
    if low < points.len() && points[low].load / 2.0 < work { low + 1 } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(loads: &[f64]) -> Vec<Point> {
        let point =
            |(load, number): (&f64, u32)| Point { at: [f64::from(number), 0.0, 0.0], load: *load, number };
        loads.iter().zip(0..).map(point).collect()
    }

    #[test]
    fn a_split_is_as_near_as_can_be() {
        for (loads, work, expected) in [
            (&[1.0; 8][..], 4.0, 4),
            (&[1.0; 8], 0.0, 0),
            (&[1.0; 8], 8.0, 8),
            (&[5.0, 1.0], 3.0, 1),
            (&[5.0, 1.0], 2.0, 0),
            (&[1.0, 5.0, 1.0], 4.0, 2),
            (&[3.0], 1.0, 0),
            (&[], 0.0, 0),
        ] {
            let mut points = points(loads);
            points.reverse();
            assert_eq!(split(&mut points, work, |one, other| compare(one, other, 0)), expected, "{loads:?}");
            let front = points[..expected].iter().all(|point| (point.number as usize) < expected);
            assert!(front, "{loads:?}");
        }
    }
}
