//! Timeline of a node, for `+trace FILE`: what its PEs did and when, as events that a thread writes into the node's trace file, beside the
//! lines of the backends.
//!
//! 1. A PE collects events as plain data in a block of [`BLOCK_EVENTS`] and leaves a full block with the writer; it neither formats nor
//!    writes. A node without `+trace` has no writer, and its PEs collect nothing.
//! 2. At most [`BLOCKS_PER_PE`] blocks for each PE wait for the writer. A block that finds no room is dropped: its events are counted, and
//!    the writer tells the number, in the file and on standard error.
//! 3. What a PE has collected when it ends is never dropped: there it waits for the writer.
//! 4. A file that cannot be written ends the job.
//! 5. Of the job's time the file has what its [`Recording`](chare_lrts::wrappers::Recording) says; PEs ask it for each event.
//!
//! What a PE collects, and when, is said in `pe/spans.rs`. This is no service: it sends nothing, and what it has to hear of is every entry.

mod event;
mod line;
mod outlet;
mod writing;

pub(crate) use event::{Event, Kind, Move, What};
pub(crate) use outlet::{BLOCK_EVENTS, Block, Outlet};
pub(crate) use writing::Writing;
