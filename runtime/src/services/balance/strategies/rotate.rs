//! Rotation: every object to the next PE. For tests: what works under it can move.

use crate::model::ids::PeId;
use crate::model::loads::{Loads, Moves};

/// Moves each object to the PE after its own, the last PE's to the first, where there is room.
pub(super) fn rotate(loads: &Loads, moves: &mut Moves) {
    place_each(loads, moves, |at| PeId((at.0 + 1) % loads.pes()));
}

/// Places each object that may move, where there is room.
pub(super) fn place_each(loads: &Loads, moves: &mut Moves, mut place: impl FnMut(PeId) -> PeId) {
    for (number, object) in loads.objects().iter().enumerate().filter(|(_, object)| object.may_move) {
        let (pe, from) = (place(object.at), loads.node_of(object.at));
        let to = loads.node_of(pe);
        if from == to || object.bytes <= moves.room(to) {
            moves.to(number, pe);
        }
    }
}
