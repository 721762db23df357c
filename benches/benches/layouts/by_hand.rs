//! Hand-written loops: what a program does that packs for itself, with the sizes that it knows as constants.

#![expect(unsafe_code, reason = "loops as a C program has them, without a look at bounds")]

use crate::shape::{BLOCK, DOUBLE, FIELDS, GRID, INSIDE, PARTICLE, PAYLOAD, Shape};

/// Loops over one shape.
pub(crate) struct ByHand {
    shape: Shape,
    /// Of a list alone.
    indices: Vec<u32>,
}

impl ByHand {
    pub(crate) fn new(shape: Shape) -> Self {
        let is_list = matches!(shape, Shape::Ascending | Shape::Shuffled | Shape::Listed(_));
        Self { shape, indices: if is_list { shape.indices() } else { Vec::new() } }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn pack(&self, buffer: &[u8], stream: &mut [u8]) {
        self.check(buffer, stream);
        let (from, to) = (buffer.as_ptr(), stream.as_mut_ptr());
        // SAFETY: both are as long as the shape's pieces reach.
        self.each_piece(|at, place, len| unsafe { from.add(at).copy_to_nonoverlapping(to.add(place), len) });
    }

    pub(crate) fn unpack(&self, stream: &[u8], buffer: &mut [u8]) {
        self.check(buffer, stream);
        let (from, to) = (stream.as_ptr(), buffer.as_mut_ptr());
        // SAFETY: both are as long as the shape's pieces reach.
        self.each_piece(|at, place, len| unsafe { from.add(place).copy_to_nonoverlapping(to.add(at), len) });
    }

    fn check(&self, buffer: &[u8], stream: &[u8]) {
        let lens = (self.shape.buffer_bytes(), self.shape.payload());
        assert_eq!((buffer.len(), stream.len()), lens, "{:?}", self.shape);
    }

    /// Calls `copy` with the place in the buffer, the place in the stream and the length of each piece.
    #[inline(always)]
    fn each_piece(&self, mut copy: impl FnMut(usize, usize, usize)) {
        let mut place = 0;
        let mut next = |at: usize, len: usize| {
            copy(at, place, len);
            place += len;
        };
        let inside = 1..=INSIDE;
        match self.shape {
            // Lengths that a program has as types of its elements.
            Shape::Vector(4) => blocks(4, 2, PAYLOAD, next),
            Shape::Vector(8) => blocks(8, 2, PAYLOAD, next),
            Shape::Vector(16) => blocks(16, 2, PAYLOAD, next),
            Shape::Vector(64) => blocks(64, 2, PAYLOAD, next),
            Shape::Vector(block) => blocks(block, 2, PAYLOAD, next),
            Shape::Few { block: 8, .. } => blocks(8, 2, self.shape.payload(), next),
            Shape::Few { block, .. } => blocks(block, 2, self.shape.payload(), next),
            Shape::Apart { block, every } => blocks(block, every, self.shape.payload(), next),
            Shape::FaceX => {
                for plane in inside.clone() {
                    for row in inside.clone() {
                        next(((plane * GRID + row) * GRID + INSIDE) * DOUBLE, DOUBLE);
                    }
                }
            }
            Shape::FaceY => {
                for plane in inside {
                    next(((plane * GRID + INSIDE) * GRID + 1) * DOUBLE, INSIDE * DOUBLE);
                }
            }
            Shape::FaceZ => {
                for row in inside {
                    next(((INSIDE * GRID + row) * GRID + 1) * DOUBLE, INSIDE * DOUBLE);
                }
            }
            Shape::Block => {
                for plane in 0..BLOCK {
                    for row in 0..BLOCK {
                        next((plane * GRID + row) * GRID * DOUBLE, BLOCK * DOUBLE);
                    }
                }
            }
            Shape::Ascending | Shape::Shuffled | Shape::Listed(_) => {
                for index in &self.indices {
                    next(*index as usize * DOUBLE, DOUBLE);
                }
            }
            Shape::Fields => {
                for particle in 0..PAYLOAD / FIELDS {
                    next(particle * PARTICLE + 8, 24);
                    next(particle * PARTICLE, 8);
                }
            }
            Shape::Transposed(side) => {
                for column in 0..side {
                    for row in 0..side {
                        next((row * side + column) * DOUBLE, DOUBLE);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn blocks(block: usize, every: usize, payload: usize, mut next: impl FnMut(usize, usize)) {
    for step in 0..payload / block {
        next(every * step * block, block);
    }
}
