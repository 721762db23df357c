//! Arrivals of elements: an element is seated on its new PE before anything can call it there, and its home is told.

use super::message::{Member, Moving, News, Record};
use super::telling::{fail, tell};
use crate::delivery::lifecycle::remove_if_destroyed;
use crate::model::arguments::Arguments;
use crate::model::ids::{PeId, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::{Identity, Movement, Standing};
use crate::model::travel::Stay;
use crate::node::timeline::Move;
use crate::pe::early::Missing;
use crate::pe::{ChareEvent, Pe};
use crate::services::again;
use smallvec::SmallVec;
use std::rc::Rc;

/// An element that is seated, and what has come with it.
struct Seated {
    member: Member,
    from: PeId,
    stay: Stay,
    home: PeId,
    movement: &'static Movement,
    renewal: Option<Arguments>,
    parcel: Parcel,
}

/// Seats the elements of a bond that have come: all of them before anything can call one.
pub(super) fn seat(pe: &Pe, moving: SmallVec<[Box<Moving>; 1]>) {
    let mut seated = SmallVec::<[Seated; 1]>::new();
    for moving in moving {
        let member = moving.record.member;
        match seat_one(pe, *moving) {
            Ok(one) => seated.push(one),
            Err(cause) => return fail(pe, member, cause),
        }
    }
    let mut begin = SmallVec::<[_; 1]>::new();
    for Seated { member, from, stay, home, movement, renewal, mut parcel } in seated {
        let ((id, index), target) = (member, Target::Member(member.0, member.1));
        if let Some(renewal) = renewal {
            pe.renewals.borrow_mut().insert(target, renewal);
        }
        let calls = match again::unpack(pe, target, &mut parcel) {
            Ok(calls) => calls,
            Err(cause) => return fail(pe, member, cause),
        };
        pe.tell(ChareEvent::Arrives { member: target, parcel: &mut parcel });
        if home == pe.id {
            pe.release_early(Missing::Member(id, index));
            pe.settle(id, index);
        } else {
            tell(pe, home, member, News::Arrived { at: pe.id, stay });
        }
        if movement.moved.is_some() || !calls.is_empty() {
            let chare = pe.places.borrow().look_up(target);
            begin.push((chare.expect("it was seated above"), target, movement.moved, from, calls));
        }
    }
    for (chare, target, moved, from, calls) in begin {
        // The hook of another one may have ended it.
        if let Some(moved) = moved.filter(|_| chare.identity().standing.get() != Standing::GONE) {
            pe.run_entry(Rc::clone(&chare), "moved", 0, |chare| moved(chare, from));
            remove_if_destroyed(pe, target);
        }
        again::begin(pe, &chare, calls);
    }
}

/// Puts an element into the tables.
///
/// # Errors
/// When it cannot have come, in words.
fn seat_one(
    pe: &Pe,
    Moving { record, chare: registration, renewal, parcel, state }: Moving,
) -> Result<Seated, String> {
    let Record { member, from, traveller, name } = record;
    let ((id, index), target, stay) = (member, Target::Member(member.0, member.1), traveller.stay);
    let movement = registration.movement.expect("a collection takes in only who may move");
    let mut places = pe.places.borrow_mut();
    let collection = places.collection_mut(id).expect("looked at before");
    if collection.info.chare.id != registration.id {
        return Err("the collection consists of other chares".to_owned());
    }
    let standing = collection.take_in(pe.id, index, traveller)?;
    if let Some(name) = name {
        collection.names.insert(index, name);
    }
    let home = collection.info.home(index);
    let seated = (movement.seat)(Identity::new(target, &registration.name, standing), state);
    pe.note_move(seated.identity(), Move::Arrives { from });
    places.insert(target, seated);
    Ok(Seated { member, from, stay, home, movement, renewal, parcel })
}
