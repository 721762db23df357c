//! Reader of the timelines that chare programs write with `+trace FILE`: what every PE did, as values, and summaries of it. The command
//! `chare-trace` is made of it.
//!
//! ```text
//! lines of JSON -> files -> timeline -> summary -> text, tables (CSV), picture (SVG)
//! ```
//!
//! ```
//! let lines = r#"[
//! {"name":"thread_name","ph":"M","pid":0,"tid":7,"args":{"name":"PE 0"}},
//! {"name":"Cell::step","cat":"entry","ph":"X","ts":10.000,"dur":4.000,"pid":0,"tid":7,"args":{"chare":"member 3"}},
//! {"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"node 0"}}
//! ]"#;
//! let timeline = chare_trace::Timeline::of_text("here", lines)?;
//! let summary = chare_trace::Summary::of(&timeline, 4);
//! assert_eq!(summary.entries[0].name, "Cell::step");
//! assert_eq!(summary.entries[0].calls, 1);
//! # Ok::<(), chare_trace::TraceError>(())
//! ```

mod error;
mod files;
mod line;
mod picture;
mod rows;
mod summary;
mod sweep;
mod tables;
mod text;
mod timeline;
mod units;

pub use error::TraceError;
pub use files::{find_files, merge};
pub use picture::draw;
pub use rows::{CounterRow, EntryRow, Grain, Longest, MessageRow, MoveRow, NetworkRow, OwnRow, PeRow, Share};
pub use summary::Summary;
pub use tables::write_tables;
pub use text::describe;
pub use timeline::{Category, Message, Move, Pe, PeNumber, Piece, Span, Timeline, Value};
