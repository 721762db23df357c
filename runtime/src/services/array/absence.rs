//! Absent members: calls of a member that lives elsewhere go on by way of its home, its callers are told where it lives, and its home is
//! told when it is gone.

use super::creation::{Companion, find_companion};
use super::insertion::provide;
use super::message::{ArrayMessage, Insert, InsertionOrder, Stage};
use crate::delivery::invocation::forsake;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::home::{Seek, SeekCopy};
use crate::model::ids::{CollectionId, Index, PeId, Target};
use crate::model::index;
use crate::model::parcel::Parcel;
use crate::model::registry::{Demand, registry, show};
use crate::model::travel::{Stay, Traveller};
use crate::pe::early::Missing;
use crate::pe::places::Absence;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, ENDED, Pe};
use std::sync::Arc;

/// Takes a call of a member that is not here.
pub(super) fn reroute(
    pe: &Pe,
    options: CallOptions,
    call: Call,
    (id, index): (CollectionId, Index),
) -> Outcome {
    let absence = pe.places.borrow().explain_absence(pe.id, id, index);
    match absence {
        Absence::Nowhere if options.copy().is_some() => drop_copy(pe, options, call),
        Absence::UnderWay => seek(pe, options, call, (id, index)),
        Absence::LivesOn(_) if moves(pe, id) => seek(pe, options, call, (id, index)),
        Absence::Unknown => pe.keep(Missing::Collection(id), options, Body::Call(call)),
        Absence::Ended => {
            let (shown, entry) = (show(call.entry.chare, call.target), call.entry);
            pe.fail(
                format!("a call of {}::{}", entry.chare, entry.name),
                format!("{shown} of a collection that has ended: {ENDED}"),
            );
            Outcome::Processed
        }
        Absence::HomeIs(to) => forward_call(pe, to, options, call),
        Absence::LivesOn(at) => {
            tell_caller(pe, &call, at);
            forward_call(pe, at, options, call)
        }
        Absence::Nowhere => await_or_create(pe, options, call, (id, index)),
    }
}

/// At the home of an element that is on a journey: sends the call on to where the element lives, or keeps it until that is known.
fn seek(pe: &Pe, options: CallOptions, call: Call, (id, index): (CollectionId, Index)) -> Outcome {
    let sought = options.sought();
    let seek = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("its absence was explained");
        let home = collection.home.as_mut().expect("its elements move");
        match options.copy() {
            None => Some(home.seek(index, sought)),
            Some(journey) => match home.seek_copy(index, journey, sought) {
                SeekCopy::Send { to, sought } => Some(Seek::Send { to, sought }),
                SeekCopy::Keep => Some(Seek::Keep),
                SeekCopy::Hear | SeekCopy::Drop => None,
            },
        }
    };
    match seek {
        Some(Seek::Send { to, sought }) => {
            tell_caller(pe, &call, to);
            forward_call(pe, to, options.seeking(Some(sought)), call)
        }
        // With what it has sought: when it is sent again, the element waits for it.
        Some(Seek::Keep) => {
            chare_lrts::sometimes!("a call waited for an element under way");
            pe.keep(Missing::Member(id, index), options, Body::Call(call))
        }
        Some(Seek::AtHomeOrNowhere) => unreachable!("it is on a journey"),
        None => drop_copy(pe, options, call),
    }
}

/// Drops a copy of a broadcast whose element has ended.
fn drop_copy(pe: &Pe, options: CallOptions, call: Call) -> Outcome {
    if let (_, Some(audience)) = options.take_copy() {
        pe.tell(ChareEvent::Copied { audience, is_heard: false });
    }
    forsake(pe, call);
    Outcome::Processed
}

fn moves(pe: &Pe, id: CollectionId) -> bool {
    pe.places.borrow().collection(id).is_some_and(|collection| collection.home.is_some())
}

/// Tells the caller of a member where the member lives.
fn tell_caller(pe: &Pe, call: &Call, at: PeId) {
    if call.from != pe.id {
        let news = ArrayMessage::Located { target: call.target, at };
        outbox::send(pe, call.from, Envelope::system(CallOptions::new(), news));
    }
}

fn forward_call(pe: &Pe, to: PeId, options: CallOptions, mut call: Call) -> Outcome {
    if let Some(nocopy) = &mut call.nocopy {
        nocopy.leave_devices();
    }
    outbox::forward(pe, to, Envelope { options, body: Body::Call(call) });
    Outcome::NotCounted
}

/// At the home of a member that is nowhere: keeps the call, creates the member, or refuses the call.
fn await_or_create(pe: &Pe, options: CallOptions, call: Call, (id, index): (CollectionId, Index)) -> Outcome {
    let (info, are_expected) = {
        let places = pe.places.borrow();
        let collection = places.collection(id).expect("its home knows a collection");
        (Arc::clone(&collection.info), collection.insertions.are_expected())
    };
    let what = || format!("a call of {}::{}", call.entry.chare, call.entry.name);
    if !registry().runs(call.entry.id, info.chare) {
        pe.fail(what(), "the collection consists of other chares");
        return Outcome::Processed;
    }
    let is_digest = info.chare.index.dimensions == 0 && index::is_digest(index);
    let on = match call.entry.demand {
        // One that a callback sends knows the digest of the index only: it waits until another call creates the element.
        Some(_) if is_digest && options.index().is_none() => {
            return pe.keep(Missing::Member(id, index), options, Body::Call(call));
        }
        Some(Demand::Here) => Some(call.from),
        Some(Demand::Home) => None,
        None if are_expected => {
            return pe.keep(Missing::Member(id, index), options, Body::Call(call));
        }
        None => {
            pe.fail(what(), info.explain_absence(index));
            return Outcome::Processed;
        }
    };
    let companion = match find_companion(pe, &info, index) {
        Companion::Lives(at) => at,
        Companion::UnderWay(mate) => {
            chare_lrts::sometimes!("a call that creates an element waited for the bond of the element");
            return pe.keep(mate, options, Body::Call(call));
        }
    };
    let name = options.index().filter(|_| is_digest).map(Box::from);
    let order = InsertionOrder::new((id, index), name, (pe.id, on), Stage::Granted);
    pe.counters.sent.add(1);
    let insert = Insert { order, chare: info.chare, arguments: Arguments::new(()) };
    if provide(pe, &info, companion, insert) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
    outbox::forward(pe, pe.id, Envelope { options, body: Body::Call(call) });
    Outcome::NotCounted
}

/// Tells the home of a member that lived here that it is gone, with the parcel that services have filled.
pub(super) fn tell_home(
    pe: &Pe,
    member: (CollectionId, Index),
    traveller: Option<Traveller>,
    parcel: Parcel,
) {
    let (id, index) = member;
    let home = pe.places.borrow().collection(id).map(|collection| collection.info.home(index));
    match home {
        Some(home) if home != pe.id => {
            let stay = traveller.map(|traveller| (traveller.stay, traveller.contributed()));
            let news = ArrayMessage::Gone { member, from: pe.id, stay, parcel };
            outbox::send(pe, home, Envelope::system(CallOptions::new().expedited(), news));
        }
        _ => end_at_home(pe, member, parcel),
    }
}

/// At the home of a member that lived there: takes note that it is gone, as soon as nothing of a journey is under way any more.
fn end_at_home(pe: &Pe, (id, index): (CollectionId, Index), parcel: Parcel) {
    let ended = {
        let mut places = pe.places.borrow_mut();
        let home = places.collection_mut(id).and_then(|collection| collection.home.as_mut());
        match home {
            Some(home) => home.end_at_home(index, parcel),
            None => Err(parcel),
        }
    };
    match ended {
        Ok(()) => pe.settle(id, index),
        Err(mut parcel) => {
            let member = Target::Member(id, index);
            pe.tell(ChareEvent::Forgotten { member, afar: None, parcel: &mut parcel });
        }
    }
}

/// At the home of a member that lived on PE `from`: takes note that it is gone there. It may have been inserted again elsewhere
/// meanwhile.
pub(super) fn forget(
    pe: &Pe,
    options: CallOptions,
    member: (CollectionId, Index),
    from: PeId,
    stay: Option<(Stay, u64)>,
    mut parcel: Parcel,
) -> Outcome {
    let (id, index) = member;
    if pe.places.borrow().collection(id).is_none() {
        let message = ArrayMessage::Gone { member, from, stay, parcel };
        return pe.keep(Missing::Collection(id), options, message.into());
    }
    let target = Target::Member(id, index);
    if let Some((stay, contributed)) = stay {
        return end_afar(pe, member, ((from, stay), contributed), parcel);
    }
    pe.tell(ChareEvent::Forgotten { member: target, afar: None, parcel: &mut parcel });
    let mut places = pe.places.borrow_mut();
    places.forget(target);
    let away = &mut places.collection_mut(id).expect("looked at before").away;
    if away.get(&index) == Some(&from) {
        away.remove(&index);
    }
    Outcome::Processed
}

/// At the home of an element that was on a journey: takes note that it has ended where it lived, as soon as its contributions have come.
fn end_afar(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    (stay, contributed): ((PeId, Stay), u64),
    parcel: Parcel,
) -> Outcome {
    let ended = {
        let mut places = pe.places.borrow_mut();
        places.forget(Target::Member(id, index));
        let home = places.collection_mut(id).and_then(|collection| collection.home.as_mut());
        home.map_or_else(
            || Err("its elements do not move".to_owned()),
            |home| home.gone(index, stay, contributed, parcel),
        )
    };
    match ended {
        Ok(()) => pe.settle(id, index),
        Err(cause) => pe.fail("the end of an element that moves".to_owned(), cause),
    }
    Outcome::Processed
}
