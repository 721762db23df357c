//! Syncs: the moments at which all elements that take part have come to a point, so that they may be balanced. The idea is Charm++'s `AtSync`.
//!
//! ```text
//! elements' PEs        homes               PE 0                     all PEs
//!   |-- Come ----------->|-- Begun ----------->|
//!   |                    |<-- Asked -----------|
//!   |                    |-- Complete (tree) ->|
//!   |                    |                     |-- Measure ---------->|
//!   |                    |                     |<-- Measured ---------|
//!   |                    |                     |   the balancer plans |
//!   |                    |                     |-- Over, moves ------>|  who stays goes on; who moves goes on when it has arrived
//! ```
//!
//! 1. All elements of arrays marked `sync` take part, from their births to their ends; see [`counts`]. They may be born, end and move at any
//!    time. A home hears that a sync has begun once it knows the arrays that the first complete home knew: it has elements of them, perhaps.
//! 2. Without a balancer a sync is no wait: the element goes on at once.
//! 3. An element that waits goes on by a callback, which goes along when the element moves, or by its `Again`. It goes on when its PE has heard that the sync
//!    is over, on arrival too.
//! 4. An element that is to move and is not free goes on where it is.
//! 5. An entry may give its wait up, as the loser of a `select!`: its element has come to the sync all the same, and its next wait is for the
//!    end of that sync, also when that is over meanwhile. So nobody is a sync behind.
//! 6. Elements are balanced without a sync, too: when the program asks for it, and every so often. One balancing is under way at a time.

mod carrying_out;
mod counts;
mod gathered;
mod measuring;
mod message;
mod planning;
mod state;
mod survey;
mod turns;
mod units;

use crate::base::typed_box::TypedBox;
use crate::model::envelope::{Body, SystemMessage, opened};
use crate::model::ids::{CollectionId, PeId, Target};
use crate::node::{Delivery, NodeService};
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use crate::services::again;
use message::{Round, SyncMessage};
use state::{Luggage, Syncs, Waiting, send, state, tell_all};
use std::cell::RefCell;
use std::time::Duration;

pub(crate) use message::ID;
pub(crate) use state::GoesOn;

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<SyncMessage>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Syncs::default())),
    deliver: |pe, options, message| {
        let message: SyncMessage = opened(message);
        if let Some(missing) = lacks(pe, &message) {
            chare_lrts::sometimes!("a sync had begun before one of its arrays was known");
            return pe.keep(missing, options, Body::System(Box::new(message)));
        }
        let outcome = if message.is_counted() { Outcome::Processed } else { Outcome::NotCounted };
        receive(pe, message);
        outcome
    },
    poll: balance_if_due,
    due: |pe| state(pe).borrow().gathered.due(),
    event: Some(hear),
    promises: |pe, tell| {
        let syncs = state(pe).borrow();
        for Waiting { sync, goes_on } in syncs.waiting.values() {
            if let GoesOn::ByCallback(callback) = goes_on {
                tell(callback, format!("sync {sync}"));
            }
        }
    },
    waits: survey::tell,
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "syncs")
};

/// Has the elements that move balanced, without a sync.
pub(crate) fn balance(pe: &Pe) {
    if pe.node.balancer.is_some() {
        send(pe, PeId(0), SyncMessage::Balance);
    }
}

/// On PE 0: begins a balancing if its time has come. Returns whether it has.
fn balance_if_due(pe: &Pe) -> bool {
    let is_due = state(pe).borrow_mut().gathered.take_due();
    if is_due {
        planning::begin(pe, Round::Due);
    }
    is_due
}

/// On PE 0: has balancings begin by themselves from the first collection on whose elements move, if they are to.
fn start_clock(pe: &Pe, collection: CollectionId) {
    let moves = || pe.places.borrow().collection(collection).is_some_and(|local| local.home.is_some());
    if pe.id == PeId(0)
        && pe.node.balancer.is_some()
        && let Some(every) = pe.node.balancing.every
        && moves()
    {
        state(pe).borrow_mut().gathered.start_clock(every);
        pe.attend_to(ID, true);
    }
}

/// Lets an element wait until the sync that is under way is over, and all elements that take part have come to it.
pub(crate) fn wait(pe: &Pe, member: Target, goes_on: GoesOn) {
    let Target::Member(id, index) = member else { unreachable!("elements of arrays take part in syncs") };
    if pe.node.balancer.is_none() {
        return carrying_out::go_on_by(pe, member, goes_on, 0);
    }
    if wait_on(pe, member, goes_on) {
        return;
    }
    let sync = {
        let mut syncs = state(pe).borrow_mut();
        let over = syncs.over;
        let next = syncs.next.entry(member).or_insert(over);
        let sync = over.max(*next);
        *next = sync + 1;
        let before = syncs.waiting.insert(member, Waiting { sync, goes_on });
        assert!(
            before.is_none(),
            "an element waits for one sync at a time: it asks for the next one when it goes on"
        );
        sync
    };
    let home = pe.places.borrow().collection(id).expect("its collection is known").info.home(index);
    send(pe, home, SyncMessage::Come { sync });
}

/// Lets an element wait on for the sync to which it has come, if the wait for that was given up. Returns whether it does.
fn wait_on(pe: &Pe, member: Target, goes_on: GoesOn) -> bool {
    let mut syncs = state(pe).borrow_mut();
    let Some(waiting) = syncs.waiting.get_mut(&member) else { return false };
    let is_given_up = match (waiting.goes_on, goes_on) {
        // Of two tasks that wait, the second one is refused before it asks here.
        (GoesOn::Again, GoesOn::Again) => true,
        (GoesOn::Again, GoesOn::ByCallback(_)) => !again::awaits_sync(pe, member),
        (GoesOn::ByCallback(_), _) => false,
    };
    if is_given_up {
        waiting.goes_on = goes_on;
        drop(syncs);
        carrying_out::go_on_if_over(pe, member);
    }
    is_given_up
}

/// Takes note that an element has given up its wait for a sync, when so many are over, that one among them.
pub(crate) fn give_up(pe: &Pe, member: Target, round: u64) {
    // 0 where nobody balances, and nobody waits.
    if let Some(sync) = round.checked_sub(1) {
        state(pe).borrow_mut().waiting.insert(member, Waiting { sync, goes_on: GoesOn::Again });
    }
}

fn hear(pe: &Pe, event: &mut ChareEvent<'_>) {
    match event {
        ChareEvent::Gone { chare, parcel, .. } => {
            // What it has done, nobody will do again.
            take_time(pe, chare.target);
            if let Some(luggage) = pack(pe, chare.target, Duration::ZERO) {
                parcel.put(ID, luggage);
            }
        }
        ChareEvent::Leaves { chare, parcel } => {
            let time = take_time(pe, chare.target);
            if let Some(luggage) = pack(pe, chare.target, time) {
                parcel.put(ID, luggage);
            }
        }
        ChareEvent::Arrives { member, parcel } => {
            state(pe).borrow_mut().carrying_out.arrive();
            match parcel.take::<Luggage>(ID) {
                Ok(luggage) => luggage.into_iter().for_each(|luggage| unpack(pe, *member, luggage)),
                Err(cause) => pe.fail("the arrival of an element".to_owned(), cause),
            }
        }
        ChareEvent::Forgotten { member: Target::Member(id, _), parcel, .. } => match parcel
            .take::<Luggage>(ID)
        {
            Ok(luggage) => {
                if let Some(next) = luggage.and_then(|luggage| luggage.next) {
                    state(pe).borrow_mut().counts.end(next);
                }
                let takes_part = pe.places.borrow().collection(*id).is_some_and(|local| local.info.syncs());
                if takes_part {
                    complete(pe);
                }
            }
            Err(cause) => pe.fail("the end of an element".to_owned(), cause),
        },
        ChareEvent::Born { collection } => start_clock(pe, *collection),
        ChareEvent::Detained { member } => carrying_out::go_on_if_over(pe, *member),
        _ => {}
    }
}

/// Takes out the time that a chare has taken since a balancer asked last, if that is measured.
fn take_time(pe: &Pe, chare: Target) -> Duration {
    pe.meter.as_ref().map_or(Duration::ZERO, |meter| meter.take_one(chare))
}

fn pack(pe: &Pe, member: Target, time: Duration) -> Option<Luggage> {
    let mut syncs = state(pe).borrow_mut();
    let (next, waiting) = (syncs.next.remove(&member), syncs.waiting.remove(&member));
    (next.is_some() || !time.is_zero()).then_some(Luggage { next, waiting, time })
}

fn unpack(pe: &Pe, member: Target, Luggage { next, waiting, time }: Luggage) {
    {
        let mut syncs = state(pe).borrow_mut();
        syncs.next.extend(next.map(|next| (member, next)));
        if waiting.is_some() {
            chare_lrts::sometimes!("an element moved while it waited for a sync");
        }
        syncs.waiting.extend(waiting.map(|waiting| (member, waiting)));
    }
    if let Some(meter) = pe.meter.as_ref().filter(|_| !time.is_zero()) {
        meter.add(member, time);
    }
    carrying_out::go_on_if_over(pe, member);
}

/// An array of which a home is to know before it counts its elements.
fn lacks(pe: &Pe, message: &SyncMessage) -> Option<Missing> {
    let SyncMessage::Asked { arrays, .. } = message else { return None };
    let places = pe.places.borrow();
    let is_unknown = |id: &&CollectionId| places.collection(**id).is_none() && !places.has_ended(**id);
    arrays.iter().find(is_unknown).map(|id| Missing::Collection(*id))
}

fn receive(pe: &Pe, message: SyncMessage) {
    match message {
        SyncMessage::Come { sync } => {
            state(pe).borrow_mut().counts.come(sync);
            complete(pe);
        }
        SyncMessage::Begun { sync, arrays } => {
            let is_new = state(pe).borrow_mut().gathered.begin(sync);
            if is_new {
                tell_all(pe, &SyncMessage::Asked { sync, arrays });
            }
        }
        SyncMessage::Asked { sync, .. } => {
            state(pe).borrow_mut().counts.ask(sync);
            complete(pe);
        }
        SyncMessage::Complete { sync, pes } => count_complete(pe, sync, pes),
        SyncMessage::Balance => planning::begin(pe, Round::Asked),
        SyncMessage::Measure { round } => {
            let (from, measured) = (pe.id, Box::new(measuring::measure(pe)));
            send(pe, PeId(0), SyncMessage::Measured { round, from, measured });
        }
        SyncMessage::Measured { round, from, measured } => planning::take(pe, round, from, *measured),
        SyncMessage::Over { round, moves } => carrying_out::end(pe, round, moves),
    }
}

/// At a home: says that it is complete for the sync that is under way, if it is.
fn complete(pe: &Pe) {
    let places = pe.places.borrow();
    let of_syncs = || places.collections().filter(|collection| collection.info.syncs());
    let living = of_syncs().map(|collection| collection.contributions.present()).sum();
    let complete = state(pe).borrow_mut().counts.complete(living);
    let Some((sync, is_asked)) = complete else { return };
    let begins_with = (!is_asked).then(|| of_syncs().map(|collection| collection.info.id).collect());
    drop(places);
    if let Some(arrays) = begins_with {
        send(pe, PeId(0), SyncMessage::Begun { sync, arrays });
    }
    let first = pe.node.topology.pe(pe.node.id, 0);
    send(pe, first, SyncMessage::Complete { sync, pes: 1 });
}

/// On the first PE of a node: counts PEs that are complete, and says so above.
fn count_complete(pe: &Pe, sync: u64, pes: u64) {
    let root = pe.node.topology.node_of(PeId(0));
    let topology = &pe.node.topology;
    let complete = {
        let mut syncs = state(pe).borrow_mut();
        syncs.complete = syncs.complete.saturating_add(pes);
        let is_whole = syncs.complete >= topology.pes_below(pe.node.id, root);
        if is_whole { std::mem::take(&mut syncs.complete) } else { return }
    };
    match topology.parent(pe.node.id, root) {
        Some(parent) => send(pe, topology.pe(parent, 0), SyncMessage::Complete { sync, pes: complete }),
        None => planning::begin(pe, Round::Sync(sync)),
    }
}
