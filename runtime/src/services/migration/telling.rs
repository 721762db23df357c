//! Words about moves between PEs, and what a home does about them.

use super::message::{LetGo, Member, MoveMessage, News};
use crate::delivery::outbox;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Envelope;
use crate::model::home::{self, BondWish, bond};
use crate::model::ids::{CollectionId, PeId, Target};
use crate::model::travel::Stay;
use crate::pe::early::Missing;
use crate::pe::places::HomeHere;
use crate::pe::queued::Outcome;
use crate::pe::{Pe, TellWait, Waits};
use smallvec::SmallVec;

/// What binding sees to.
const ALL_MOVE: &str = "elements that are bound to those that move do, too";

/// The options of messages about moves: before calls, which may wait for what they say.
pub(super) fn options() -> CallOptions {
    CallOptions::new().expedited()
}

pub(super) fn tell(pe: &Pe, to: PeId, member: Member, news: News) {
    outbox::send(pe, to, Envelope::system(options(), MoveMessage::News { member, news }));
}

pub(super) fn tell_home(pe: &Pe, member: Member, news: News) {
    let home = pe.places.borrow().collection(member.0).map(|collection| collection.info.home(member.1));
    home.inspect(|home| tell(pe, *home, member, news));
}

/// At the home of an element that lives on PE `from`: lets it go to another one, and those that are bound to it, if they may.
pub(super) fn grant(pe: &Pe, member: Member, (from, stay): (PeId, Stay), to: PeId) -> Outcome {
    let (id, index) = member;
    let keep = |missing| {
        let message = MoveMessage::News { member, news: News::Wish { from, stay, to } };
        pe.keep(missing, options(), message.into())
    };
    let follower = pe.places.borrow().collection(id).and_then(|collection| collection.follower);
    if let Some(follower) = follower {
        chare_lrts::sometimes!("a wish to move waited for an array that was to be bound");
        return keep(Missing::Collection(follower));
    }
    if at_home(pe, member, |_| Ok(())).is_none() {
        return Outcome::Processed;
    }
    let (answer, arrays) = {
        let mut places = pe.places.borrow_mut();
        let mut collections = places.bond_mut(id);
        let arrays: SmallVec<[CollectionId; 1]> =
            collections.iter().map(|collection| collection.info.id).collect();
        let asks = arrays.iter().position(|other| *other == id).expect("it is one of them");
        let homes = collections.iter_mut().map(|collection| &mut **collection.home.as_mut().expect(ALL_MOVE));
        (bond::wish(&mut homes.collect::<SmallVec<[_; 1]>>(), asks, index, (from, stay), to), arrays)
    };
    match answer {
        BondWish::Granted(granted) => {
            let of_array =
                |home::LetGo { number, left, stay }| LetGo { collection: arrays[number], left, stay };
            let let_go: SmallVec<[LetGo; 1]> = granted.into_iter().map(of_array).collect();
            for LetGo { collection, .. } in &let_go {
                pe.places.borrow_mut().forget(Target::Member(*collection, index));
            }
            let message = MoveMessage::Go { index, let_go, to };
            outbox::send(pe, from, Envelope::system(options(), message));
        }
        BondWish::Keep(number) => return keep(Missing::Member(arrays[number], index)),
        BondWish::Obsolete => {}
    }
    Outcome::Processed
}

/// At the home of an element: takes news of it, and looks again at what was kept for it.
pub(super) fn hear(pe: &Pe, member: Member, news: News) {
    let index = member.1;
    let is_news = at_home(pe, member, |home| match news {
        News::Stayed { from, stay } => home.stayed(index, (from, stay)),
        News::Arrived { at, stay } => home.arrived(index, (at, stay)),
        News::Found { sought } => home.found(index, sought),
        News::Wish { .. } => Ok(false),
    });
    if is_news == Some(true) {
        pe.places.borrow_mut().forget(Target::Member(member.0, index));
        pe.release_early(Missing::Member(member.0, index));
    }
}

/// Runs `body` with what this PE knows as a home of a collection's elements, which may move; what another PE says that cannot be ends the job.
pub(super) fn at_home<R>(
    pe: &Pe,
    (id, index): Member,
    body: impl FnOnce(&mut HomeHere) -> Result<R, String>,
) -> Option<R> {
    let told = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("looked at before");
        match &mut collection.home {
            Some(home) if collection.info.home(index) == pe.id => body(home),
            Some(_) => Err("this is not its home".to_owned()),
            None => Err("its elements do not move".to_owned()),
        }
    };
    told.map_err(|cause| fail(pe, (id, index), cause)).ok()
}

/// Tells which elements that have their home here are under way.
pub(super) fn tell_under_way(pe: &Pe, tell: &mut TellWait<'_>) {
    for collection in pe.places.borrow().collections() {
        let mut under_way = collection.home.iter().flat_map(|home| home.under_way());
        let Some((index, from, to)) = under_way.next() else { continue };
        let (chare, others) = (collection.info.chare, under_way.count());
        let from = from.unwrap_or(pe.id);
        let others = if others == 0 { String::new() } else { format!(", and {others} others of it") };
        tell(
            Waits::Other,
            format!(
                "element {} of {} is under way from {from} to {to}{others}",
                chare.index.show(index),
                chare.name
            ),
        );
    }
}

/// Ends the job because a move cannot be.
pub(super) fn fail(pe: &Pe, (id, index): Member, cause: String) {
    let what = {
        let places = pe.places.borrow();
        let chare = places.collection(id).expect("looked at before").info.chare;
        format!("the move of element {} of {}", chare.index.show(index), chare.name)
    };
    pe.fail(what, cause);
}
