//! Departures of elements: the wish, which goes to the element's home, and the way out once the element may go.

use super::message::{ID, Member, MoveMessage, Moving, News, Record};
use super::telling::{fail, options, tell};
use crate::delivery::outbox;
use crate::model::envelope::Envelope;
use crate::model::ids::{PeId, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::{AnyChare, ChareRegistration, Movement, Standing};
use crate::model::travel::Stay;
use crate::node::timeline::Move;
use crate::pe::{ChareEvent, Pe};
use crate::services::again;
use crate::services::tags::tags;
use std::rc::Rc;

/// Notes that an element wishes to live elsewhere: the last wish counts, also against what a balancer has planned.
pub(crate) fn wish(pe: &Pe, member: Target, to: PeId) {
    if pe.wishes.is_planned(member) {
        pe.tell(ChareEvent::Detained { member });
    }
    pe.wishes.note(member, to, false);
    pe.attend_to(ID, true);
    pe.look_soon();
}

/// Holds an element where it is, or lets it go.
pub(crate) fn hold(pe: &Pe, member: Target, is_held: bool) {
    pe.wishes.hold(member, is_held);
    pe.attend_to(ID, true);
    pe.look_soon();
}

/// Notes that a balancer wishes an element to live elsewhere. One that is not free stays, of which everybody is told.
pub(crate) fn plan(pe: &Pe, member: Target, to: PeId) {
    if Resident::find(pe, member).is_some() {
        pe.wishes.note(member, to, true);
        pe.attend_to(ID, true);
        pe.look_soon();
    }
}

/// Gives up the move of an element that is not free, if a balancer has planned it. Returns whether it has.
fn give_up_plan(pe: &Pe, member: Target) -> bool {
    let is_planned = pe.wishes.is_planned(member);
    if is_planned {
        chare_lrts::sometimes!("an element that a balancer would move was detained");
        pe.wishes.forget(member);
        pe.tell(ChareEvent::Detained { member });
    }
    is_planned
}

/// Sees to the elements that wish to move, and are free. Returns whether there was one.
pub(super) fn ask_all(pe: &Pe) -> bool {
    let (mut has_asked, mut is_waiting) = (false, false);
    for target in pe.wishes.waiting() {
        let has_asked_for = ask(pe, target);
        has_asked |= has_asked_for;
        is_waiting |= !has_asked_for;
    }
    pe.attend_to(ID, is_waiting);
    has_asked
}

/// An element that lives on this PE and may move.
struct Resident {
    member: Member,
    chare: Rc<dyn AnyChare>,
    registration: &'static ChareRegistration,
    movement: &'static Movement,
    home: PeId,
}

impl Resident {
    fn find(pe: &Pe, target: Target) -> Option<Self> {
        let Target::Member(id, index) = target else { return None };
        let places = pe.places.borrow();
        let (chare, info) = (places.look_up(target)?, &places.collection(id)?.info);
        let (registration, home) = (info.chare, info.home(index));
        Some(Self { member: (id, index), chare, registration, movement: registration.movement?, home })
    }

    fn target(&self) -> Target {
        Target::Member(self.member.0, self.member.1)
    }

    /// Whether it can leave for a PE: nothing of it runs or waits but calls that its table holds, and calls that may be made again; and no
    /// buffer of it waits on this node, if the PE is on another.
    fn is_free(&self, pe: &Pe, to: PeId) -> bool {
        let is_near = pe.node.rank_here(to).is_some();
        again::may_leave(pe, &self.chare)
            && !pe.begun_calls.wait_at(&self.chare)
            && (is_near
                || ((self.movement.can_be_written)(&self.chare) && !tags(&pe.node).keep(self.target())))
    }

    /// Tells it that it is about to move; returns whether it still can, and wishes to.
    fn prepare(&self, pe: &Pe, to: PeId) -> bool {
        if let Some(about_to_move) = self.movement.about_to_move {
            pe.run_entry(Rc::clone(&self.chare), "about_to_move", 0, about_to_move);
            // What the hook asks for but to move elsewhere waits for the new PE.
            pe.destroyed.set(false);
        }
        pe.wishes.destination(self.target()) == Some(to) && self.is_free(pe, to)
    }
}

/// Sees to the wish of an element. Returns whether it waits no more.
fn ask(pe: &Pe, target: Target) -> bool {
    let Some(to) = pe.wishes.waiting_for(target) else { return true };
    let resident = Resident::find(pe, target);
    if let Some(resident) = resident.as_ref().filter(|_| to == pe.id) {
        again::stays(pe, &resident.chare);
    }
    let Some(resident) = resident.filter(|_| to != pe.id) else {
        if !give_up_plan(pe, target) {
            pe.wishes.forget(target);
        }
        return true;
    };
    if !resident.is_free(pe, to) {
        let is_given_up = give_up_plan(pe, target);
        again::stays(pe, &resident.chare);
        return is_given_up;
    }
    if resident.home == pe.id {
        return resident.prepare(pe, to) && depart(pe, resident, to, None);
    }
    let (id, index) = resident.member;
    let stay = pe.places.borrow().collection(id).and_then(|collection| collection.stay(index));
    let stay = stay.expect("who is not at home is on a journey");
    pe.wishes.set_asked(target, true);
    tell(pe, resident.home, resident.member, News::Wish { from: pe.id, stay, to });
    true
}

/// A home's leave to go: from which stay, for which one, and where to.
pub(super) struct Leave {
    pub(super) left: Stay,
    pub(super) granted: Stay,
    pub(super) to: PeId,
}

/// On the PE where an element lives: it may go.
pub(super) fn go(pe: &Pe, member: Member, Leave { left, granted, to }: Leave) {
    let target = Target::Member(member.0, member.1);
    // An element that is not here has ended: the news of that are on their way to its home.
    let Some(resident) = Resident::find(pe, target) else {
        chare_lrts::sometimes!("an element had ended when it was let go");
        return;
    };
    let stay = pe.places.borrow().collection(member.0).and_then(|collection| collection.stay(member.1));
    let Some(stay) = stay else { return fail(pe, member, "it is let go, and is at home".to_owned()) };
    // So has one that left its index to another, which nobody has let go.
    if stay != left {
        chare_lrts::sometimes!("another element had the index of one that was let go");
        return;
    }
    // The last wish counts.
    let goes = pe.wishes.destination(target) == Some(to) && resident.is_free(pe, to);
    if goes && resident.prepare(pe, to) {
        depart(pe, resident, to, Some(granted));
    } else {
        chare_lrts::sometimes!("an element that was let go had changed its mind, or was not free");
        tell(pe, resident.home, member, News::Stayed { from: pe.id, stay });
        pe.wishes.set_asked(target, false);
        if !resident.is_free(pe, to) {
            give_up_plan(pe, target);
            again::stays(pe, &resident.chare);
        }
        pe.attend_to(ID, true);
    }
}

/// The one place where an element leaves its PE for another; `granted` unless this is its home. Returns true.
fn depart(pe: &Pe, resident: Resident, to: PeId, granted: Option<Stay>) -> bool {
    let Resident { member: (id, index), ref chare, registration, movement, .. } = resident;
    let target = resident.target();
    pe.wishes.forget(target);
    let mut parcel = Parcel::default();
    pe.note_move(chare.identity(), Move::Leaves { to });
    again::pack(pe, chare, &mut parcel);
    pe.tell(ChareEvent::Leaves { chare: chare.identity(), parcel: &mut parcel });
    let state = (movement.take_out)(chare).expect("it is free");
    let standing = chare.identity().standing.replace(Standing::GONE);
    let record = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("looked at before");
        let name = collection.names.get(&index).cloned();
        let traveller = collection.let_go(index, to, granted, standing);
        drop(places.remove(target));
        Record { member: (id, index), from: pe.id, traveller, name }
    };
    let renewal = pe.renewals.borrow_mut().remove(&target);
    let moving = Box::new(Moving { record, chare: registration, renewal, parcel, state });
    outbox::send(pe, to, Envelope::system(options(), MoveMessage::State(moving)));
    pe.drop_chare(resident.chare);
    true
}
