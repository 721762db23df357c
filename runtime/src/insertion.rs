//! Members that come after their collection: asked for anywhere, granted by their home.
//!
//! 1. The PE that asks sends the insertion to the member's home. If the home knows of no such member it decides where the member is
//!    to live, notes that if it is elsewhere, and has it constructed there.
//! 2. If the home believes that there is such a member elsewhere, it asks that PE: its last news may still be on the way. If the
//!    member is there, two are inserted with one index, which ends the job; else the insertion comes back and the home decides.
//! 3. A message to a member that is not there waits at the home, or creates it if its entry says so. In a collection where nobody may
//!    insert, it ends the job.
//!    A call carries no more of an index than a digest, if that is what the index is; then its caller tells the home the index itself, in a
//!    message of its own, for which the call waits.
//! 4. `done_inserting` tells every home how many insertions the PE that says it has asked for there; the home is closed once they
//!    have come. Insertions by other PEs must be over before.

use crate::call::Call;
use crate::collection::CollectionInfo;
use crate::early::Awaited;
use crate::envelope::{Body, Envelope, Insert, InsertionOrder, News, Stage};
use crate::ids::{CollectionId, Index, PeId, Target};
use crate::lifecycle::{create_member, fail, keep_for, release_early};
use crate::location::Absence;
use crate::mailbox::Outcome;
use crate::message::Arguments;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::registry::{ChareRegistration, Demand, registry};
use crate::{broadcast, index};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a PE counts of a collection's insertions.
pub(crate) struct Insertions {
    /// Those that it has asked homes for.
    asked: FxHashMap<PeId, u64>,
    /// Those that it was asked for as a home.
    heard: FxHashMap<PeId, u64>,
    /// The PE whose insertions are the last ones, and how many they are.
    last: Option<(PeId, u64)>,
    /// Whether this PE has said that nobody will ask for more.
    is_done: bool,
    is_open: bool,
}

impl Insertions {
    pub(crate) fn new(is_open: bool) -> Self {
        Self { asked: FxHashMap::default(), heard: FxHashMap::default(), last: None, is_done: false, is_open }
    }

    /// Whether members may still come.
    pub(crate) fn are_expected(&self) -> bool {
        self.is_open
            && self.last.is_none_or(|(from, count)| self.heard.get(&from).copied().unwrap_or(0) < count)
    }
}

/// Why an insertion is refused that comes after the end.
const TOO_LATE: &str = "nobody may insert: the array is not dynamic, or `done_inserting` was said before";

/// How insertions are queued: before calls, which may be for the member.
fn options() -> CallOptions {
    CallOptions::new().expedited()
}

/// Asks for a member.
pub(crate) fn insert(pe: &Pe, insert: Insert) {
    outbox::send(pe, pe.id, Envelope { options: options(), body: Body::Insert(Box::new(insert)) });
}

/// A call that creates its member on demand is about to be sent: tells the home what the member's index is a digest of.
pub(crate) fn need(
    pe: &Pe,
    (collection, index): (CollectionId, Index),
    name: Box<[u8]>,
    chare: &'static ChareRegistration,
    demand: Demand,
) {
    let on = (demand == Demand::Here).then_some(pe.id);
    let order = InsertionOrder { collection, index, name: Some(name), on, from: pe.id, stage: Stage::Needed };
    insert(pe, Insert { order, chare, arguments: Arguments::new(()) });
}

/// Says that nobody will ask for more members.
pub(crate) fn done_inserting(pe: &Pe, collection: CollectionId) {
    outbox::send(pe, pe.id, Envelope { options: options(), body: Body::DoneInserting(collection) });
}

fn forward(pe: &Pe, to: PeId, stage: Stage, mut insert: Box<Insert>) -> Outcome {
    insert.order.stage = stage;
    outbox::forward(pe, to, Envelope { options: options(), body: Body::Insert(insert) });
    Outcome::NotCounted
}

/// An insertion has come to its next stage here.
pub(crate) fn arrive(pe: &Pe, insert: Box<Insert>) -> Outcome {
    let InsertionOrder { collection: id, index, from, stage, .. } = insert.order;
    let info = pe.places.borrow().collection(id).map(|collection| Arc::clone(&collection.info));
    let Some(info) = info else {
        return keep_for(pe, Awaited::Collection(id), options(), Body::Insert(insert));
    };
    let refuse = |cause: &str| {
        let shown = info.chare.index.show(index);
        fail(pe, format!("inserting member {shown} of {}", info.chare.name), cause);
        Outcome::Processed
    };
    if info.chare.id != insert.chare.id {
        return refuse("the collection consists of other chares");
    }
    let home = info.home(index);
    let is_here =
        pe.places.borrow().collection(id).is_some_and(|collection| collection.members.include(index));
    match stage {
        Stage::Leaving => {
            let is_done = with_insertions(pe, id, |insertions| {
                *insertions.asked.entry(home).or_default() += 1;
                insertions.is_done
            });
            if is_done { refuse(TOO_LATE) } else { forward(pe, home, Stage::Asking, insert) }
        }
        Stage::Needed if home != pe.id => forward(pe, home, Stage::Needed, insert),
        Stage::Needed => provide(pe, &info, insert),
        _ if is_here => refuse("there is such a member already; destroy it first"),
        Stage::Contested => forward(pe, home, Stage::Cleared, insert),
        Stage::Granted => grant_here(pe, *insert),
        Stage::Asking | Stage::Cleared => {
            let is_refused = with_insertions(pe, id, |insertions| {
                let is_refused = stage == Stage::Asking && !insertions.are_expected();
                *insertions.heard.entry(from).or_default() += u64::from(stage == Stage::Asking);
                is_refused
            });
            if is_refused {
                return refuse(TOO_LATE);
            }
            let outcome = decide(pe, &info, insert);
            sweep_if_closed(pe, id);
            outcome
        }
    }
}

fn with_insertions<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut Insertions) -> R) -> R {
    let mut places = pe.places.borrow_mut();
    body(&mut places.collection_mut(id).expect("looked at before").insertions)
}

/// As its home: where the member is to live.
fn decide(pe: &Pe, info: &CollectionInfo, insert: Box<Insert>) -> Outcome {
    let InsertionOrder { collection: id, index, on, .. } = insert.order;
    let elsewhere =
        pe.places.borrow().collection(id).and_then(|collection| collection.away.get(&index).copied());
    if let Some(elsewhere) = elsewhere {
        return forward(pe, elsewhere, Stage::Contested, insert);
    }
    let companion = info.bound_to().and_then(|other| find_companion(pe, other, index));
    if let (Some(companion), Some(on)) = (companion, on)
        && companion != on
    {
        let shown = info.chare.index.show(index);
        let cause = format!(
            "it is bound to the element of another array, which lives on {companion}, and not on {on}"
        );
        fail(pe, format!("inserting member {shown} of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    let at = companion.or(on).unwrap_or(pe.id);
    if at.0 >= pe.node.layout.pes() {
        let cause = format!("there is no {at}: the job has {} PEs", pe.node.layout.pes());
        fail(pe, format!("inserting a member of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    grant(pe, at, insert)
}

/// Where the element lives that a new one of a bound array is to live with, if there is one.
fn find_companion(pe: &Pe, other: CollectionId, index: Index) -> Option<PeId> {
    let places = pe.places.borrow();
    let other = places.collection(other)?;
    let is_here = other.members.include(index).then_some(pe.id);
    is_here.or_else(|| other.away.get(&index).copied())
}

/// As its home: has the member constructed on a PE, and sends it what has waited.
fn grant(pe: &Pe, at: PeId, insert: Box<Insert>) -> Outcome {
    let InsertionOrder { collection: id, index, .. } = insert.order;
    let outcome = if at == pe.id {
        grant_here(pe, *insert)
    } else {
        let mut places = pe.places.borrow_mut();
        places.forget(Target::Member(id, index));
        places.collection_mut(id).expect("looked at before").away.insert(index, at);
        drop(places);
        forward(pe, at, Stage::Granted, insert)
    };
    release_early(pe, Awaited::Member(id, index));
    outcome
}

fn grant_here(pe: &Pe, insert: Insert) -> Outcome {
    let Insert { order: InsertionOrder { collection, index, name, .. }, arguments, .. } = insert;
    create_member(pe, (collection, index), name, arguments);
    Outcome::Processed
}

/// A call has come for a member that is not here.
pub(crate) fn reroute(
    pe: &Pe,
    options: CallOptions,
    call: Call,
    (id, index): (CollectionId, Index),
) -> Outcome {
    let absence = pe.places.borrow().explain_absence(pe.id, id, index);
    match absence {
        Absence::Unknown => keep_for(pe, Awaited::Collection(id), options, Body::Call(call)),
        Absence::HomeIs(to) => forward_call(pe, to, options, call),
        Absence::LivesOn(at) => {
            if call.from != pe.id {
                let news = News::Located { target: call.target, at };
                outbox::send(
                    pe,
                    call.from,
                    Envelope { options: CallOptions::new(), body: Body::News(Box::new(news)) },
                );
            }
            forward_call(pe, at, options, call)
        }
        Absence::Missing => await_or_create(pe, options, call, (id, index)),
    }
}

fn forward_call(pe: &Pe, to: PeId, options: CallOptions, call: Call) -> Outcome {
    outbox::forward(pe, to, Envelope { options, body: Body::Call(call) });
    Outcome::NotCounted
}

/// As the home of a member that is nowhere.
fn await_or_create(pe: &Pe, options: CallOptions, call: Call, (id, index): (CollectionId, Index)) -> Outcome {
    let (info, are_expected) = {
        let places = pe.places.borrow();
        let collection = places.collection(id).expect("its home knows a collection");
        (Arc::clone(&collection.info), collection.insertions.are_expected())
    };
    let what = || format!("a call of {}::{}", call.entry.chare, call.entry.name);
    if !registry().runs(call.entry.id, info.chare) {
        fail(pe, what(), "the collection consists of other chares");
        return Outcome::Processed;
    }
    let on = match call.entry.demand {
        // Whoever called has said what the index is, too.
        Some(_) if info.chare.index.dimensions == 0 && index::is_digest(index) => {
            return keep_for(pe, Awaited::Member(id, index), options, Body::Call(call));
        }
        Some(Demand::Here) => Some(call.from),
        Some(Demand::Home) => None,
        None if are_expected => {
            return keep_for(pe, Awaited::Member(id, index), options, Body::Call(call));
        }
        None => {
            fail(pe, what(), info.explain_absence(index));
            return Outcome::Processed;
        }
    };
    let order = InsertionOrder { collection: id, index, name: None, on, from: pe.id, stage: Stage::Needed };
    pe.counters.sent.add(1);
    let insert = Box::new(Insert { order, chare: info.chare, arguments: Arguments::new(()) });
    if provide(pe, &info, insert) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
    outbox::forward(pe, pe.id, Envelope { options, body: Body::Call(call) });
    Outcome::NotCounted
}

/// As the home of a member that a call needs: has it constructed if it is nowhere.
fn provide(pe: &Pe, info: &CollectionInfo, insert: Box<Insert>) -> Outcome {
    let InsertionOrder { collection: id, index, on, .. } = insert.order;
    let is_missing = {
        let places = pe.places.borrow();
        let is_here = places.collection(id).is_some_and(|collection| collection.members.include(index));
        !is_here && matches!(places.explain_absence(pe.id, id, index), Absence::Missing)
    };
    if !is_missing {
        return Outcome::Processed;
    }
    let at = info.bound_to().and_then(|other| find_companion(pe, other, index)).or(on).unwrap_or(pe.id);
    if at.0 >= pe.node.layout.pes() {
        let cause = format!("it is called from {at}, which is not there");
        fail(pe, format!("creating a member of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    grant(pe, at, insert)
}

/// On the PE where `done_inserting` was said: tells the homes.
pub(crate) fn announce_end(pe: &Pe, id: CollectionId) -> Outcome {
    if pe.places.borrow().collection(id).is_none() {
        return keep_for(pe, Awaited::Collection(id), options(), Body::DoneInserting(id));
    }
    let asked = with_insertions(pe, id, |insertions| {
        insertions.is_done = true;
        insertions.asked.iter().map(|(home, count)| (*home, *count)).collect()
    });
    broadcast::close_all(pe, id, asked);
    Outcome::Processed
}

/// As a home: `from` will ask for no more than these insertions, and nobody else for any.
pub(crate) fn close(pe: &Pe, id: CollectionId, from: PeId, insertions: u64) -> Outcome {
    if pe.places.borrow().collection(id).is_none() {
        let body = Body::Closing { collection: id, from, insertions };
        return keep_for(pe, Awaited::Collection(id), options(), body);
    }
    with_insertions(pe, id, |mine| mine.last = Some((from, insertions)));
    sweep_if_closed(pe, id);
    Outcome::Processed
}

/// Looks again at the calls of members that will not be inserted any more.
fn sweep_if_closed(pe: &Pe, id: CollectionId) {
    if with_insertions(pe, id, |insertions| insertions.are_expected()) {
        return;
    }
    let in_vain = pe.early.borrow().members_awaited(id);
    in_vain.into_iter().for_each(|awaited| release_early(pe, awaited));
}
