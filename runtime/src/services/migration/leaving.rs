//! Departures of elements: the wish, which goes to the element's home, and the way out once the element may go.

use super::message::{ID, LetGo, Member, MoveMessage, Moving, News, Record};
use super::telling::{fail, options, tell};
use crate::delivery::outbox;
use crate::model::envelope::Envelope;
use crate::model::ids::{CollectionId, Index, PeId, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::{AnyChare, ChareRegistration, Movement, Standing};
use crate::model::travel::Stay;
use crate::node::timeline::Move;
use crate::pe::{ChareEvent, Pe};
use crate::services::again;
use crate::services::tags::tags;
use smallvec::SmallVec;
use std::rc::Rc;

/// What names the bond of an element, in the table of wishes: all that are bound to each other have one wish.
pub(crate) fn bond_of(pe: &Pe, member: Target) -> Target {
    let Target::Member(id, index) = member else { return member };
    let places = pe.places.borrow();
    places.collection(id).map_or(member, |collection| Target::Member(collection.info.bond(), index))
}

/// Where an element wishes to go, or one to which it is bound.
pub(crate) fn destination(pe: &Pe, member: Target) -> Option<PeId> {
    pe.wishes.destination(bond_of(pe, member))
}

/// Has wishes seen to before anything else.
fn ask_soon(pe: &Pe) {
    pe.poll_soon(ID);
}

/// Notes that an element wishes to live elsewhere: the last wish counts, also against what a balancer has planned.
pub(crate) fn wish(pe: &Pe, member: Target, to: PeId) {
    let bond = bond_of(pe, member);
    if pe.wishes.is_planned(bond) {
        detain(pe, &Residents::find(pe, member));
    }
    pe.wishes.note(bond, to, false);
    ask_soon(pe);
}

/// Holds an element where it is, or lets it go.
pub(crate) fn hold(pe: &Pe, member: Target, is_held: bool) {
    pe.wishes.hold(member, is_held);
    ask_soon(pe);
}

/// Notes that a balancer wishes an element to live elsewhere, and those that are bound to it. If one is not free all stay, of which everybody
/// is told.
pub(crate) fn plan(pe: &Pe, member: Target, to: PeId) {
    if !Residents::find(pe, member).is_empty() {
        pe.wishes.note(bond_of(pe, member), to, true);
        ask_soon(pe);
    }
}

/// Takes note that an element has ended here: its wish is that of those which are bound to it, if there are any.
pub(super) fn end(pe: &Pe, member: Target) {
    pe.wishes.hold(member, false);
    if pe.wishes.are_none() {
        return;
    }
    let bond = bond_of(pe, member);
    let is_alone = Residents::find(pe, member).iter().all(|other| other.target() == member);
    if is_alone {
        pe.wishes.forget(bond);
    } else {
        // The home does not answer to who has ended.
        pe.wishes.set_asked(bond, false);
        ask_soon(pe);
    }
}

/// Tells everybody that a balancer would have moved elements which stay.
fn detain(pe: &Pe, residents: &Residents) {
    for resident in residents.iter() {
        pe.tell(ChareEvent::Detained { member: resident.target() });
    }
}

/// Gives up the move of elements of a bond that are not free, if a balancer has planned it. Returns whether it has.
fn give_up_plan(pe: &Pe, bond: Target, residents: &Residents) -> bool {
    let is_planned = pe.wishes.is_planned(bond);
    if is_planned {
        chare_lrts::sometimes!("an element that a balancer would move was detained");
        pe.wishes.forget(bond);
        detain(pe, residents);
    }
    is_planned
}

/// Sees to the elements that wish to move, and are free. Returns whether there was one.
pub(super) fn ask_all(pe: &Pe) -> bool {
    let (mut has_asked, mut is_waiting) = (false, false);
    pe.attend_to(ID, false);
    for bond in pe.wishes.waiting() {
        let has_asked_for = ask(pe, bond);
        has_asked |= has_asked_for;
        is_waiting |= !has_asked_for;
    }
    if is_waiting {
        pe.attend_to(ID, true);
    }
    has_asked
}

/// An element that lives on this PE and may move.
struct Resident {
    member: Member,
    chare: Rc<dyn AnyChare>,
    registration: &'static ChareRegistration,
    movement: &'static Movement,
    home: PeId,
    /// Whether nobody of the bond may go now: an array is to be bound to its own.
    is_awaited: bool,
}

impl Resident {
    fn find(pe: &Pe, target: Target) -> Option<Self> {
        let Target::Member(id, index) = target else { return None };
        let places = pe.places.borrow();
        let (chare, collection) = (places.look_up(target)?, places.collection(id)?);
        let (registration, home) = (collection.info.chare, collection.info.home(index));
        let (movement, is_awaited) = (registration.movement?, collection.follower.is_some());
        Some(Self { member: (id, index), chare, registration, movement, home, is_awaited })
    }

    fn target(&self) -> Target {
        Target::Member(self.member.0, self.member.1)
    }

    /// Whether it can leave for a PE: nothing of it runs or waits but calls that its table holds, and calls that may be made again; and no
    /// buffer of it waits on this node, if the PE is on another, or where it would be on the wrong device.
    fn is_free(&self, pe: &Pe, to: PeId) -> bool {
        let here = pe.node.topology.rank_of(pe.id);
        let is_near = pe.node.rank_here(to).is_some_and(|there| !pe.node.devices.are_apart(here, there));
        !self.is_awaited
            && again::may_leave(pe, &self.chare)
            && !pe.begun_calls.wait_at(&self.chare)
            && (is_near
                || ((self.movement.can_be_written)(&self.chare) && !tags(&pe.node).keep(self.target())))
    }
}

/// The elements of a bond that live on this PE; mostly one.
struct Residents(SmallVec<[Resident; 1]>);

impl Residents {
    /// Those of the bond of an element, of the bond's first array or of any other, whether or not it is here itself.
    fn find(pe: &Pe, member: Target) -> Self {
        let Target::Member(id, index) = member else { return Self(SmallVec::new()) };
        let mut arrays = SmallVec::<[CollectionId; 1]>::new();
        {
            let places = pe.places.borrow();
            let collection = places
                .collection(id)
                // The first array of the bond may have ended.
                .or_else(|| places.collections().find(|collection| collection.info.bond() == id));
            if let Some(collection) = collection {
                arrays.push(collection.info.id);
                arrays.extend_from_slice(&collection.mates);
            }
        }
        let mut residents = SmallVec::new();
        for id in arrays {
            if let Some(resident) = Resident::find(pe, Target::Member(id, index)) {
                residents.push(resident);
            }
        }
        Self(residents)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &Resident> {
        self.0.iter()
    }

    fn are_free(&self, pe: &Pe, to: PeId) -> bool {
        self.iter().all(|resident| resident.is_free(pe, to))
    }

    fn stay(&self, pe: &Pe) {
        self.iter().for_each(|resident| again::stays(pe, &resident.chare));
    }

    /// Tells them that they are about to move; returns whether they still can, and wish to.
    fn prepare(&self, pe: &Pe, bond: Target, to: PeId) -> bool {
        for resident in self.iter() {
            if let Some(about_to_move) = resident.movement.about_to_move {
                pe.run_entry(Rc::clone(&resident.chare), "about_to_move", 0, about_to_move);
                // What the hook asks for but to move elsewhere waits for the new PE.
                pe.destroyed.set(false);
            }
        }
        pe.wishes.destination(bond) == Some(to) && self.are_free(pe, to)
    }
}

/// Sees to the wish of the elements of a bond. Returns whether it waits no more.
fn ask(pe: &Pe, bond: Target) -> bool {
    let Some(to) = pe.wishes.waiting_for(bond) else { return true };
    let residents = Residents::find(pe, bond);
    if to == pe.id {
        residents.stay(pe);
    }
    let Some(first) = residents.iter().next().filter(|_| to != pe.id) else {
        if !give_up_plan(pe, bond, &residents) {
            pe.wishes.forget(bond);
        }
        return true;
    };
    if !residents.are_free(pe, to) {
        let is_given_up = give_up_plan(pe, bond, &residents);
        residents.stay(pe);
        return is_given_up;
    }
    let (member, home) = (first.member, first.home);
    if home == pe.id {
        return residents.prepare(pe, bond, to) && depart(pe, bond, residents.0, to, &[]);
    }
    let stay = stay_of(pe, member).expect("who is not at home is on a journey");
    pe.wishes.set_asked(bond, true);
    tell(pe, home, member, News::Wish { from: pe.id, stay, to });
    true
}

/// The stay of an element that lives here and has its home elsewhere.
fn stay_of(pe: &Pe, (id, index): Member) -> Option<Stay> {
    pe.places.borrow().collection(id).and_then(|collection| collection.stay(index))
}

/// On the PE where the elements of a bond live: they may go.
pub(super) fn go(pe: &Pe, index: Index, let_go: &[LetGo], to: PeId) {
    let mut residents = Residents(SmallVec::new());
    for LetGo { collection, left, .. } in let_go {
        // An element that is not here has ended: the news of that are on their way to its home.
        let Some(resident) = Resident::find(pe, Target::Member(*collection, index)) else {
            chare_lrts::sometimes!("an element had ended when it was let go");
            continue;
        };
        let Some(stay) = stay_of(pe, resident.member) else {
            return fail(pe, resident.member, "it is let go, and is at home".to_owned());
        };
        if residents.iter().any(|other| other.member == resident.member) {
            return fail(pe, resident.member, "it is let go twice".to_owned());
        }
        // So has one that left its index to another, which nobody has let go.
        if stay == *left {
            residents.0.push(resident);
        } else {
            chare_lrts::sometimes!("another element had the index of one that was let go");
        }
    }
    let Some(first) = residents.iter().next() else { return };
    let bond = bond_of(pe, first.target());
    // The last wish counts.
    let goes = pe.wishes.destination(bond) == Some(to) && residents.are_free(pe, to);
    if goes && residents.prepare(pe, bond, to) {
        depart(pe, bond, residents.0, to, let_go);
        return;
    }
    chare_lrts::sometimes!("an element that was let go had changed its mind, or was not free");
    for resident in residents.iter() {
        let stay = stay_of(pe, resident.member).expect("looked at above");
        tell(pe, resident.home, resident.member, News::Stayed { from: pe.id, stay });
    }
    pe.wishes.set_asked(bond, false);
    if !residents.are_free(pe, to) {
        give_up_plan(pe, bond, &residents);
        residents.stay(pe);
    }
    ask_soon(pe);
}

/// The one place where elements leave their PE for another, all of a bond; `let_go` says for which stays, unless this is their home. Returns true.
fn depart(pe: &Pe, bond: Target, residents: SmallVec<[Resident; 1]>, to: PeId, let_go: &[LetGo]) -> bool {
    pe.wishes.forget(bond);
    if residents.len() > 1 {
        chare_lrts::sometimes!("elements that are bound to each other moved together");
    }
    let (mut moving, mut left) = (SmallVec::new(), SmallVec::<[_; 1]>::new());
    for resident in residents {
        let granted = let_go.iter().find(|let_go| let_go.collection == resident.member.0);
        moving.push(Box::new(take_out(pe, &resident, to, granted.map(|granted| granted.stay))));
        left.push(resident.chare);
    }
    outbox::send(pe, to, Envelope::system(options(), MoveMessage::States(moving)));
    left.into_iter().for_each(|chare| pe.drop_chare(chare));
    true
}

/// Takes an element out of the tables of this PE.
fn take_out(pe: &Pe, resident: &Resident, to: PeId, granted: Option<Stay>) -> Moving {
    let Resident { member: (id, index), chare, registration, movement, .. } = resident;
    let target = resident.target();
    let mut parcel = Parcel::default();
    pe.note_move(chare.identity(), Move::Leaves { to });
    again::pack(pe, chare, &mut parcel);
    pe.tell(ChareEvent::Leaves { chare: chare.identity(), parcel: &mut parcel });
    let state = (movement.take_out)(chare).expect("it is free");
    let standing = chare.identity().standing.replace(Standing::GONE);
    let record = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(*id).expect("looked at before");
        let name = collection.names.get(index).cloned();
        let traveller = collection.let_go(*index, to, granted, standing);
        drop(places.remove(target));
        Record { member: (*id, *index), from: pe.id, traveller, name }
    };
    let renewal = pe.renewals.borrow_mut().remove(&target);
    Moving { record, chare: registration, renewal, parcel, state }
}
