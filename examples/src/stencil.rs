//! Stencil grid: a block of points with a frame of one point around it, before a sweep and after it, for stencils that reach one point
//! along each axis. It knows no chares.
//!
//! The inside of the block and the sides of its frame are parts of one array: the edges of the inside leave from where they lie, and those
//! of the neighbours land in the frame, both at once. No edge is ever packed.

use chare::{BufferMut, Layout, Part, PartLayout, PartMut, Rest, SendPart, Shown};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::ops::Range;

/// A side of a block: the lower or the upper end of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Side {
    axis: u8,
    is_upper: bool,
}

impl Side {
    /// The sides of a block of so many axes: lower and upper end of the first, then of the next.
    pub fn all(axes: usize) -> impl Iterator<Item = Self> {
        (0..axes as u8).flat_map(|axis| [false, true].map(|is_upper| Self { axis, is_upper }))
    }

    /// The side that a neighbour there touches.
    pub fn opposite(self) -> Self {
        Self { is_upper: !self.is_upper, ..self }
    }

    /// The block beyond this side, if the field goes on there.
    pub fn beside<const D: usize>(self, mut place: [u64; D], blocks: [u64; D]) -> Option<[u64; D]> {
        let axis = usize::from(self.axis);
        let beyond = if self.is_upper { place[axis].checked_add(1) } else { place[axis].checked_sub(1) };
        place[axis] = beyond.filter(|beyond| *beyond < blocks[axis])?;
        Some(place)
    }

    /// The block beyond this side of a field that continues at its opposite side.
    pub fn around<const D: usize>(self, mut place: [u64; D], blocks: [u64; D]) -> [u64; D] {
        let axis = usize::from(self.axis);
        let step = if self.is_upper { 1 } else { blocks[axis] - 1 };
        place[axis] = (place[axis] + step) % blocks[axis];
        place
    }

    /// The axis at whose end it is.
    pub fn axis(self) -> usize {
        self.axis.into()
    }

    /// Whether it is at the upper end.
    pub fn is_upper(self) -> bool {
        self.is_upper
    }

    /// Its place in the order of [`Side::all`].
    fn number(self) -> usize {
        2 * usize::from(self.axis) + usize::from(self.is_upper)
    }
}

/// A line of points along the first axis.
#[derive(Clone, Copy, Debug)]
pub struct Line<const D: usize> {
    /// Where it begins, counted within the block.
    pub place: [usize; D],
    /// The position of its first point among all points of the block and its frame.
    pub start: usize,
}

/// The values of all points of a block and its frame, the first axis running fastest.
struct Field {
    rest: Rest<f64>,
    /// While it is written; shared otherwise.
    inside: Option<PartMut<f64>>,
    shared: Option<Part<f64>>,
    /// By side; out while filled.
    frame: Vec<Option<PartMut<f64>>>,
    /// Sides of the frame that neighbours have filled.
    filled: usize,
}

/// A block of `D` axes and its frame, before a sweep and after it.
pub struct Grid<const D: usize> {
    extent: [usize; D],
    /// Its inside is shared.
    now: Field,
    next: Field,
    /// The outermost points of the inside, by side.
    edges: Vec<PartLayout<f64>>,
}

/// How far two neighbours along each axis lie apart in memory.
fn strides<const D: usize>(extent: [usize; D]) -> [usize; D] {
    let mut stride = 1;
    extent.map(|points| {
        let next = stride * (points + 2);
        std::mem::replace(&mut stride, next)
    })
}

/// The points of these ranges, which count the frame.
fn select<const D: usize>(extent: [usize; D], ranges: &[Range<usize>; D]) -> Layout<f64> {
    let strides = strides(extent);
    let start: usize = ranges.iter().zip(strides).map(|(range, stride)| range.start * stride).sum();
    let shape: Vec<usize> = ranges.iter().rev().map(Range::len).collect();
    let strides: Vec<isize> = strides.iter().rev().map(|stride| *stride as isize).collect();
    let points = Layout::strided(&shape, &strides).and_then(|points| points.shifted(start as i64));
    points.expect("a block lies in memory")
}

fn points_with_frame<const D: usize>(extent: [usize; D]) -> usize {
    extent.iter().map(|points| points + 2).product()
}

/// The points along a side: of the frame, or of the block beside it.
fn layer<const D: usize>(extent: [usize; D], side: Side, in_frame: bool) -> Layout<f64> {
    let mut ranges = extent.map(|points| 1..points + 1);
    let (axis, inwards) = (usize::from(side.axis), usize::from(!in_frame));
    let at = if side.is_upper { extent[axis] + 1 - inwards } else { inwards };
    ranges[axis] = at..at + 1;
    select(extent, &ranges)
}

/// The parts of a field: the inside, and the sides of the frame.
fn parts<const D: usize>(extent: [usize; D]) -> Vec<Layout<f64>> {
    let inside = select(extent, &extent.map(|points| 1..points + 1));
    [inside].into_iter().chain(Side::all(D).map(|side| layer(extent, side, true))).collect()
}

impl Field {
    fn new<const D: usize>(
        extent: [usize; D],
        parts: &[Layout<f64>],
        value: impl Fn([usize; D]) -> f64,
    ) -> Self {
        let values = BufferMut::from_fn(points_with_frame(extent), |at| {
            let mut left = at;
            value(extent.map(|points| {
                let here = left % (points + 2);
                left /= points + 2;
                here
            }))
        });
        Self::of(parts, values)
    }

    /// Divides the values of a block and its frame.
    fn of(parts: &[Layout<f64>], values: BufferMut<f64>) -> Self {
        let split = values.split_all(&parts.iter().collect::<Vec<_>>());
        let (rest, parts) = split.expect("a block and the sides of its frame share no point");
        let mut parts = parts.into_iter().map(Some);
        Self { rest, inside: parts.next().flatten(), shared: None, frame: parts.collect(), filled: 0 }
    }

    fn share(&mut self) {
        self.shared = self.inside.take().map(PartMut::share);
    }

    /// The whole, when all sides of the frame are here.
    fn whole(&self) -> Option<&[f64]> {
        let frame = self.frame.iter().flatten().map(|side| side as &dyn Shown);
        let inside = self.inside.iter().map(|inside| inside as &dyn Shown);
        let shared = self.shared.iter().map(|inside| inside as &dyn Shown);
        self.rest.whole(frame.chain(inside).chain(shared))
    }
}

impl<const D: usize> Grid<D> {
    /// A block of so many points along each axis, before a sweep and after it alike. `value` is asked for each point by its place, which counts the
    /// frame: the block begins at 1.
    pub fn new(extent: [usize; D], value: impl Fn([usize; D]) -> f64) -> Self {
        let parts = parts(extent);
        Self::of(extent, [(); 2].map(|()| Field::new(extent, &parts, &value)))
    }

    fn of(extent: [usize; D], [mut now, next]: [Field; 2]) -> Self {
        let inside = now.inside.as_ref().expect("nobody shares it yet");
        let edge = |side| {
            let edge = inside.within(&layer(extent, side, false));
            edge.expect("an edge of the inside belongs to no other part")
        };
        let edges = Side::all(D).map(edge).collect();
        now.share();
        Self { extent, now, next, edges }
    }

    /// How far the neighbours of a point along each axis are from it, among all points.
    pub fn strides(&self) -> [usize; D] {
        strides(self.extent)
    }

    fn shared(&self) -> &Part<f64> {
        self.now.shared.as_ref().expect("the inside of now is shared")
    }

    /// The outermost points on a side, for the neighbour there, where they lie.
    pub fn edge(&self, side: Side) -> SendPart<f64> {
        self.shared().clone().only(&self.edges[side.number()])
    }

    /// The values of those points, for an ordinary argument.
    pub fn edge_values(&self, side: Side) -> Vec<f64> {
        self.shared().rows_in(&self.edges[side.number()]).flatten().copied().collect()
    }

    fn field(&mut self, is_ahead: bool) -> &mut Field {
        if is_ahead { &mut self.next } else { &mut self.now }
    }

    /// The frame on a side, to be filled: of this sweep, or of the one ahead.
    ///
    /// # Panics
    /// If it is out: a neighbour is at most one sweep ahead.
    pub fn take_frame(&mut self, side: Side, is_ahead: bool) -> PartMut<f64> {
        let frame = self.field(is_ahead).frame[side.number()].take();
        frame.expect("a neighbour is at most one sweep ahead")
    }

    /// Puts a frame back that was filled.
    pub fn put_frame(&mut self, side: Side, is_ahead: bool, filled: PartMut<f64>) {
        let field = self.field(is_ahead);
        field.frame[side.number()] = Some(filled);
        field.filled += 1;
    }

    /// Takes over the edge of the neighbour on a side.
    pub fn set_frame<'a>(&mut self, side: Side, edge: impl IntoIterator<Item = &'a f64>) {
        let mut frame = self.take_frame(side, false);
        frame.rows_mut().flatten().zip(edge).for_each(|(point, value)| *point = *value);
        self.put_frame(side, false, frame);
    }

    /// Whether the edges of so many neighbours are here, and none of them reads any more what the sweep is to write.
    pub fn make_ready(&mut self, neighbours: usize) -> bool {
        if let Some(shared) = self.next.shared.take() {
            match shared.try_into_mut() {
                Ok(inside) => self.next.inside = Some(inside),
                Err(shared) => self.next.shared = Some(shared),
            }
        }
        self.next.inside.is_some() && self.now.filled == neighbours
    }

    /// Sweeps: `set` writes each line of the block, given all points as they are. It finds there what they were a sweep before.
    ///
    /// # Panics
    /// Before [`Grid::make_ready`].
    pub fn sweep(&mut self, mut set: impl FnMut(&[f64], Line<D>, &mut [f64])) {
        let (extent, strides) = (self.extent, self.strides());
        let inside = self.next.inside.as_mut().expect("nobody reads what is to be written");
        let now = self.now.whole().expect("all parts are here");
        for (number, points) in inside.rows_mut().enumerate() {
            let place = place_of_line(extent, number);
            let start = place.iter().zip(strides).map(|(at, stride)| (at + 1) * stride).sum();
            set(now, Line { place, start }, points);
        }
        self.next.share();
        std::mem::swap(&mut self.now, &mut self.next);
        // What it was swept from may still be read by neighbours.
        self.next.filled = 0;
    }

    /// The lines of the block along the first axis, each with its place.
    pub fn lines(&self) -> impl Iterator<Item = ([usize; D], &[f64])> {
        let extent = self.extent;
        self.shared().rows().enumerate().map(move |(number, points)| (place_of_line(extent, number), points))
    }
}

/// A grid of a chare that moves: its extent, and of both fields the values and how many sides of the frame are filled.
///
/// # Errors
/// While a side of a frame is out: a chare whose buffers are being filled does not move.
impl<const D: usize> Serialize for Grid<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = |field| {
            let values = Field::whole(field).ok_or_else(|| ser::Error::custom("a side of the frame is out"));
            values.map(|values| (values, field.filled))
        };
        (&self.extent[..], [whole(&self.now)?, whole(&self.next)?]).serialize(serializer)
    }
}

/// The edges that neighbours still read stay with them: both fields are nobody else's.
impl<'de, const D: usize> Deserialize<'de> for Grid<D> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        type Packed = (Vec<usize>, [(Vec<f64>, usize); 2]);
        let (extent, fields) = Packed::deserialize(deserializer)?;
        let extent: [usize; D] = extent.try_into().map_err(|_| de::Error::custom("a grid of other axes"))?;
        if fields.iter().any(|(values, _)| values.len() != points_with_frame(extent)) {
            return Err(de::Error::custom("a grid of other points"));
        }
        let parts = parts(extent);
        let field = |(values, filled)| Field { filled, ..Field::of(&parts, BufferMut::from(values)) };
        Ok(Self::of(extent, fields.map(field)))
    }
}

/// Where a line begins, by its number.
fn place_of_line<const D: usize>(extent: [usize; D], number: usize) -> [usize; D] {
    let (mut left, mut axis) = (number, 0);
    extent.map(|points| {
        axis += 1;
        if axis == 1 {
            return 0;
        }
        let here = left % points;
        left /= points;
        here
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field in one piece that continues at its opposite side is its own neighbour.
    fn sweep_around<const D: usize>(grid: &mut Grid<D>, set: impl FnMut(&[f64], Line<D>, &mut [f64])) {
        for side in Side::all(D) {
            let edge = grid.edge_values(side);
            grid.set_frame(side.opposite(), &edge);
        }
        assert!(grid.make_ready(2 * D), "nobody else reads it");
        grid.sweep(set);
    }

    #[test]
    fn every_point_has_its_neighbours_along_each_axis() {
        let extent = [4, 3, 2];
        let value = |place: [usize; 3]| (place[0] + 10 * place[1] + 100 * place[2]) as f64;
        let mut grid = Grid::new(extent, value);
        let strides = grid.strides();
        for axis in 0..3 {
            sweep_around(&mut grid, |now, line, points| {
                points.copy_from_slice(&now[line.start + strides[axis]..][..points.len()]);
            });
        }
        for (place, points) in grid.lines() {
            for (x, point) in points.iter().enumerate() {
                let place = [x, place[1], place[2]];
                let moved: Vec<usize> =
                    place.iter().zip(extent).map(|(at, points)| (at + 1) % points + 1).collect();
                assert_eq!(*point, value([moved[0], moved[1], moved[2]]), "{place:?}");
            }
        }
    }

    #[test]
    fn neighbours_end_at_the_border_or_go_around() {
        let [left, right, below, above] = [0, 1, 2, 3].map(|n| Side::all(2).nth(n).expect("four sides"));
        assert_eq!(left.opposite(), right);
        let (place, blocks) = ([0, 4], [3, 5]);
        assert_eq!([left, right].map(|side| side.beside(place, blocks)), [None, Some([1, 4])]);
        assert_eq!([below, above].map(|side| side.beside(place, blocks)), [Some([0, 3]), None]);
        assert_eq!([left, above].map(|side| side.around(place, blocks)), [[2, 4], [0, 0]]);
    }
}
