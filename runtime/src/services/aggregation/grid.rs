//! The virtual grid of PEs: the neighbours of each PE, and the next PE on the way to another one.
//!
//! 1. The sides of the grid are equal: the coordinates of a PE are the digits of its number to the base of their length. The last rows
//!    may be incomplete or missing.
//! 2. Each hop corrects one coordinate, so there are as many hops as coordinates differ.
//! 3. No way leads through a hole. Take the highest coordinate that differs. If the target's is the smaller one, it is corrected first:
//!    the next PE's number is smaller than the present one's. Else the lower coordinates are corrected first: the next number is smaller
//!    than the target's. Every number smaller than that of a PE that exists belongs to a PE that exists.

use crate::model::ids::PeId;

/// The grid of all PEs of a job; see the file's head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    dimensions: u32,
    side: u32,
}

impl Grid {
    /// The smallest grid of so many dimensions that has room for so many PEs.
    pub(super) fn new(pes: u32, dimensions: u32) -> Self {
        let has_room = |side: &u32| u64::from(*side).pow(dimensions) >= u64::from(pes);
        let side = (1..=pes).find(has_room).expect("a row has room for all");
        Self { dimensions, side }
    }

    fn coordinate(self, pe: PeId, dimension: u32) -> u32 {
        (u64::from(pe.0) / self.stride(dimension) % u64::from(self.side)) as u32
    }

    fn stride(self, dimension: u32) -> u64 {
        u64::from(self.side).pow(dimension)
    }

    /// The PE after `from` on the way to `to`, which are different PEs.
    pub(super) fn next(self, from: PeId, to: PeId) -> PeId {
        let differing =
            |dimension: &u32| self.coordinate(from, *dimension) != self.coordinate(to, *dimension);
        let highest = (0..self.dimensions).rev().find(differing).expect("different PEs differ somewhere");
        let lowest = (0..=highest).find(differing).unwrap_or(highest);
        let is_smaller = self.coordinate(to, highest) < self.coordinate(from, highest);
        let corrected = if is_smaller { highest } else { lowest };
        let [before, after] =
            [from, to].map(|pe| u64::from(self.coordinate(pe, corrected)) * self.stride(corrected));
        PeId((u64::from(from.0) - before + after) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_corrects_one_coordinate_after_the_other_and_leads_through_no_hole() {
        for dimensions in 1..=3 {
            for pes in (1..40).chain([63, 64, 65, 100, 121]) {
                let grid = Grid::new(pes, dimensions);
                let differences = |one, other| {
                    let differs = |dimension: &u32| {
                        grid.coordinate(one, *dimension) != grid.coordinate(other, *dimension)
                    };
                    (0..dimensions).filter(differs).count()
                };
                for (from, to) in (0..pes * pes).map(|pair| (PeId(pair / pes), PeId(pair % pes))) {
                    let mut at = from;
                    while at != to {
                        let next = grid.next(at, to);
                        assert!(next.0 < pes, "{pes} PEs, {dimensions} dimensions: {from} to {to} by {next}");
                        assert_eq!(differences(at, next), 1);
                        assert_eq!(differences(next, to) + 1, differences(at, to));
                        at = next;
                    }
                }
            }
        }
    }

    #[test]
    fn more_dimensions_have_fewer_neighbours() {
        let neighbours = |dimensions| {
            let grid = Grid::new(1000, dimensions);
            let next: std::collections::BTreeSet<_> =
                (1..1000).map(|to| grid.next(PeId(0), PeId(to)).0).collect();
            next.len()
        };
        assert_eq!([1, 2, 3].map(neighbours), [999, 31 + 31, 27]);
    }
}
