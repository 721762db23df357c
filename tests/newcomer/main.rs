//! A newcomer's way, in the order of the README: its first command, every example without arguments, and output of which only the first
//! line is read. Real processes; build the examples before.
//!
//! | file | what the newcomer does |
//! |---|---|
//! | `readme` | runs the first command of the README |
//! | `examples` | runs every example without arguments, and asks for its help |
//! | `output` | reads no more of the output than a line, or none |

mod examples;
mod output;
mod readme;
