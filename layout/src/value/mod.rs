//! Layouts as values: operations in the order of the type map, their canonical form, and what follows from it. How a user writes a layout
//! down (`make`), and copies (`plan`, `kernels`), never stand here.

pub(crate) mod bounds;
pub(crate) mod canonical;
mod divisor;
mod encoded;
pub(crate) mod error;
mod injective;
pub(crate) mod limits;
pub(crate) mod lists;
pub(crate) mod op;
pub(crate) mod range;
pub(crate) mod raw;
pub(crate) mod runs;
pub(crate) mod sums;
pub(crate) mod walk;
