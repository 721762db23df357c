//! Matrices whose elements are their own places, ways to have their memory, and partitions of them.

use chare::layout::LayoutError;
use chare::{BufferMut, Layout, Partition, SendBuffer};
use serde::{Deserialize, Serialize};

/// Heights and widths: parts that travel with the call, parts that are fetched, and parts that helpers and both processes copy.
pub(crate) const SIZES: [[usize; 2]; 3] = [[7, 6], [60, 90], [1280, 250]];

/// Where the memory lies, and how a member has its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// In vectors; parts side by side.
    Packed,
    /// In the pool; parts side by side.
    Pooled,
    /// In the pool; parts where they belong in a matrix.
    InPlace,
}

impl How {
    pub(crate) const ALL: [Self; 3] = [Self::Packed, Self::Pooled, Self::InPlace];

    /// Room for so many elements.
    pub(crate) fn target(self, len: usize) -> BufferMut<u64> {
        if self == Self::Packed { vec![0; len].into() } else { BufferMut::zeroed(len) }
    }

    /// These elements, in such memory.
    pub(crate) fn owned(self, elements: Vec<u64>) -> BufferMut<u64> {
        if self == Self::Packed {
            elements.into()
        } else {
            BufferMut::from_fn(elements.len(), |at| elements[at])
        }
    }

    /// A part of a matrix of so many elements, as its member has it.
    pub(crate) fn part(self, part: &Layout<u64>, len: usize) -> SendBuffer<u64> {
        if self != Self::InPlace {
            return self.owned(places(part).collect()).into();
        }
        let mut matrix = BufferMut::zeroed(len);
        places(part).for_each(|place| matrix[place as usize] = place);
        SendBuffer::from(matrix).only(part)
    }
}

/// The elements of a part.
pub(crate) fn places(part: &Layout<u64>) -> impl Iterator<Item = u64> {
    part.runs().flat_map(|(at, len)| at as u64 / 8..(at as u64 + len) / 8)
}

/// A matrix.
pub(crate) fn numbered(len: usize) -> Vec<u64> {
    (0..len as u64).collect()
}

/// Whether these are the elements of a matrix.
pub(crate) fn is_whole(elements: &[u64]) -> bool {
    elements.iter().zip(0..).all(|(element, place)| *element == place)
}

/// Partitions of each kind.
pub(crate) fn partitions(sizes: [usize; 2], parts: usize) -> Vec<Partition<u64>> {
    let all = [
        Partition::rows(sizes, parts),
        Partition::columns(sizes, parts),
        Partition::cyclic(sizes, [1, 2], [1, parts]),
        table(sizes, parts),
    ];
    all.into_iter().map(|partition| partition.expect("a partition")).collect()
}

/// Rows in turn, each member's from the last to the first.
fn table([height, width]: [usize; 2], parts: usize) -> Result<Partition<u64>, LayoutError> {
    let rows_of = |part| {
        let rows = (0..height).rev().filter(|row| row * 7 % parts == part);
        Layout::indexed_block(width as u64, &rows.map(|row| (row * width) as i64).collect::<Vec<_>>())
    };
    let parts: Result<Vec<_>, _> = (0..parts).map(rows_of).collect();
    Partition::table(height * width, &parts?)
}
