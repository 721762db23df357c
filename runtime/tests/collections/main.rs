//! Collections and what is done with many chares: broadcasts, reductions, aggregation, readonly values, detection.
//!
//! One executable, because each takes seconds to link. Tests that count what a whole process takes have one of their own.

#[path = "../every_path/mod.rs"]
mod every_path;

mod aggregation;
mod broadcasts;
mod completion;
mod indices;
mod one_node;
mod readonly;
mod reducers;
