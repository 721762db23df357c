//! Shapes: which elements are selected, by a layout and by hand.

use chare::Layout;
use chare::layout::Dims;
use serde::{Deserialize, Serialize};

/// Elements of a buffer of which some are selected.
pub(crate) const LEN: usize = GRID[0] * GRID[1];

/// Rows and columns of the buffer as a grid.
const GRID: [usize; 2] = [2304, 16];

/// Elements of a long run: a page of them.
const LONG: usize = 1024;

/// Which elements are meant. All select as many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// Side by side, from the first one on.
    Front,
    /// Every second element.
    EveryOther,
    /// Runs of 4 KiB as far apart.
    LongRuns,
    /// Four columns of a grid.
    Columns,
    /// By a list, in no order.
    Listed,
}

impl Shape {
    pub(crate) const ALL: [Self; 5] =
        [Self::Front, Self::EveryOther, Self::LongRuns, Self::Columns, Self::Listed];

    /// How many elements each selects: too many to travel with a message, over whatever network.
    pub(crate) const COUNT: usize = 4 * GRID[0];

    pub(crate) fn layout(self) -> Layout<u32> {
        let (count, long) = (Self::COUNT as u64, LONG as u64);
        let layout = match self {
            Self::Front => Layout::contiguous(count),
            Self::EveryOther => Layout::vector(count, 1, 2),
            Self::LongRuns => Layout::vector(count / long, long, 2 * LONG as i64),
            Self::Columns => Dims::new(GRID).try_select((.., 3..7)),
            Self::Listed => {
                let places: Vec<i64> = self.places().into_iter().map(|place| place as i64).collect();
                Layout::indexed_block(1, &places)
            }
        };
        layout.expect("it fits")
    }

    /// The places of the elements, in the layout's order.
    pub(crate) fn places(self) -> Vec<usize> {
        let place = |element: usize| match self {
            Self::Front => element,
            Self::EveryOther => 2 * element,
            Self::LongRuns => element / LONG * 2 * LONG + element % LONG,
            Self::Columns => element / 4 * GRID[1] + 3 + element % 4,
            // A factor that has no divisor in common with the length permutes the places.
            Self::Listed => element * 40_507 % LEN,
        };
        (0..Self::COUNT).map(place).collect()
    }
}

/// A buffer of what nobody wrote, with the first `elements` at the places of a shape.
pub(crate) fn scattered(shape: Shape, elements: &[u32], untouched: u32) -> Vec<u32> {
    let mut all = vec![untouched; LEN];
    shape.places().into_iter().zip(elements).for_each(|(place, element)| all[place] = *element);
    all
}

/// What a shape selects of a buffer.
pub(crate) fn gathered(shape: Shape, all: &[u32]) -> Vec<u32> {
    shape.places().into_iter().map(|place| all[place]).collect()
}
