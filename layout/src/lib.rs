//! Derived data layouts as values: which bytes of a buffer are meant, in which order, and copies between two such selections in
//! one pass.
//!
//! ```
//! use chare_layout::{Dims, Layout, Plan};
//! # fn main() -> Result<(), chare_layout::LayoutError> {
//! // The east face of the inside of a grid, and the west frame of a neighbour's.
//! let grid = Dims::new([6, 6, 6]);
//! let east: Layout<f64> = grid.select((1..=4, 1..=4, 4));
//! let west: Layout<f64> = grid.select((1..=4, 1..=4, 0));
//! let plan = Plan::new(&east, &west)?;
//!
//! let source: Vec<u8> = (0..6 * 6 * 6 * 8).map(|byte| byte as u8).collect();
//! let mut target = vec![0; source.len()];
//! chare_layout::copy(&plan, &source, &mut target)?;
//! let (from, to) = ((36 + 6 + 4) * 8, (36 + 6) * 8);
//! assert_eq!(target[to..to + 8], source[from..from + 8]);
//! # Ok(())
//! # }
//! ```
//!
//! A layout is a value: made once, shared by cloning, compared by content, never committed or freed.
//!
//! 1. *The type map.* A layout is a list of pieces of memory in an order, as MPI defines it: the packed stream has the pieces
//!    one after the other. [`Raw`]'s constructors mean what MPI's mean; [`Layout`] counts in elements; [`Dims`] selects from
//!    arrays; [`Datatype`] pads and marks bounds as MPI does.
//! 2. *The canonical form* keeps that order and forgets how it was written (`value/canonical/mod.rs` has the rules). Equal forms have
//!    equal digests, so that a peer knows a layout again without being told.
//! 3. *The packed stream* can be entered anywhere: a [`Cursor`] is a number.
//! 4. *A plan* joins two layouts of streams that go together to one nest of copies: no packing between them.
//! 5. *A partition* deals one buffer out: a layout for each part, none of which shares an element with another.
//! 6. *Bounds are checked once*, before a kernel runs; kernels take raw pointers, for memory that others may touch.
//!
//! It knows no chare, no network and no thread.

mod cursor;
mod kernels;
mod make;
mod plan;
mod value;

pub use cursor::Cursor;
pub use kernels::front::{copy, pack, pack_range, unpack, unpack_range};
pub use make::arrays::{Distributed, Distribution, Order};
pub use make::datatype::Datatype;
pub use make::dims::{Along, Dims, Selection};
pub use make::layout::Layout;
pub use make::partition::{Partition, RawPartition};
pub use plan::Plan;
pub use plan::copies::Copies;
pub use plan::cost::{Method, Rates, lines};
pub use plan::nest::Pair;
pub use plan::pieces::Pieces;
pub use value::error::LayoutError;
pub use value::limits::{DEPTH_MAX, INDICES_MAX, LOOPS_MAX, OPS_MAX};
pub use value::raw::Raw;
pub use value::runs::Runs;
