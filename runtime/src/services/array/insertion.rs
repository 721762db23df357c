//! Insertion of members into a collection: asked for on any PE, granted by the member's home.
//!
//! 1. The PE that asks sends the insertion to the member's home, or goes on with it if it is the home itself. If the home knows of no such
//!    member, it decides on which PE the member is to live, notes that PE unless it is the home itself, and has the member constructed there.
//! 2. If the home believes that there is such a member elsewhere, it asks that PE, whose last news may still be on the way. If the member
//!    is there, two members are inserted with one index, which ends the job; else the insertion comes back and the home decides.
//! 3. A message to a member that is not there waits at the home, or creates the member if its entry says so. In a collection where nobody
//!    may insert, such a message ends the job. Where a digest stands for an index, a call that may create the member carries the index
//!    itself beside it: it may come to a home whose member has just ended.
//! 4. `done_inserting` tells every home how many insertions the PE that called it has asked for there; the home is closed once they have
//!    come. Insertions by other PEs must be over before.

use super::creation::{Companion, create_member, create_traveller, find_companion};
use super::message::{ArrayMessage, Insert, InsertionOrder, Stage};
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::collection::{CollectionInfo, Insertions};
use crate::model::envelope::Envelope;
use crate::model::home::Admission;
use crate::model::ids::{CollectionId, Index, PeId, Target};
use crate::model::registry::ChareRegistration;
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use std::sync::Arc;

/// The cause of refusal of an insertion that comes after the end.
const TOO_LATE: &str = "nobody may insert: the array is not dynamic, or `done_inserting` was said before";

/// The cause of refusal of an insertion with the index of a member.
const EXISTS: &str = "there is such a member already; destroy it first";

/// The options of insertions: queued before calls, which may be for the member.
pub(super) fn options() -> CallOptions {
    CallOptions::new().expedited()
}

/// Asks for a member, on a given PE or where its home decides; `name` is the encoding of an index that is a digest.
pub(crate) fn insert(
    pe: &Pe,
    (collection, index): (CollectionId, Index),
    name: Option<Box<[u8]>>,
    on: Option<PeId>,
    (chare, arguments): (&'static ChareRegistration, Arguments),
) {
    let order = InsertionOrder::new((collection, index), name, (pe.id, on), Stage::Leaving);
    ask(pe, Insert { order, chare, arguments });
}

fn ask(pe: &Pe, insert: Insert) {
    outbox::send(pe, pe.id, Envelope::system(options(), ArrayMessage::Insert(insert)));
}

fn forward(pe: &Pe, to: PeId, stage: Stage, mut insert: Insert) -> Outcome {
    insert.order.stage = stage;
    outbox::forward(pe, to, Envelope::system(options(), ArrayMessage::Insert(insert)));
    Outcome::NotCounted
}

/// Takes an insertion to its next stage, on the PE where it has come.
pub(super) fn arrive(pe: &Pe, mut insert: Insert) -> Outcome {
    let InsertionOrder { collection: id, index, from, .. } = insert.order;
    let info = pe.places.borrow().collection(id).map(|collection| Arc::clone(&collection.info));
    let Some(info) = info else {
        return pe.keep(Missing::Collection(id), options(), ArrayMessage::Insert(insert).into());
    };
    let refuse = |cause: &str| refuse(pe, &info, index, cause);
    if info.chare.id != insert.chare.id {
        return refuse("the collection consists of other chares");
    }
    let home = info.home(index);
    if insert.order.stage == Stage::Leaving {
        let is_done = with_insertions(pe, id, |insertions| {
            *insertions.asked.entry(home).or_default() += 1;
            insertions.is_done
        });
        if is_done {
            return refuse(TOO_LATE);
        }
        if home != pe.id {
            return forward(pe, home, Stage::Asking, insert);
        }
        insert.order.stage = Stage::Asking;
    }
    let is_here =
        pe.places.borrow().collection(id).is_some_and(|collection| collection.members.include(index));
    let stage = insert.order.stage;
    match stage {
        _ if is_here => refuse(EXISTS),
        Stage::Contested => {
            chare_lrts::sometimes!("a contested insertion found its index free after all");
            forward(pe, home, Stage::Cleared, insert)
        }
        Stage::Granted => grant_here(pe, insert),
        // None is leaving any more.
        Stage::Leaving | Stage::Asking | Stage::Cleared => {
            let is_refused = with_insertions(pe, id, |insertions| {
                let is_refused = stage == Stage::Asking && !insertions.are_expected();
                *insertions.heard.entry(from).or_default() += u64::from(stage == Stage::Asking);
                insertions.living += u64::from(stage == Stage::Asking);
                is_refused
            });
            if is_refused {
                return refuse(TOO_LATE);
            }
            let outcome = if info.may_move() { admit(pe, insert) } else { decide(pe, &info, insert) };
            sweep_if_closed(pe, id);
            outcome
        }
    }
}

fn refuse(pe: &Pe, info: &CollectionInfo, index: Index, cause: &str) -> Outcome {
    pe.fail(format!("inserting member {} of {}", info.chare.index.show(index), info.chare.name), cause);
    Outcome::Processed
}

pub(super) fn with_insertions<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut Insertions) -> R) -> R {
    let mut places = pe.places.borrow_mut();
    body(&mut places.collection_mut(id).expect("looked at before").insertions)
}

/// At the home of elements that move: grants the insertion when no element has the index.
fn admit(pe: &Pe, mut insert: Insert) -> Outcome {
    let InsertionOrder { collection: id, index, sought, .. } = insert.order;
    let (info, admission) = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("looked at before");
        let home = collection.home.as_mut().expect("its elements move");
        (Arc::clone(&collection.info), home.admit(index, sought))
    };
    match admission {
        Admission::AtHomeOrNowhere => decide(pe, &info, insert),
        Admission::Ask { to, sought } => {
            insert.order.sought = Some(sought);
            forward(pe, to, Stage::Contested, insert)
        }
        Admission::Keep => {
            chare_lrts::sometimes!("an insertion waited for an element under way");
            insert.order.stage = Stage::Cleared;
            pe.keep(Missing::Member(id, index), options(), ArrayMessage::Insert(insert).into())
        }
        Admission::Exists => refuse(pe, &info, index, EXISTS),
    }
}

/// At the home: decides where the member is to live.
fn decide(pe: &Pe, info: &CollectionInfo, insert: Insert) -> Outcome {
    let InsertionOrder { collection: id, index, on, .. } = insert.order;
    let elsewhere =
        pe.places.borrow().collection(id).and_then(|collection| collection.away.get(&index).copied());
    if let Some(elsewhere) = elsewhere {
        chare_lrts::sometimes!("an insertion was contested");
        return forward(pe, elsewhere, Stage::Contested, insert);
    }
    let companion = match find_companion(pe, info, index) {
        Companion::Lives(at) => at,
        Companion::UnderWay(mate) => {
            chare_lrts::sometimes!("an insertion waited for the bond of its element");
            let mut insert = insert;
            insert.order.stage = Stage::Cleared;
            return pe.keep(mate, options(), ArrayMessage::Insert(insert).into());
        }
    };
    // Where a bond lives that moves, who asks cannot know.
    if let (Some(companion), Some(on)) = (companion, on)
        && companion != on
        && !info.may_move()
    {
        let shown = info.chare.index.show(index);
        let cause = format!(
            "it is bound to the element of another array, which lives on {companion}, and not on {on}"
        );
        pe.fail(format!("inserting member {shown} of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    let at = companion.or(on).unwrap_or(pe.id);
    if at.0 >= pe.node.topology.pes() {
        let cause = format!("there is no {at}: the job has {} PEs", pe.node.topology.pes());
        pe.fail(format!("inserting a member of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    grant(pe, at, insert)
}

/// At the home: has the member constructed on a PE, and sends it the calls that have waited.
fn grant(pe: &Pe, at: PeId, mut insert: Insert) -> Outcome {
    let InsertionOrder { collection: id, index, .. } = insert.order;
    let outcome = if at == pe.id {
        grant_here(pe, insert)
    } else {
        insert.order.traveller = {
            let mut places = pe.places.borrow_mut();
            places.forget(Target::Member(id, index));
            let collection = places.collection_mut(id).expect("looked at before");
            collection.send_newborn(index, at)
        };
        forward(pe, at, Stage::Granted, insert)
    };
    pe.release_early(Missing::Member(id, index));
    outcome
}

fn grant_here(pe: &Pe, insert: Insert) -> Outcome {
    let Insert { order: InsertionOrder { collection, index, name, traveller, .. }, arguments, .. } = insert;
    match traveller {
        None => create_member(pe, (collection, index), name, arguments),
        Some(traveller) => create_traveller(pe, (collection, index), (name, traveller), arguments),
    }
    Outcome::Processed
}

/// At the home of a member that a call needs and that is nowhere: has it constructed, on `companion` if it is to live with others.
pub(super) fn provide(pe: &Pe, info: &CollectionInfo, companion: Option<PeId>, insert: Insert) -> Outcome {
    let at = companion.or(insert.order.on).unwrap_or(pe.id);
    if at.0 >= pe.node.topology.pes() {
        let cause = format!("it is called from {at}, which is not there");
        pe.fail(format!("creating a member of {}", info.chare.name), cause);
        return Outcome::Processed;
    }
    grant(pe, at, insert)
}

/// Looks again at the calls of members that will not be inserted any more.
pub(super) fn sweep_if_closed(pe: &Pe, id: CollectionId) {
    if with_insertions(pe, id, |insertions| insertions.are_expected()) {
        return;
    }
    let in_vain = pe.early.borrow().members_missing(id);
    in_vain.into_iter().for_each(|missing| pe.release_early(missing));
}
