//! Arrivals of elements: an element is seated on its new PE before anything can call it there, and its home is told.

use super::message::{Moving, News, Record};
use super::telling::{fail, tell};
use crate::delivery::lifecycle::remove_if_destroyed;
use crate::model::ids::Target;
use crate::model::registry::Identity;
use crate::node::timeline::Move;
use crate::pe::early::Missing;
use crate::pe::{ChareEvent, Pe};
use crate::services::again;
use std::rc::Rc;

/// Seats an element that has come.
pub(super) fn seat(pe: &Pe, moving: Moving) {
    let Moving { record, chare: registration, renewal, mut parcel, state } = moving;
    let Record { member: (id, index), from, traveller, name } = record;
    let (target, stay) = (Target::Member(id, index), traveller.stay);
    let arrived = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("looked at before");
        if collection.info.chare.id == registration.id {
            collection.take_in(pe.id, index, traveller)
        } else {
            Err("the collection consists of other chares".to_owned())
        }
    };
    let standing = match arrived {
        Ok(standing) => standing,
        Err(cause) => return fail(pe, (id, index), cause),
    };
    let movement = registration.movement.expect("a collection takes in only who may move");
    let home = {
        let seated = (movement.seat)(Identity::new(target, &registration.name, standing), state);
        pe.note_move(seated.identity(), Move::Arrives { from });
        let mut places = pe.places.borrow_mut();
        places.insert(target, seated);
        let collection = places.collection_mut(id).expect("looked at before");
        if let Some(name) = name {
            collection.names.insert(index, name);
        }
        collection.info.home(index)
    };
    if let Some(renewal) = renewal {
        pe.renewals.borrow_mut().insert(target, renewal);
    }
    let calls = match again::unpack(pe, target, &mut parcel) {
        Ok(calls) => calls,
        Err(cause) => return fail(pe, (id, index), cause),
    };
    pe.tell(ChareEvent::Arrives { member: target, parcel: &mut parcel });
    if home == pe.id {
        pe.release_early(Missing::Member(id, index));
        pe.settle(id, index);
    } else {
        tell(pe, home, (id, index), News::Arrived { at: pe.id, stay });
    }
    if movement.moved.is_none() && calls.is_empty() {
        return;
    }
    let chare = pe.places.borrow().look_up(target);
    let chare = chare.expect("it was seated above");
    if let Some(moved) = movement.moved {
        pe.run_entry(Rc::clone(&chare), "moved", 0, |chare| moved(chare, from));
        remove_if_destroyed(pe, target);
    }
    again::begin(pe, &chare, calls);
}
