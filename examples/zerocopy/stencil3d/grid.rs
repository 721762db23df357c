//! A box of points with a frame of one point around it, and Jacobi's sweep over it.
//!
//! The inside of the box and the six faces of its frame are parts of one array: the faces of the inside leave from where they lie, and those
//! of the neighbours land in the frame, both at once. No face is ever packed.

use chare::layout::Dims;
use chare::{BufferMut, Layout, Part, PartLayout, PartMut, Rest, SendPart, Shown};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The temperature that heated points keep.
const HEATED: f64 = 255.0;

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Side {
    Left,
    Right,
    Bottom,
    Top,
    Front,
    Back,
}

impl Side {
    pub(crate) const ALL: [Self; 6] =
        [Self::Left, Self::Right, Self::Bottom, Self::Top, Self::Front, Self::Back];

    pub(crate) fn opposite(self) -> Self {
        Self::ALL[self as usize ^ 1]
    }

    /// The axis that the side closes, and whether it is the upper end.
    pub(crate) fn axis(self) -> (usize, bool) {
        (self as usize / 2, self as usize % 2 == 1)
    }
}

/// Points of a box along x, y and z.
pub(crate) type Extent = [usize; 3];

/// Temperatures of a box and its frame.
struct Field {
    rest: Rest<f64>,
    /// While it is written; shared otherwise.
    inside: Option<PartMut<f64>>,
    shared: Option<Part<f64>>,
    /// By side; out while filled.
    frame: [Option<PartMut<f64>>; 6],
    /// Faces of the frame that are filled.
    filled: usize,
}

/// Temperatures of a box and its frame, before a sweep and after it.
pub(crate) struct Grid {
    extent: Extent,
    /// Points whose coordinate is a multiple of this along any axis stay heated.
    heated_every: Extent,
    /// Its inside is shared.
    now: Field,
    next: Field,
    /// The outermost layers of the inside, by side.
    faces: [PartLayout<f64>; 6],
}

/// The points of a box with its frame, in memory; the range of each axis, x first.
fn select(extent: Extent, [x, y, z]: [RangeInclusive<usize>; 3]) -> Layout<f64> {
    Dims::new([extent[2] + 2, extent[1] + 2, extent[0] + 2]).select((z, y, x))
}

/// The points of one layer across a side's axis, within the frame along the other axes.
fn layer(extent: Extent, side: Side, at_upper: usize, at_lower: usize) -> Layout<f64> {
    let (axis, is_upper) = side.axis();
    let mut ranges = extent.map(|points| 1..=points);
    let at = if is_upper { extent[axis] + at_upper } else { at_lower };
    ranges[axis] = at..=at;
    select(extent, ranges)
}

impl Field {
    fn new(extent: Extent) -> Self {
        let inside = select(extent, extent.map(|points| 1..=points));
        let [a, b, c, d, e, f] = Side::ALL.map(|side| layer(extent, side, 1, 0));
        let points = extent.iter().map(|points| points + 2).product();
        let split = BufferMut::zeroed(points).split([&inside, &a, &b, &c, &d, &e, &f]);
        let (rest, [inside, frame @ ..]) = split.expect("a box and the faces of its frame share no point");
        Self { rest, inside: Some(inside), shared: None, frame: frame.map(Some), filled: 0 }
    }

    fn share(&mut self) {
        self.shared = self.inside.take().map(PartMut::share);
    }

    /// The whole, when all faces of the frame are here.
    fn whole(&self) -> Option<&[f64]> {
        let frame: Option<Vec<_>> =
            self.frame.iter().map(|face| face.as_ref().map(|face| face as &dyn Shown)).collect();
        self.rest.whole(frame?.into_iter().chain(self.shared.as_ref().map(|inside| inside as &dyn Shown)))
    }
}

impl Grid {
    /// A cold box with heated points.
    pub(crate) fn new(extent: Extent, heated_every: Extent) -> Self {
        let (mut now, next) = (Field::new(extent), Field::new(extent));
        let inside = now.inside.as_mut().expect("nobody shares it yet");
        let faces = Side::ALL.map(|side| {
            inside.within(&layer(extent, side, 0, 1)).expect("a layer of the inside belongs to no other part")
        });
        let mut grid = Self { extent, heated_every, now, next, faces };
        grid.write(|_, _| 0.0);
        grid
    }

    /// Writes the inside of the next temperatures, where points are not heated: `value` of a point's position among all and of those of
    /// now. They are those of now from then on.
    fn write(&mut self, value: impl Fn(&[f64], usize) -> f64) {
        let Self { extent: [width, height, _], heated_every, now, next, .. } = self;
        let inside = next.inside.as_mut().expect("nobody reads what is to be written");
        let now = now.whole().unwrap_or_default();
        for (number, row) in inside.rows_mut().enumerate() {
            let (y, z) = (number % *height, number / *height);
            let start = ((z + 1) * (*height + 2) + y + 1) * (*width + 2) + 1;
            for (x, point) in row.iter_mut().enumerate() {
                let is_heated =
                    [x, y, z].iter().zip(&*heated_every).any(|(at, every)| at.is_multiple_of(*every));
                *point = if is_heated { HEATED } else { value(now, start + x) };
            }
        }
        next.share();
        std::mem::swap(&mut self.now, &mut self.next);
        // What it was swept from may still be read by neighbours.
        self.next.filled = 0;
    }

    /// Every point becomes the mean of itself and its six neighbours; heated points stay.
    ///
    /// # Panics
    /// If the frame is not filled, or what is to be written is still read: see [`Grid::is_ready`].
    pub(crate) fn sweep(&mut self) {
        let (row, layer) = (self.extent[0] + 2, (self.extent[0] + 2) * (self.extent[1] + 2));
        self.write(|now, at| {
            let neighbours = [at, at - 1, at + 1, at - row, at + row, at - layer, at + layer];
            neighbours.map(|position| now[position]).iter().sum::<f64>() / 7.0
        });
    }

    /// Whether the frame is filled, and no neighbour reads any more what the sweep is to write.
    pub(crate) fn is_ready(&mut self) -> bool {
        if let Some(shared) = self.next.shared.take() {
            match shared.try_into_mut() {
                Ok(inside) => self.next.inside = Some(inside),
                Err(shared) => self.next.shared = Some(shared),
            }
        }
        self.next.inside.is_some() && self.now.filled == Side::ALL.len()
    }

    /// The outermost layer of points at a side, where it lies.
    pub(crate) fn face(&self, side: Side) -> SendPart<f64> {
        let inside = self.now.shared.clone().expect("temperatures of now are shared");
        inside.only(&self.faces[side as usize])
    }

    /// The values of that layer, for an ordinary argument.
    pub(crate) fn face_values(&self, side: Side) -> Vec<f64> {
        let inside = self.now.shared.as_ref().expect("temperatures of now are shared");
        inside.rows_in(&self.faces[side as usize]).flatten().copied().collect()
    }

    fn field(&mut self, is_ahead: bool) -> &mut Field {
        if is_ahead { &mut self.next } else { &mut self.now }
    }

    /// The frame at a side, to be filled: of this iteration, or of the one ahead.
    pub(crate) fn take_frame(&mut self, side: Side, is_ahead: bool) -> PartMut<f64> {
        let frame = self.field(is_ahead).frame[side as usize].take();
        frame.expect("a neighbour is at most one iteration ahead")
    }

    /// Puts a frame back that was filled.
    pub(crate) fn put_frame(&mut self, side: Side, is_ahead: bool, filled: PartMut<f64>) {
        let field = self.field(is_ahead);
        field.frame[side as usize] = Some(filled);
        field.filled += 1;
    }

    /// Sets the frame at a side to a neighbour's face.
    pub(crate) fn set_frame<'a>(&mut self, side: Side, face: impl IntoIterator<Item = &'a f64>) {
        let mut frame = self.take_frame(side, false);
        frame.rows_mut().flatten().zip(face).for_each(|(point, value)| *point = *value);
        self.put_frame(side, false, frame);
    }

    /// The result of `iterations` sweeps over a whole box that continues at its opposite side.
    pub(crate) fn solve(extent: Extent, heated_every: Extent, iterations: u32) -> Self {
        let mut grid = Self::new(extent, heated_every);
        for _ in 0..iterations {
            for side in Side::ALL {
                let face = grid.face_values(side);
                grid.set_frame(side.opposite(), &face);
            }
            assert!(grid.is_ready(), "nobody else reads it");
            grid.sweep();
        }
        grid
    }

    /// The temperatures within the frame, row by row along x.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.now.shared.iter().flat_map(Part::rows)
    }
}
