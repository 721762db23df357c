//! Grid of one block: its points with a frame of one point around them, which holds the neighbours' edges or the rectangle's
//! boundary. It knows no chares.
//!
//! The inside and the four sides of the frame are parts of one array: the edges of the inside leave from where they lie, and those of the
//! neighbours land in the frame, both at once. No edge is ever packed.

use crate::problem::Side;
use chare::layout::Dims;
use chare::{BufferMut, Layout, Part, PartLayout, PartMut, Rest, SendPart, Shown};
use std::ops::Range;

/// The values of all points of a block and its frame, row by row.
struct Field {
    rest: Rest<f64>,
    /// While it is written; shared otherwise.
    inside: Option<PartMut<f64>>,
    shared: Option<Part<f64>>,
    /// By side; out while filled.
    frame: [Option<PartMut<f64>>; 4],
    /// Sides of the frame that neighbours have filled.
    filled: usize,
}

/// A part of the rectangle, swept by Jacobi's method.
pub(crate) struct Grid {
    /// Unknowns of the whole, from left to right and from bottom to top.
    whole: (u64, u64),
    columns: Range<u64>,
    rows: Range<u64>,
    /// Its inside is shared.
    now: Field,
    next: Field,
    /// The outermost lines of unknowns, by side.
    edges: [PartLayout<f64>; 4],
}

/// The exact solution at a point of the framed whole; the longer side has length 1.
fn exact(whole: (u64, u64), (column, row): (u64, u64)) -> f64 {
    let spacing = 1.0 / (whole.0.max(whole.1) + 1) as f64;
    let (x, y) = (column as f64 * spacing, row as f64 * spacing);
    x * x - y * y
}

/// The line of a block of `width` x `height` unknowns along a side: of the frame, or of the unknowns beside it.
fn line((width, height): (usize, usize), side: Side, in_frame: bool) -> Layout<f64> {
    let (points, inwards) = (Dims::new([height + 2, width + 2]), usize::from(!in_frame));
    match side {
        Side::Left => points.select((1..=height, inwards)),
        Side::Right => points.select((1..=height, width + 1 - inwards)),
        Side::Below => points.select((inwards, 1..=width)),
        Side::Above => points.select((height + 1 - inwards, 1..=width)),
    }
}

impl Field {
    /// 0 inside, and the values of `frame` around it.
    fn new((width, height): (usize, usize), frame: impl Fn(usize, usize) -> f64) -> Self {
        let inside = Dims::new([height + 2, width + 2]).select((1..=height, 1..=width));
        let [a, b, c, d] = Side::ALL.map(|side| line((width, height), side, true));
        let is_inside = |row, column| (1..=height).contains(&row) && (1..=width).contains(&column);
        let values = BufferMut::from_fn((width + 2) * (height + 2), |at| {
            let (row, column) = (at / (width + 2), at % (width + 2));
            if is_inside(row, column) { 0.0 } else { frame(column, row) }
        });
        let split = values.split([&inside, &a, &b, &c, &d]);
        let (rest, [inside, frame @ ..]) = split.expect("a block and the sides of its frame share no point");
        Self { rest, inside: Some(inside), shared: None, frame: frame.map(Some), filled: 0 }
    }

    fn share(&mut self) {
        self.shared = self.inside.take().map(PartMut::share);
    }

    /// The whole, when it is shared and all sides of the frame are here.
    fn whole(&self) -> &[f64] {
        let frame = self.frame.iter().flatten().map(|side| side as &dyn Shown);
        let parts = frame.chain(self.shared.iter().map(|inside| inside as &dyn Shown));
        self.rest.whole(parts).expect("all parts are here")
    }
}

impl Grid {
    /// The unknowns `columns` x `rows`, counted from 0 over the whole: 0 inside, the boundary where it is.
    pub(crate) fn new(whole: (u64, u64), columns: Range<u64>, rows: Range<u64>) -> Self {
        let size = ((columns.end - columns.start) as usize, (rows.end - rows.start) as usize);
        let boundary = |column: usize, row: usize| {
            let place = (columns.start + column as u64, rows.start + row as u64);
            let is_boundary = place.0 == 0 || place.0 > whole.0 || place.1 == 0 || place.1 > whole.1;
            if is_boundary { exact(whole, place) } else { 0.0 }
        };
        let [mut now, next] = [(); 2].map(|()| Field::new(size, boundary));
        let inside = now.inside.as_ref().expect("nobody shares it yet");
        let edges = Side::ALL.map(|side| {
            inside.within(&line(size, side, false)).expect("an edge of the inside belongs to no other part")
        });
        now.share();
        Self { whole, columns, rows, now, next, edges }
    }

    fn width(&self) -> usize {
        (self.columns.end - self.columns.start) as usize
    }

    fn shared(&self) -> &Part<f64> {
        self.now.shared.as_ref().expect("the inside of now is shared")
    }

    /// The outermost line of unknowns on a side, for the neighbour there, where it lies.
    pub(crate) fn edge(&self, side: Side) -> SendPart<f64> {
        self.shared().clone().only(&self.edges[side as usize])
    }

    /// The values of that line, for an ordinary argument.
    pub(crate) fn edge_values(&self, side: Side) -> Vec<f64> {
        self.shared().rows_in(&self.edges[side as usize]).flatten().copied().collect()
    }

    fn field(&mut self, is_ahead: bool) -> &mut Field {
        if is_ahead { &mut self.next } else { &mut self.now }
    }

    /// The frame on a side, to be filled: of this iteration, or of the one ahead.
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

    /// Takes over the edge of the neighbour on a side.
    pub(crate) fn set_frame<'a>(&mut self, side: Side, edge: impl IntoIterator<Item = &'a f64>) {
        let mut frame = self.take_frame(side, false);
        frame.rows_mut().flatten().zip(edge).for_each(|(point, value)| *point = *value);
        self.put_frame(side, false, frame);
    }

    /// Whether the edges of so many neighbours are here, and none of them reads any more what the sweep is to write.
    pub(crate) fn is_ready(&mut self, neighbours: usize) -> bool {
        if let Some(shared) = self.next.shared.take() {
            match shared.try_into_mut() {
                Ok(inside) => self.next.inside = Some(inside),
                Err(shared) => self.next.shared = Some(shared),
            }
        }
        self.next.inside.is_some() && self.now.filled == neighbours
    }

    /// One iteration; returns the largest change of a point.
    ///
    /// # Panics
    /// Before [`Grid::is_ready`].
    pub(crate) fn sweep(&mut self) -> f64 {
        let stride = self.width() + 2;
        let inside = self.next.inside.as_mut().expect("nobody reads what is to be written");
        let now = self.now.whole();
        let mut change = 0.0_f64;
        for (row, points) in inside.rows_mut().enumerate() {
            let start = (row + 1) * stride + 1;
            for (at, point) in (start..).zip(points) {
                *point = 0.25 * (now[at - 1] + now[at + 1] + now[at - stride] + now[at + stride]);
                change = change.max((*point - now[at]).abs());
            }
        }
        self.next.share();
        std::mem::swap(&mut self.now, &mut self.next);
        self.next.filled = 0;
        change
    }

    /// The largest distance from the exact solution.
    pub(crate) fn error(&self) -> f64 {
        let distance = |(row, points): (usize, &[f64])| {
            let place =
                |column: usize| (self.columns.start + 1 + column as u64, self.rows.start + 1 + row as u64);
            let points = points.iter().enumerate();
            points.map(|(column, value)| (value - exact(self.whole, place(column))).abs()).fold(0.0, f64::max)
        };
        self.shared().rows().enumerate().map(distance).fold(0.0, f64::max)
    }
}
