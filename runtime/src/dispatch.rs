//! From a message to the entry method: chare table, entry table, call. `scheduler -> **dispatch** -> the entry method`

use crate::chare::{AnyChare, Identity};
use crate::collection::CollectionInfo;
use crate::context;
use crate::early::{self, Awaited};
use crate::envelope::{Body, Broadcast, Call, Create, Envelope};
use crate::error::JobError;
use crate::ids::{CollectionId, NodeId, PeId, Target};
use crate::location::{Location, locate};
use crate::mailbox::Work;
use crate::message::Arguments;
use crate::outbox;
use crate::pe::{LocalCollection, Pe};
use crate::queue::CallOptions;
use crate::quiescence::{COORDINATOR, Sums, Wave};
use crate::reduction::Partial;
use crate::registry::{ChareRegistration, EntryRegistration};
use crate::running::Running;
use crate::zerocopy::receive::{self, Destination};
use crate::zerocopy::{Nocopy, NocopyArguments, Waiting};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// What became of a piece of work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It is over.
    Processed,
    /// It waits for something, or is not counted.
    NotCounted,
}

/// Does one piece of work and leaves nothing of it.
#[inline]
pub(crate) fn process(pe: &Rc<Pe>, work: &mut Work) {
    // The way of nearly every message: a call of a chare that is here, without nocopy arguments.
    if let Work::Message(Envelope { body: Body::Call(call), .. }) = work
        && call.nocopy.is_none()
        && let Some(chare) = find(pe, call.target)
    {
        invoke(pe, chare, call);
        work.clear();
        pe.counters.processed.add(1);
    } else if process_other(pe, std::mem::take(work)) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
}

/// The chare, if it lives here; the table is free again when its entry runs.
#[inline(always)]
fn find(pe: &Pe, target: Target) -> Option<Rc<dyn AnyChare>> {
    pe.places.borrow_mut().find(target)
}

/// A chare that is here and in none of its entries.
pub(crate) fn find_free(pe: &Pe, target: Target) -> Option<Rc<dyn AnyChare>> {
    find(pe, target).filter(|chare| chare.is_free())
}

/// Calls an entry of a free chare like a function, from inside whatever runs.
pub(crate) fn call_inline(
    pe: &Pe,
    chare: &Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    mut arguments: Arguments,
) {
    pe.counters.entries.add(1);
    // Whether the caller's chare is to be removed is its own business.
    let caller_is_destroyed = pe.destroyed.take();
    let running = Running { chare: Some(Rc::clone(chare)), ..Running::named(entry.name) };
    let mut nocopy = None;
    let result =
        pe.run_inside(running, || (entry.invoke)(chare, &mut arguments, NocopyArguments::new(&mut nocopy)));
    if let Err(cause) = result {
        fail(pe, format!("{}::{}", entry.chare, entry.name), cause);
    }
    remove_if_destroyed(pe, chare.identity().target);
    pe.destroyed.set(caller_is_destroyed);
}

/// Any other work. Out of line: plain calls need not make room for it.
#[inline(never)]
fn process_other(pe: &Rc<Pe>, work: Work) -> Outcome {
    match work {
        Work::Done => Outcome::NotCounted,
        Work::Way(way) => {
            pe.ways_in.borrow_mut().push(way);
            Outcome::NotCounted
        }
        Work::Task(key) => {
            if let Some(running) = pe.tasks.running(key) {
                let target = running.identity().map(|identity| identity.target);
                pe.run_as(running, || pe.tasks.poll(key));
                target.inspect(|target| remove_if_destroyed(pe, *target));
            }
            Outcome::Processed
        }
        Work::Message(Envelope { options, body }) => match body {
            Body::Call(call) => run_call(pe, options, call),
            Body::Create(create) => create_chare(pe, create),
            Body::CreateMembers { info, arguments } => create_members(pe, info, &arguments),
            Body::Broadcast(broadcast) => run_broadcast(pe, options, *broadcast),
            Body::Contribution(partial) => {
                fold_on_node(pe, *partial);
                Outcome::Processed
            }
            Body::Resolve { future, value } => {
                let closure = pe.futures.borrow_mut().resolve(future, value);
                if let Some(closure) = closure {
                    pe.run_as(Running::named("a callback's closure"), closure);
                }
                Outcome::Processed
            }
            Body::Callback(fired) => {
                context::fire(pe, fired.callback, fired.value);
                Outcome::Processed
            }
            Body::Quiescence(wave) => {
                detect_quiescence(pe, *wave);
                Outcome::NotCounted
            }
        },
    }
}

fn fail(pe: &Pe, what: String, cause: impl ToString) {
    pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause: cause.to_string() });
}

/// Keeps a message until what it is for exists.
fn keep_for(pe: &Pe, awaited: Awaited, options: CallOptions, body: Body) -> Outcome {
    early::keep(pe, awaited, Envelope { options, body });
    Outcome::NotCounted
}

fn run_call(pe: &Rc<Pe>, options: CallOptions, mut call: Call) -> Outcome {
    let Some(chare) = find(pe, call.target) else {
        let awaited = match call.target {
            Target::Chare(id) if pe.births.borrow().include(id) => {
                let cause =
                    "it was destroyed before, as it asked by `chare::destroy`; call it no more after that";
                let Call { target, entry, .. } = call;
                fail(pe, format!("a call of {}::{} ({target})", entry.chare, entry.name), cause);
                return Outcome::Processed;
            }
            Target::Chare(id) => Awaited::Chare(id),
            Target::Member(collection, _) => Awaited::Collection(collection),
        };
        return keep_for(pe, awaited, options, Body::Call(call));
    };
    if call.nocopy.as_deref().is_some_and(|nocopy| !matches!(nocopy, Nocopy::Arrived(_))) {
        let destination = Destination { pe: pe.id, options };
        match bring_in(pe, &chare, destination, call) {
            Some(ready) => call = ready,
            None => return Outcome::NotCounted,
        }
    }
    invoke(pe, chare, &mut call);
    Outcome::Processed
}

/// Runs the post method, if there is one, and brings nocopy arguments in; `None` when they have to be waited for.
fn bring_in(pe: &Rc<Pe>, chare: &Rc<dyn AnyChare>, destination: Destination, call: Call) -> Option<Call> {
    let entry = call.entry;
    let fail = |cause| {
        fail(pe, format!("{}::{}", entry.chare, entry.name), cause);
        None
    };
    if entry.has_posts() {
        let (waiting, posts) = Waiting::open(&pe.node, pe.id, &call);
        let posted = pe.run_entry(Rc::clone(chare), entry.name, call.reference, |chare| {
            (entry.post)(chare, &call.arguments, posts)
        });
        if let Err(cause) = posted {
            return fail(cause.to_string());
        }
        return match waiting.enter(destination, call) {
            Ok(None) => None,
            Ok(Some((destination, call, given))) => {
                receive::land(&pe.node, destination, call, given).unwrap_or_else(fail)
            }
            Err(cause) => fail(cause),
        };
    }
    receive::land(&pe.node, destination, call, Vec::new()).unwrap_or_else(fail)
}

/// Runs an entry, whose arguments are all here.
#[inline]
fn invoke(pe: &Pe, chare: Rc<dyn AnyChare>, call: &mut Call) {
    let Call { target, entry, arguments, nocopy, reference } = call;
    pe.counters.entries.add(1);
    let result = pe.run_entry(chare, entry.name, *reference, |chare| {
        (entry.invoke)(chare, arguments, NocopyArguments::new(nocopy))
    });
    if let Err(cause) = result {
        fail_entry(pe, entry, &cause);
    }
    remove_if_destroyed(pe, *target);
}

#[cold]
fn fail_entry(pe: &Pe, entry: &EntryRegistration, cause: &str) {
    fail(pe, format!("{}::{}", entry.chare, entry.name), cause);
}

/// Removes a chare that asked for it, after the step of an entry in which it did.
#[inline]
fn remove_if_destroyed(pe: &Pe, target: Target) {
    if pe.destroyed.get() {
        remove_destroyed(pe, target);
    }
}

#[cold]
fn remove_destroyed(pe: &Pe, target: Target) {
    pe.destroyed.set(false);
    // Dropped after the borrow: the chare's state may run code of the user.
    let removed = pe.places.borrow_mut().remove(target);
    drop(removed);
}

fn construct(pe: &Rc<Pe>, target: Target, chare: &'static ChareRegistration, arguments: Arguments) {
    let identity = Rc::new(Identity::new(target, chare.name));
    let running = Running { unborn: Some(Rc::clone(&identity)), ..Running::named("constructor") };
    match pe.run_as(running, || (chare.construct)(&identity, arguments)) {
        Ok(made) => {
            pe.places.borrow_mut().insert(target, made);
            remove_if_destroyed(pe, target);
        }
        Err(error) => fail(pe, format!("the constructor of {}", chare.name), error),
    }
}

fn create_chare(pe: &Rc<Pe>, Create { id, chare, arguments }: Create) -> Outcome {
    if !pe.births.borrow_mut().note(id) {
        fail(pe, format!("creating {}", chare.name), format!("{} was created before", Target::Chare(id)));
        return Outcome::Processed;
    }
    construct(pe, Target::Chare(id), chare, arguments);
    release_early(pe, Awaited::Chare(id));
    Outcome::Processed
}

fn create_members(pe: &Rc<Pe>, info: Arc<CollectionInfo>, arguments: &Arguments) -> Outcome {
    let (id, chare) = (info.id, info.chare);
    let members: Rc<[_]> = info.members_on(pe.id).into();
    pe.collections.borrow_mut().insert(id, LocalCollection { info, members: Rc::clone(&members) });
    pe.places.borrow_mut().reserve(members.len());
    for index in members.iter() {
        construct(pe, Target::Member(id, *index), chare, arguments.clone());
    }
    release_early(pe, Awaited::Collection(id));
    Outcome::Processed
}

/// Sends on what arrived before its chare or collection did; it was counted when it was sent.
fn release_early(pe: &Rc<Pe>, awaited: Awaited) {
    let early = pe.early.borrow_mut().release(awaited);
    for Envelope { options, body } in early {
        match body {
            Body::Call(call) => match locate(pe, call.target) {
                Location::At(to) => {
                    outbox::forward(pe, to, Envelope { options, body: Body::Call(call) });
                }
                Location::Nowhere(cause) => {
                    fail(pe, format!("a call of {}::{}", call.entry.chare, call.entry.name), cause);
                }
                Location::Unknown(_) => unreachable!("it exists now"),
            },
            body => outbox::forward(pe, pe.id, Envelope { options, body }),
        }
    }
}

fn run_broadcast(pe: &Rc<Pe>, options: CallOptions, broadcast: Broadcast) -> Outcome {
    let Broadcast { collection, entry, arguments, nocopy, reference } = broadcast;
    let members = pe.collections.borrow().get(&collection).map(|local| Rc::clone(&local.members));
    let Some(members) = members else {
        let broadcast = Broadcast { collection, entry, arguments, nocopy, reference };
        let body = Body::Broadcast(Box::new(broadcast));
        return keep_for(pe, Awaited::Collection(collection), options, body);
    };
    let mut arguments = Some(arguments);
    for (position, index) in members.iter().enumerate() {
        let target = Target::Member(collection, *index);
        let is_last = position + 1 == members.len();
        let Some(own) = (if is_last { arguments.take() } else { arguments.clone() }) else { break };
        let mut call = Call { target, entry, arguments: own, nocopy: None, reference };
        if !nocopy.is_empty() {
            // A message of its own: a posted one may wait for its buffers.
            pe.counters.sent.add(1);
            call.nocopy = Some(Box::new(Nocopy::Leaving(nocopy.iter().cloned().collect())));
            if run_call(pe, options.clone(), call) == Outcome::Processed {
                pe.counters.processed.add(1);
            }
            continue;
        }
        let chare = pe.places.borrow().look_up(target);
        if let Some(chare) = chare {
            invoke(pe, chare, &mut call);
        }
    }
    Outcome::Processed
}

/// A member contributed: folds it into its PE's partial.
pub(crate) fn contribute(pe: &Pe, partial: Partial) {
    let Some(info) = find_collection(pe, partial.collection) else {
        unreachable!("a member's collection is known on its PE")
    };
    let whole = pe.partials.borrow_mut().add(partial, info.population(pe.id));
    match whole {
        Ok(None) => {}
        Ok(Some(whole)) => {
            let envelope =
                Envelope { options: CallOptions::new(), body: Body::Contribution(Box::new(whole)) };
            outbox::send(pe, outbox::first_pe(pe, pe.node.id), envelope);
        }
        Err(cause) => fail(pe, format!("a reduction over {}", info.chare.name), cause),
    }
}

/// A PE of this node or a node below has contributed: folds it into the node's partial.
fn fold_on_node(pe: &Pe, partial: Partial) {
    let Some(info) = find_collection(pe, partial.collection) else {
        // The nodes below were faster than the news of the collection.
        let awaited = Awaited::Collection(partial.collection);
        pe.counters.sent.add(1);
        keep_for(pe, awaited, CallOptions::new(), Body::Contribution(Box::new(partial)));
        return;
    };
    let node = &pe.node;
    let whole = pe.node_partials.borrow_mut().add(partial, info.population_below(node.id));
    let what = || format!("a reduction over {}", info.chare.name);
    match whole {
        Ok(None) => {}
        Ok(Some(whole)) => match node.layout.parent(node.id, info.root()) {
            Some(parent) => {
                let envelope =
                    Envelope { options: CallOptions::new(), body: Body::Contribution(Box::new(whole)) };
                outbox::send(pe, outbox::first_pe(pe, parent), envelope);
            }
            None => {
                let callback = whole.callback;
                match whole.finish() {
                    Ok(result) => context::fire(pe, callback, result),
                    Err(cause) => fail(pe, what(), cause),
                }
            }
        },
        Err(cause) => fail(pe, what(), cause),
    }
}

fn find_collection(pe: &Pe, collection: CollectionId) -> Option<Arc<CollectionInfo>> {
    pe.collections.borrow().get(&collection).map(|local| Arc::clone(&local.info))
}

fn detect_quiescence(pe: &Pe, wave: Wave) {
    match wave {
        Wave::Request { callback } => {
            pe.quiescence.borrow_mut().request(callback, Instant::now());
            start_due_wave(pe);
        }
        Wave::Ask => send_wave(pe, COORDINATOR, Wave::Answer(sums(pe))),
        Wave::Answer(sums) => {
            let nodes = pe.node.layout.nodes();
            let quiet = pe.quiescence.borrow_mut().answer(sums, nodes, Instant::now());
            for callback in quiet {
                context::fire(pe, callback, Arguments::new(()));
            }
        }
    }
}

/// On the coordinator: asks all nodes, if the pause is over. Returns whether it did.
pub(crate) fn start_due_wave(pe: &Pe) -> bool {
    // Most PEs, most of the time: nobody asked, so not even the clock is read.
    if pe.quiescence.borrow().next_wave().is_none() {
        return false;
    }
    let due = pe.quiescence.borrow_mut().start_wave(Instant::now());
    if due {
        for node in 0..pe.node.layout.nodes() {
            send_wave(pe, outbox::first_pe(pe, NodeId(node)), Wave::Ask);
        }
    }
    due
}

fn send_wave(pe: &Pe, to: PeId, wave: Wave) {
    outbox::send(pe, to, Envelope { options: CallOptions::new(), body: Body::Quiescence(Box::new(wave)) });
}

/// Processed before sent: what is sent meanwhile can only make the sums unequal.
fn sums(pe: &Pe) -> Sums {
    let all = || pe.node.counters.iter().map(|counters| &***counters).chain([&pe.node.outside]);
    let processed = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.processed.read()));
    let sent =
        all().fold(0u64, |sum, counters| sum.wrapping_add(counters.sent.read() + counters.woken.read()));
    Sums { sent, processed }
}
