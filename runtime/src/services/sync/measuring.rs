//! Measurements of what a PE has, for a balancer: its elements that may move, each with its load, and the time for everything else.
//!
//! What an element has taken goes with it when it moves, and ends with it: it is nothing that stays on the PE.

use super::message::{MeasuredCalls, MeasuredElement, MeasuredHere};
use super::state::state;
use crate::model::ids::Target;
use crate::model::registry::AnyChare;
use crate::pe::Pe;
use crate::pe::call_sample::Calls;
use crate::services::again;
use chare_lrts::may_block;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::time::Duration;

/// Measures what this PE has, since the last time.
pub(super) fn measure(pe: &Pe) -> MeasuredHere {
    let chares: Vec<Rc<dyn AnyChare>> = {
        let places = pe.places.borrow();
        let movers = places.collections().filter(|collection| collection.home.is_some());
        movers
            .flat_map(|collection| collection.members.within(0..collection.members.end()).map(Rc::clone))
            .collect()
    };
    let mut times = pe.meter.as_ref().map_or_else(Default::default, |meter| meter.take());
    let mut elements = Vec::with_capacity(chares.len());
    for chare in chares {
        let target = chare.identity().target;
        let Target::Member(id, index) = target else { continue };
        let (registration, bond) = {
            let places = pe.places.borrow();
            let collection = places.collection(id).expect("looked at above");
            (collection.info.chare, (!collection.mates.is_empty()).then(|| collection.info.bond()))
        };
        let Some(movement) = registration.movement else { continue };
        let may_move = again::may_leave(pe, &chare);
        let time = times.remove(&Some(target)).map_or(0.0, |time| time.as_secs_f64());
        // A hook borrows the chare, which it cannot while an entry does.
        let load = movement.load.filter(|_| may_move);
        let said = load.map(|load| pe.run_entry(Rc::clone(&chare), "load", 0, load).0);
        let position = movement.position.filter(|_| may_move);
        let position = position.map(|position| pe.run_entry(Rc::clone(&chare), "position", 0, position).0);
        let said = said.map(|load| if load.is_finite() { load.max(0.0) } else { 0.0 });
        // Inside a process nothing that the state owns elsewhere travels.
        let encoded = (may_move && pe.node.topology.nodes() > 1)
            .then(|| pe.run_entry(Rc::clone(&chare), "serialize", 0, movement.measure).0);
        elements.push(MeasuredElement {
            member: (id, index),
            time,
            said,
            bytes: encoded.flatten().unwrap_or(0).max(registration.bytes),
            may_move,
            position,
            bond,
        });
    }
    let carrying_out = state(pe).borrow_mut().carrying_out.take().as_secs_f64();
    let fixed = fixed(pe, &times).as_secs_f64();
    MeasuredHere { fixed, elements, carrying_out, room: room(pe), calls: calls(pe) }
}

/// The bytes that may still be moved to this node, if others may move there. In a simulated job there is no end of them: it has the same plans on
/// every machine.
fn room(pe: &Pe) -> Option<u64> {
    let topology = &pe.node.topology;
    let tells = topology.nodes() > 1 && topology.rank_of(pe.id) == 0 && may_block();
    tells.then(|| pe.node.room())
}

/// What elements have called, those that have left, too, and any other: who may move, PE 0 knows.
fn calls(pe: &Pe) -> Vec<MeasuredCalls> {
    let sampled = pe.call_sample.as_ref().map_or_else(Default::default, |sample| sample.take());
    let measured = |((from, to), Calls { calls, bytes })| match (from, to) {
        (Target::Member(id, index), Target::Member(to_id, to_index)) => {
            Some(MeasuredCalls { from: (id, index), to: (to_id, to_index), calls, bytes })
        }
        _ => None,
    };
    sampled.into_iter().filter_map(measured).collect()
}

/// The time of what cannot move. Of the elements whose times are left, those of arrays that may move have ended.
fn fixed(pe: &Pe, times: &FxHashMap<Option<Target>, Duration>) -> Duration {
    let places = pe.places.borrow();
    let stays = |chare: &Option<Target>| match chare {
        Some(Target::Member(id, _)) => places.collection(*id).is_some_and(|local| local.home.is_none()),
        _ => true,
    };
    let of_those = times.iter().filter(|(chare, _)| stays(chare)).map(|(_, time)| *time);
    of_those.fold(Duration::ZERO, Duration::saturating_add)
}
