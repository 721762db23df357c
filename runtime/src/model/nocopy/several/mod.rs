//! Several buffers under one argument: one message, one transfer, one release for all of them.
//!
//! 1. The pieces are buffers, parts of buffers, or what layouts select of them, of any element types; packed, they follow each other in the
//!    order in which they were given.
//! 2. To the rest of the runtime they are one memory, from the first byte of the lowest piece to the last of the highest, with a layout
//!    beside which nobody looks: see [`span`]. So MPI says it with a struct of absolute addresses.

mod landed;
mod sent;
mod span;

pub use landed::SeveralMut;
pub use sent::Several;
