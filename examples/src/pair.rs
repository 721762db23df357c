//! Pair of players: where the second of two chares stands that send to each other.

use chare::PeId;

/// The PE that PE 0 plays with: the first of node 1; else PE 1, if there is one.
pub fn partner() -> PeId {
    let (pes, nodes) = (chare::pes(), chare::nodes());
    PeId(if nodes > 1 { pes / nodes } else { u32::from(pes > 1) })
}
