//! The field: its blocks, the 26 neighbours of each, what of a block they need, and what a point is. It knows no chares.

use chare::layout::{Dims, Layout};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A block, by its place along each axis.
pub(crate) type Place = (u32, u32, u32);

/// How many points were wrong, in all blocks; nanoseconds that the slowest block took for all exchanges that count.
pub(crate) type Seen = (u64, u64);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Along each axis.
    pub(crate) blocks: [u32; 3],
    /// Points of a block along each axis.
    pub(crate) side: usize,
    /// How deep the halo is.
    pub(crate) radius: usize,
    /// How many exchanges count.
    pub(crate) exchanges: u32,
}

/// How halos are exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Exchange {
    /// What layouts select is sent, where it lies.
    Layouts,
    /// Each piece is packed, sent and unpacked by hand.
    ByHand,
}

impl Exchange {
    pub(crate) const ALL: [Self; 2] = [Self::Layouts, Self::ByHand];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Layouts => "by layouts",
            Self::ByHand => "by hand",
        }
    }
}

/// The way to one of the 26 neighbours: back, along or ahead on each axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Way([i8; 3]);

impl Way {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let ways = (0..27).map(|way| Self([way / 9, way / 3 % 3, way % 3].map(|step: i8| step - 1)));
        ways.filter(|way| way.0 != [0; 3])
    }

    /// Its place in the order of [`Way::all`].
    pub(crate) fn number(self) -> usize {
        let of_27 = self.0.iter().fold(0, |number, step| 3 * number + (step + 1) as usize);
        of_27 - usize::from(of_27 > 13)
    }

    pub(crate) fn back(self) -> Self {
        Self(self.0.map(|step| -step))
    }

    /// What it is along each axis: `behind`, `along` or `ahead`.
    fn ranges<T: Clone>(self, [behind, along, ahead]: [Range<T>; 3]) -> [Range<T>; 3] {
        self.0.map(|step| [&behind, &along, &ahead][(step + 1) as usize].clone())
    }
}

impl Problem {
    /// The block beyond this way; the field continues at its opposite sides.
    pub(crate) fn beside(&self, (x, y, z): Place, way: Way) -> Place {
        let at = |axis: usize, place: u32| {
            let blocks = self.blocks[axis];
            (place + blocks).wrapping_add_signed(way.0[axis].into()) % blocks
        };
        (at(0, x), at(1, y), at(2, z))
    }

    /// What the neighbour on this way needs of a block that has so many ghosts before and after its points, along each axis.
    pub(crate) fn edge(&self, way: Way, ghosts: usize) -> Layout<f64> {
        let (first, end) = (ghosts, ghosts + self.side);
        let ranges = [first..first + self.radius, first..end, end - self.radius..end];
        self.select(way.ranges(ranges), ghosts)
    }

    /// The ghosts of the neighbour on this way, around a block.
    pub(crate) fn ghosts(&self, way: Way) -> Layout<f64> {
        let (first, end) = (self.radius, self.radius + self.side);
        self.select(way.ranges([0..first, first..end, end..end + self.radius]), self.radius)
    }

    /// The points of a block itself, between its ghosts.
    pub(crate) fn inside(&self) -> Layout<f64> {
        self.select([(); 3].map(|()| self.radius..self.radius + self.side), self.radius)
    }

    fn select(&self, [x, y, z]: [Range<usize>; 3], ghosts: usize) -> Layout<f64> {
        Dims::new([self.side + 2 * ghosts; 3]).select((x, y, z))
    }

    /// The points of a block, the last axis running fastest.
    pub(crate) fn points(&self, block: Place) -> impl Iterator<Item = f64> {
        self.values(block, [(); 3].map(|()| 0..self.side as i64))
    }

    /// The points that a block has to get from this way.
    pub(crate) fn around(&self, block: Place, way: Way) -> impl Iterator<Item = f64> {
        let (side, radius) = (self.side as i64, self.radius as i64);
        self.values(block, way.ranges([-radius..0, 0..side, side..side + radius]))
    }

    /// Each point is its position in the field, from where the block begins.
    fn values(&self, (x, y, z): Place, [xs, ys, zs]: [Range<i64>; 3]) -> impl Iterator<Item = f64> {
        let (blocks, side) = (self.blocks, self.side as i64);
        let at = move |axis: usize, block: u32, point: i64| {
            (i64::from(block) * side + point).rem_euclid(i64::from(blocks[axis]) * side)
        };
        let along = move |axis: usize| i64::from(blocks[axis]) * side;
        xs.flat_map(move |i| {
            let zs = zs.clone();
            ys.clone().flat_map(move |j| {
                zs.clone()
                    .map(move |k| ((at(0, x, i) * along(1) + at(1, y, j)) * along(2) + at(2, z, k)) as f64)
            })
        })
    }

    /// Bytes that a block gets in an exchange.
    pub(crate) fn bytes(&self) -> u64 {
        Way::all().map(|way| self.edge(way, 0).raw().bytes()).sum()
    }

    /// Exchanges in all, of one way: one before those that count, and one after.
    pub(crate) fn all_exchanges(&self) -> u32 {
        self.exchanges + 2
    }

    /// Whether an exchange is compared point by point, and not timed.
    pub(crate) fn is_checked(&self, exchange: u32) -> bool {
        exchange == 0 || exchange + 1 == self.all_exchanges()
    }
}
