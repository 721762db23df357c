//! Shapes: what of a buffer is packed, each as a layout and by the name that a side is told.

use chare_layout::{Dims, Layout, LayoutError, Raw};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Bytes packed of every shape but faces, matrices, blocks far apart, and what is short.
pub(crate) const PAYLOAD: usize = 2 << 20;

/// Bytes packed of blocks far apart.
const APART: usize = 1 << 20;

/// Elements along each side of the inside of a grid of doubles.
pub(crate) const INSIDE: usize = 128;

/// The same with a frame around it.
pub(crate) const GRID: usize = INSIDE + 2;

/// Elements along each side of a block of a grid.
pub(crate) const BLOCK: usize = 64;

/// Bytes of a double.
pub(crate) const DOUBLE: usize = 8;

/// Bytes of a particle, of which the place (24 from byte 8 on) and then the identity (8 from byte 0 on) are packed.
pub(crate) const PARTICLE: usize = 64;

/// Bytes of those two fields.
pub(crate) const FIELDS: usize = 32;

/// A selection of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Every second block of so many bytes.
    Vector(usize),
    /// Blocks of so many bytes, one of every so many.
    Apart {
        block: usize,
        every: usize,
    },
    /// So many blocks of so many bytes, one of every two.
    Few {
        block: usize,
        count: usize,
    },
    /// The last layer of the inside of a grid along its last, middle or first index.
    FaceX,
    FaceY,
    FaceZ,
    /// A block in a corner of a grid.
    Block,
    /// A quarter of all doubles, by their indices in ascending order, or in none.
    Ascending,
    Shuffled,
    /// The same of so many doubles, in no order.
    Listed(usize),
    /// Two fields of every particle.
    Fields,
    /// A square matrix of doubles with so many rows, by columns.
    Transposed(usize),
}

impl Shape {
    /// By name: `vector-64`, `apart-8-16` (every 16th), `few-8-64` (64 of them), `listed-512`, `transposed-512`, or a word.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let number = |prefix: &str| name.strip_prefix(prefix)?.parse().ok();
        match name {
            "face-x" => Some(Self::FaceX),
            "face-y" => Some(Self::FaceY),
            "face-z" => Some(Self::FaceZ),
            "block" => Some(Self::Block),
            "ascending" => Some(Self::Ascending),
            "shuffled" => Some(Self::Shuffled),
            "fields" => Some(Self::Fields),
            _ => {
                let numbers = |prefix: &str| {
                    let (block, other) = name.strip_prefix(prefix)?.split_once('-')?;
                    Some((block.parse().ok()?, other.parse().ok()?))
                };
                let vector = number("vector-").map(Self::Vector);
                vector
                    .or_else(|| number("transposed-").map(Self::Transposed))
                    .or_else(|| number("listed-").map(Self::Listed))
                    .or_else(|| numbers("apart-").map(|(block, every)| Self::Apart { block, every }))
                    .or_else(|| numbers("few-").map(|(block, count)| Self::Few { block, count }))
            }
        }
    }

    /// Bytes packed.
    pub(crate) fn payload(self) -> usize {
        match self {
            Self::FaceX | Self::FaceY | Self::FaceZ => INSIDE * INSIDE * DOUBLE,
            Self::Transposed(side) => side * side * DOUBLE,
            Self::Apart { .. } => APART,
            Self::Few { block, count } => block * count,
            Self::Listed(count) => count * DOUBLE,
            _ => PAYLOAD,
        }
    }

    /// Bytes of the buffer.
    pub(crate) fn buffer_bytes(self) -> usize {
        match self {
            Self::Vector(_) | Self::Fields => 2 * PAYLOAD,
            Self::FaceX | Self::FaceY | Self::FaceZ | Self::Block => GRID * GRID * GRID * DOUBLE,
            Self::Ascending | Self::Shuffled => 4 * PAYLOAD,
            Self::Transposed(_) => self.payload(),
            Self::Few { .. } => 2 * self.payload(),
            Self::Listed(_) => 4 * self.payload(),
            Self::Apart { every, .. } => every * APART,
        }
    }

    /// Which doubles a list selects; the same in every process.
    pub(crate) fn indices(self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..(self.buffer_bytes() / DOUBLE) as u32).collect();
        all.shuffle(&mut SmallRng::seed_from_u64(1));
        all.truncate(self.payload() / DOUBLE);
        if self == Self::Ascending {
            all.sort_unstable();
        }
        all
    }

    /// As it is said with `chare-layout`.
    pub(crate) fn layout(self) -> Result<Arc<Raw>, LayoutError> {
        let grid = Dims::new([GRID; 3]);
        let inside = 1..=INSIDE;
        let selected = |layout: Layout<f64>| Ok(Arc::clone(layout.raw()));
        match self {
            Self::Vector(block) => {
                Ok(Arc::new(Raw::bytes_of(block as u64)?.vector((PAYLOAD / block) as u64, 1, 2)?))
            }
            Self::Apart { block, every } => {
                let count = (APART / block) as u64;
                Ok(Arc::new(Raw::bytes_of(block as u64)?.vector(count, 1, every as i64)?))
            }
            Self::Few { block, count } => {
                Ok(Arc::new(Raw::bytes_of(block as u64)?.vector(count as u64, 1, 2)?))
            }
            Self::FaceX => selected(grid.select((inside.clone(), inside, INSIDE))),
            Self::FaceY => selected(grid.select((inside.clone(), INSIDE, inside))),
            Self::FaceZ => selected(grid.select((INSIDE, inside.clone(), inside))),
            Self::Block => selected(grid.select((..BLOCK, ..BLOCK, ..BLOCK))),
            Self::Ascending | Self::Shuffled | Self::Listed(_) => {
                let places: Vec<i64> = self.indices().into_iter().map(i64::from).collect();
                selected(Layout::indexed_block(1, &places)?)
            }
            Self::Fields => {
                let fields = Raw::bytes_of(8)?.hindexed(&[3, 1], &[8, 0])?.resized(0, PARTICLE as i64)?;
                Ok(Arc::new(fields.contiguous((PAYLOAD / FIELDS) as u64)?))
            }
            Self::Transposed(side) => selected(Layout::strided(&[side, side], &[1, side as isize])?),
        }
    }
}
