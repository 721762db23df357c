//! Example programs of `chare`; `README.md` says which question each answers.

pub mod ddtbench;
pub mod devices;
pub mod loads;
pub mod memory;
pub mod picture;
pub mod ports;
pub mod start;
pub mod stencil;

use chare::PeId;

/// The PE that PE 0 plays with where two chares send to each other: the first of node 1; else PE 1, if there is one.
pub fn partner() -> PeId {
    let (pes, nodes) = (chare::pes(), chare::nodes());
    PeId(if nodes > 1 { pes / nodes } else { u32::from(pes > 1) })
}
