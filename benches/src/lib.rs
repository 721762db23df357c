//! Measured comparisons: a side of ours beside a peer that does the least which the machine allows.
//!
//! 1. A *side* is a process of its own that measures one thing and prints its samples; so sides share no memory, no caches that
//!    live longer than they, and no scheduler.
//! 2. A *comparison* runs its sides in turn, round after round: what disturbs the machine disturbs both.
//! 3. The report gives the median of all samples of a side and the quartiles around it. Nothing here passes or fails.

mod cache_line;
mod comparison;
mod efficiency;
mod ends;
pub mod launcher;
#[cfg(any(feature = "ofi", feature = "verbs"))]
pub mod leased;
mod pair;
mod program;
mod sample;
mod seat;
mod sectors;
mod socket;

pub use cache_line::{cache_line, cache_line_each_way};
pub use comparison::{Comparison, Side, compare, measure};
pub use efficiency::{Efficiency, metg};
pub use ends::{Ends, every_second_run, refilled};
pub use pair::{Deed, play_pair};
pub use program::{Benchmark, code_of, run};
pub use sample::{Batches, Spread, tell, tell_library};
pub use seat::{processor, take_seat};
pub use sectors::sectors_share;
pub use socket::{Manner, echo, socket};
