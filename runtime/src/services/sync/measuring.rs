//! Measurements of what a PE has, for a balancer: its elements that may move, each with its load, and the time for everything else.
//!
//! What an element has taken goes with it when it moves, and ends with it: it is nothing that stays on the PE.

use super::message::{MeasuredElement, MeasuredHere};
use crate::model::ids::Target;
use crate::model::registry::AnyChare;
use crate::pe::Pe;
use crate::services::again;
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
        let registration = pe.places.borrow().collection(id).expect("looked at above").info.chare;
        let Some(movement) = registration.movement else { continue };
        let may_move = again::may_leave(pe, &chare);
        let time = times.remove(&Some(target)).map_or(0.0, |time| time.as_secs_f64());
        // A hook borrows the chare, which it cannot while an entry does.
        let load = movement.load.filter(|_| may_move);
        let said = load.map(|load| pe.run_entry(Rc::clone(&chare), "load", 0, load).0);
        let position = movement.position.filter(|_| may_move);
        let position = position.map(|position| pe.run_entry(Rc::clone(&chare), "position", 0, position).0);
        let said = said.map(|load| if load.is_finite() { load.max(0.0) } else { 0.0 });
        elements.push(MeasuredElement {
            member: (id, index),
            time,
            said,
            bytes: registration.bytes,
            may_move,
            position,
        });
    }
    MeasuredHere { fixed: fixed(pe, &times).as_secs_f64(), elements }
}

/// The time of what cannot move. Of the elements whose times are left, those of arrays that may move have ended.
fn fixed(pe: &Pe, times: &FxHashMap<Option<Target>, Duration>) -> Duration {
    let places = pe.places.borrow();
    let stays = |chare: &Option<Target>| match chare {
        Some(Target::Member(id, _)) => places.collection(*id).is_some_and(|local| local.home.is_none()),
        _ => true,
    };
    times.iter().filter(|(chare, _)| stays(chare)).map(|(_, time)| *time).sum()
}
