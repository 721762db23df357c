//! From a message to the entry method: chare table, entry table, call. `scheduler -> **dispatch** -> the entry method`

use crate::call::Call;
use crate::context;
use crate::credit::Toll;
use crate::early::Awaited;
use crate::envelope::{Body, Broadcast, Envelope, News};
use crate::ids::{NodeId, PeId, Target};
use crate::lifecycle::{create_chare, create_members, fail, keep_for, remove_if_destroyed};
use crate::mailbox::{Outcome, Queued, Work};
use crate::message::Arguments;
use crate::object::AnyChare;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::quiescence::{COORDINATOR, Sums, Wave};
use crate::registry::{Called, EntryRegistration, NotCalled, show};
use crate::running::Running;
use crate::section::{self, Multicast};
use crate::zerocopy::receive::{self, Destination};
use crate::zerocopy::{Leaving, Nocopy, NocopyArguments, Waiting};
use crate::{aggregation, fold, insertion, lifecycle, outbox};
use smallvec::SmallVec;
use std::rc::Rc;
use std::time::Instant;

/// Does one thing and leaves nothing of it.
#[inline]
pub(crate) fn process(pe: &Rc<Pe>, queued: &mut Queued) {
    let found = match queued {
        Queued::Call(call) => Some((call, None)),
        Queued::NocopyCall(call, nocopy) => Some((call, Some(&mut **nocopy))),
        _ => None,
    };
    // The way of nearly every message.
    if let Some((call, nocopy)) = found
        && let Some(chare) = call.take_chare()
    {
        let (arguments, nocopy) = (&mut call.arguments, NocopyArguments::new(nocopy));
        let (called, chare) = run(pe, chare, call.entry, Given { arguments, nocopy, reference: 0 });
        let toll = call.toll;
        if let Err(cause) = called {
            return not_called(pe, queued, chare, &cause);
        }
        conclude(pe, &chare);
        queued.clear();
        pe.counters.processed.add(1);
        if toll.bytes > 0 {
            give_back(pe, toll);
        }
    } else {
        process_other(pe, std::mem::take(queued));
    }
}

/// A call that its chare did not take. Where that was destroyed after the call had found it, the call is found a chare anew.
#[cold]
fn not_called(pe: &Rc<Pe>, queued: &mut Queued, chare: Rc<dyn AnyChare>, cause: &NotCalled) {
    let mut queued = std::mem::take(queued);
    if let Queued::Call(call) | Queued::NocopyCall(call, _) = &mut queued {
        if let NotCalled::Misdirected(_) = cause {
            return fail_entry(pe, call.entry, cause);
        }
        call.give_back_chare(chare);
    }
    process_other(pe, queued);
}

/// A message of another node has run.
#[cold]
fn give_back(pe: &Pe, toll: Toll) {
    let owed = pe.owed.borrow_mut().add(toll);
    if let Some(bytes) = owed {
        pe.node.give_credit(&pe.counters, toll.source, bytes);
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
    let nocopy = NocopyArguments::new(None);
    let result = pe.run_inside(running, || (entry.invoke)(chare, &mut arguments, nocopy));
    if let Err(cause) = result {
        fail(pe, format!("{}::{}", entry.chare, entry.name), cause);
    }
    remove_if_destroyed(pe, chare.identity().target);
    pe.destroyed.set(caller_is_destroyed);
}

/// Any other work. Out of line: plain calls need not make room for it.
#[inline(never)]
fn process_other(pe: &Rc<Pe>, queued: Queued) {
    let toll = queued.toll();
    let outcome = match queued {
        Queued::Done => Outcome::NotCounted,
        Queued::Call(call) => run_lost(pe, call.lose(None)),
        Queued::NocopyCall(call, nocopy) => run_lost(pe, call.lose(Some(nocopy))),
        Queued::Work(work) => do_work(pe, work),
    };
    if outcome == Outcome::Processed {
        pe.counters.processed.add(1);
    }
    if toll.bytes > 0 {
        give_back(pe, toll);
    }
}

/// A call whose chare was destroyed after the call had found it.
fn run_lost(pe: &Rc<Pe>, call: Option<Call>) -> Outcome {
    call.map_or(Outcome::NotCounted, |call| run_call(pe, CallOptions::new(), call))
}

fn do_work(pe: &Rc<Pe>, work: Work) -> Outcome {
    match work {
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
        Work::Message(Envelope { options, body }, _) => match body {
            Body::Call(call) => run_call(pe, options, call),
            Body::Create(create) => create_chare(pe, create),
            Body::CreateMembers { info, arguments } => create_members(pe, info, arguments),
            Body::Insert(insert) => insertion::arrive(pe, insert),
            Body::DoneInserting(collection) => insertion::announce_end(pe, collection),
            Body::Closing { collection, from, insertions } => {
                insertion::close(pe, collection, from, insertions)
            }
            Body::Broadcast(broadcast) => run_broadcast(pe, options, *broadcast),
            Body::Bundle(bundle) => aggregation::deliver(pe, options, *bundle),
            Body::SectionCall(call) => section::run(pe, options, *call),
            Body::Multicast(multicast) => run_multicast(pe, options, *multicast),
            Body::Section(message) => section::hear(pe, *message),
            Body::Contribution { collection, partial } => {
                match fold::fold_on_node(pe, collection, partial) {
                    Ok(()) => Outcome::Processed,
                    // The nodes below were faster than the news of the collection.
                    Err(partial) => {
                        let body = Body::Contribution { collection, partial };
                        keep_for(pe, Awaited::Collection(collection), options, body)
                    }
                }
            }
            Body::News(news) => hear(pe, options, *news),
            Body::Resolve { future, value } => {
                let closure = pe.futures.borrow_mut().resolve(future, value);
                if let Some(closure) = closure {
                    pe.run_as(Running::named("a callback's closure"), closure);
                }
                Outcome::Processed
            }
            Body::Broken { future, cause } => {
                let unheard = pe.futures.borrow_mut().break_promise(future, cause);
                if let Some(cause) = unheard {
                    fail(pe, "a callback's closure".to_owned(), cause);
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

fn run_call(pe: &Rc<Pe>, options: CallOptions, mut call: Call) -> Outcome {
    let Some(chare) = find(pe, call.target) else {
        return match call.target {
            Target::Chare(id) if pe.births.borrow().include(id) => {
                let cause =
                    "it was destroyed before, as it asked by `chare::destroy`; call it no more after that";
                let Call { target, entry, .. } = call;
                let target = show(entry.chare, target);
                fail(pe, format!("a call of {}::{} ({target})", entry.chare, entry.name), cause);
                Outcome::Processed
            }
            Target::Chare(id) => keep_for(pe, Awaited::Chare(id), options, Body::Call(call)),
            Target::Member(collection, index) => insertion::reroute(pe, options, call, (collection, index)),
        };
    };
    if !call.is_ready() {
        let destination = Destination { pe: pe.id, options, toll: Toll::NONE };
        match bring_in(pe, &chare, destination, call) {
            Some(ready) => call = ready,
            None => return Outcome::NotCounted,
        }
    }
    invoke(pe, chare, call.entry, (&mut call).into());
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
        let (posted, _) = pe.run_entry(Rc::clone(chare), entry.name, call.reference, |chare| {
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

/// Runs an entry, whose arguments are all here, and gives the chare back. Part of its callers: being called costs a tenth of a message.
#[inline(always)]
fn run(
    pe: &Pe,
    chare: Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    given: Given<'_>,
) -> (Called, Rc<dyn AnyChare>) {
    pe.run_entry(chare, entry.name, given.reference, |chare| {
        (entry.invoke)(chare, given.arguments, given.nocopy)
    })
}

/// After an entry has run. Part of its callers, like [`run`].
#[inline(always)]
fn conclude(pe: &Pe, chare: &Rc<dyn AnyChare>) {
    pe.counters.entries.add(1);
    if pe.destroyed.get() {
        remove_if_destroyed(pe, chare.identity().target);
    }
}

/// The end of [`run`] for a chare that was in its PE's tables just now.
fn finish(pe: &Pe, entry: &EntryRegistration, (called, chare): (Called, Rc<dyn AnyChare>)) {
    if let Err(cause) = called {
        fail_entry(pe, entry, &cause);
    }
    conclude(pe, &chare);
}

/// Runs an entry of a chare that was in its PE's tables just now.
fn invoke(pe: &Pe, chare: Rc<dyn AnyChare>, entry: &'static EntryRegistration, given: Given<'_>) {
    let ran = run(pe, chare, entry, given);
    finish(pe, entry, ran);
}

/// What an entry gets of its call.
struct Given<'a> {
    arguments: &'a mut Arguments,
    nocopy: NocopyArguments<'a>,
    reference: u64,
}

impl<'a> From<&'a mut Call> for Given<'a> {
    #[inline]
    fn from(Call { arguments, nocopy, reference, .. }: &'a mut Call) -> Self {
        Self { arguments, nocopy: NocopyArguments::new(nocopy.as_deref_mut()), reference: *reference }
    }
}

#[cold]
fn fail_entry(pe: &Pe, entry: &EntryRegistration, cause: &NotCalled) {
    fail(pe, format!("{}::{}", entry.chare, entry.name), cause);
}

fn run_broadcast(pe: &Rc<Pe>, options: CallOptions, broadcast: Broadcast) -> Outcome {
    let Broadcast { collection, entry, arguments, nocopy, reference } = broadcast;
    let end = pe.places.borrow().collection(collection).map(|local| local.members.end());
    let Some(end) = end else {
        let broadcast = Broadcast { collection, entry, arguments, nocopy, reference };
        let body = Body::Broadcast(Box::new(broadcast));
        return keep_for(pe, Awaited::Collection(collection), options, body);
    };
    let many = Many { entry, arguments: &arguments, nocopy: &nocopy, reference };
    let (mut batch, mut last) = (SmallVec::<[Rc<dyn AnyChare>; BATCH]>::new(), None);
    // Members come by messages of their own, so none comes while this one is processed.
    for first in (0..end).step_by(BATCH) {
        if let Some(local) = pe.places.borrow().collection(collection) {
            batch.extend(local.members.within(first..end.min(first + BATCH)).map(Rc::clone));
        }
        if first + BATCH >= end {
            last = batch.pop();
        }
        // Those before it may have destroyed it.
        let there = batch.drain(..).filter(|member| !member.identity().is_gone());
        there.for_each(|member| call_one_of_many(pe, &options, member, &many));
    }
    match last.filter(|member| !member.identity().is_gone()) {
        // The only one, often: it gets what came.
        Some(member) if nocopy.is_empty() => {
            let (mut arguments, nocopy) = (arguments, NocopyArguments::new(None));
            invoke(pe, member, entry, Given { arguments: &mut arguments, nocopy, reference });
        }
        Some(member) => call_one_of_many(pe, &options, member, &many),
        None => {}
    }
    Outcome::Processed
}

/// Members that are looked up at once.
const BATCH: usize = 32;

/// What all who are called get.
struct Many<'a> {
    entry: &'static EntryRegistration,
    arguments: &'a Arguments,
    nocopy: &'a [Leaving],
    reference: u64,
}

fn run_multicast(pe: &Rc<Pe>, options: CallOptions, multicast: Multicast) -> Outcome {
    section::deliver(pe, options, multicast, |member, options, multicast| {
        let Multicast { entry, arguments, nocopy, reference, .. } = multicast;
        let many = Many { entry, arguments, nocopy, reference: *reference };
        call_one_of_many(pe, options, member, &many);
    })
}

/// Calls a member that is here.
fn call_one_of_many(pe: &Rc<Pe>, options: &CallOptions, member: Rc<dyn AnyChare>, many: &Many<'_>) {
    let Many { entry, arguments, nocopy, reference } = *many;
    if nocopy.is_empty() {
        let ran =
            pe.run_entry(member, entry.name, reference, |chare| (entry.invoke_with_copy)(chare, arguments));
        return finish(pe, entry, ran);
    }
    // A message of its own: a posted one may wait for its buffers.
    pe.counters.sent.add(1);
    let target = member.identity().target;
    let nocopy = Some(Box::new(Nocopy::Leaving(nocopy.iter().cloned().collect())));
    let call = Call { target, from: pe.id, entry, arguments: arguments.clone(), nocopy, reference };
    if run_call(pe, options.clone(), call) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
}

/// What another PE knows of a collection.
fn hear(pe: &Pe, options: CallOptions, news: News) -> Outcome {
    let id = match news {
        News::Located { target, at } => {
            pe.places.borrow_mut().learn(target, at);
            return Outcome::Processed;
        }
        News::Gone { collection, .. } | News::Begin { collection, .. } | News::Begun { collection, .. } => {
            collection
        }
    };
    if pe.places.borrow().collection(id).is_none() {
        return keep_for(pe, Awaited::Collection(id), options, Body::News(Box::new(news)));
    }
    match news {
        News::Gone { index, from, contributed, .. } => {
            lifecycle::forget_member(pe, (id, index), from, &contributed);
        }
        News::Begin { before, .. } => fold::spread_begin(pe, id, before, true),
        News::Begun { before, .. } => fold::begin(pe, id, before),
        News::Located { .. } => {}
    }
    Outcome::Processed
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
    let sent = all().fold(0u64, |sum, counters| {
        let counted = [&counters.sent, &counters.resumed, &counters.woken];
        counted.into_iter().fold(sum, |sum, counter| sum.wrapping_add(counter.read()))
    });
    Sums { sent, processed }
}
