//! Dispatch of a message to its entry method: chare table, entry table, call.
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue -> delivery/scheduler -> **delivery/dispatch** -> delivery/invocation -> the entry method`

use super::bringing_in::{Begun, bring_in, bring_in_found, go_on};
use super::fire::fire;
use super::invocation::{Passed, conclude, finish, forsake, forsake_late, invoke, run};
use super::lifecycle::{create_chare, remove_if_destroyed};
use super::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{ChareId, Target, TaskKey};
use crate::model::nocopy::NocopyArguments;
use crate::model::registry::{AnyChare, NotCalled, show};
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use crate::node::timeline::What;
use crate::pe::creations::Epitaph;
use crate::pe::early::Missing;
use crate::pe::futures::{Awaited, Broken, Decode, Resolved};
use crate::pe::queued::{Outcome, Queued};
use crate::pe::running::Running;
use crate::pe::{ChareEvent, Pe};
use std::hint::cold_path;
use std::rc::Rc;

/// Processes a piece of work and leaves [`Queued::Done`] in its place. `SEEN`: the PE may have a timeline, or take the times of entries; the
/// code for PEs without has no trace of either on the way of plain calls.
#[inline]
pub(crate) fn process<const SEEN: bool>(pe: &Pe, queued: &mut Queued) {
    let found = match queued {
        Queued::Call(call) => Some((call, None)),
        Queued::NocopyCall(call, nocopy) => {
            if !nocopy.is_ready(call.entry.nocopy) {
                let begun = bring_in_found(pe, call, nocopy);
                if !matches!(begun, Begun::Ready) {
                    return leave(pe, queued, begun);
                }
            }
            Some((call, Some(&mut **nocopy)))
        }
        _ => None,
    };
    // The way of nearly every message.
    if let Some((call, nocopy)) = found
        && let Some(chare) = call.take_chare()
    {
        let (arguments, nocopy) = (&mut call.arguments, NocopyArguments::new(nocopy));
        let (called, chare) = run::<SEEN>(pe, chare, call.entry, Passed { arguments, nocopy, reference: 0 });
        let cost = call.cost;
        if let Err(cause) = called {
            return not_called(pe, queued, chare, cause);
        }
        conclude(pe, chare);
        queued.clear();
        pe.counters.processed.add(1);
        if cost.bytes > 0 {
            give_back(pe, cost);
        }
    } else {
        process_other(pe, queued);
    }
}

/// Handles a call that its chare did not take, or not to its end. A call whose chare was destroyed after the call had found it looks for
/// its chare anew.
#[cold]
fn not_called(pe: &Pe, queued: &mut Queued, chare: Rc<dyn AnyChare>, cause: Box<NotCalled>) {
    if let Queued::Call(call) | Queued::NocopyCall(call, _) = queued {
        if let NotCalled::Gone = *cause {
            call.give_back_chare(chare);
        } else {
            let (entry, cost) = (call.entry, call.cost);
            finish(pe, entry, (Err(cause), chare));
            queued.clear();
            pe.counters.processed.add(1);
            return give_back_if_due(pe, cost);
        }
    }
    process_other(pe, queued);
}

fn give_back_if_due(pe: &Pe, cost: Cost) {
    if cost.bytes > 0 {
        give_back(pe, cost);
    }
}

/// Notes that a message of another node has run, and gives credit back when enough is owed.
#[cold]
fn give_back(pe: &Pe, cost: Cost) {
    let owed = pe.owed.borrow_mut().add(cost);
    if let Some(bytes) = owed {
        pe.node.give_credit(&pe.counters, cost.source, bytes);
    }
}

/// The chare, if it lives here. The table is no longer borrowed when the chare's entry runs.
#[inline(always)]
fn find(pe: &Pe, target: Target) -> Option<Rc<dyn AnyChare>> {
    pe.places.borrow_mut().find(target)
}

/// The chare, if it lives here and is in none of its entries.
pub(crate) fn find_free(pe: &Pe, target: Target) -> Option<Rc<dyn AnyChare>> {
    find(pe, target).filter(|chare| chare.is_free())
}

/// Processes all other work, and leaves [`Queued::Done`] in its place. Out of line: plain calls need not make room for it.
#[inline(never)]
fn process_other(pe: &Pe, queued: &mut Queued) {
    // Taken where it stands: to move all work out first would be a good part of a resume.
    if let Queued::Work(Work::Task(key)) = *queued {
        // A key needs no drop; `forget` saves the look for what does.
        std::mem::forget(std::mem::take(queued));
        resume(pe, key);
        return pe.counters.processed.add(1);
    }
    let cost = queued.cost();
    let outcome = match std::mem::take(queued) {
        Queued::Done => Outcome::NotCounted,
        Queued::Call(call) => run_lost(pe, call.lose(None)),
        Queued::NocopyCall(call, nocopy) => run_lost(pe, call.lose(Some(nocopy))),
        Queued::Work(work) => do_work(pe, work),
    };
    if outcome == Outcome::Processed {
        pe.counters.processed.add(1);
    }
    give_back_if_due(pe, cost);
}

/// Runs a call whose chare was destroyed after the call had found it.
fn run_lost(pe: &Pe, call: Option<Call>) -> Outcome {
    call.map_or(Outcome::NotCounted, |call| run_call(pe, CallOptions::new(), call))
}

fn do_work(pe: &Pe, work: Work) -> Outcome {
    match work {
        Work::Way(way) => {
            pe.ways_in.borrow_mut().push(way);
            Outcome::NotCounted
        }
        Work::Task(key) => {
            resume(pe, key);
            Outcome::Processed
        }
        Work::Begin(begin) => {
            let running = Running::named("work from outside the job");
            let key = pe.add_task(running.clone(), async move { begin().await });
            pe.run_as(running, || pe.tasks.poll(key));
            Outcome::Processed
        }
        Work::Waited(waited) => {
            let _arriving = pe.arriving(&waited.options);
            go_on(pe, *waited);
            Outcome::Processed
        }
        Work::Message(Envelope { options, body }, _) => {
            let _arriving = pe.arriving(&options);
            match missing_before(pe, &options) {
                Some(missing) => pe.keep(missing, options, body),
                None => take_message(pe, options, body),
            }
        }
    }
}

/// Lets a task go on; does nothing for a task that is over.
fn resume(pe: &Pe, key: TaskKey) {
    let target = pe.run_task(key);
    target.inspect(|target| remove_if_destroyed(pe, *target));
    pe.see_to_wishes();
}

/// What runs where a callback leads to a closure, in words.
const CLOSURE: &str = "a callback's closure";

/// Gives a future its value, decoded if it comes from another process; ends the job if that has sent something else.
fn bring(pe: &Pe, awaited: Awaited, value: Arguments, decode: Decode) {
    let Some(bytes) = value.as_encoded() else { return settle(pe, awaited, Ok(value)) };
    match pe.run_as(Running::named("the decoding of a future's value"), || decode(bytes)) {
        Ok(value) => settle(pe, awaited, Ok(value)),
        Err(cause) => pe.fail("the arrival of a future's value".to_owned(), cause),
    }
}

/// Gives a future its value, or the reason why none will come. The task that waits for it goes on at once: its turn has come with the
/// message.
fn settle(pe: &Pe, awaited: Awaited, value: Result<Arguments, Box<str>>) {
    let woken = {
        let _span = pe.span(|| What::runtime("a future's value"));
        pe.tasks.first_woken_by(|| awaited.settle(value))
    };
    woken.inspect(|key| resume(pe, *key));
}

/// A collection that a message is to come after and that is not here yet.
#[inline]
pub(crate) fn missing_before(pe: &Pe, options: &CallOptions) -> Option<Missing> {
    let after = options.after_collections();
    if after.is_empty() {
        return None;
    }
    cold_path();
    after.iter().find(|id| !pe.places.borrow().has_come(**id)).map(|id| Missing::Collection(*id))
}

fn take_message(pe: &Pe, mut options: CallOptions, body: Body) -> Outcome {
    match body {
        Body::Call(call) => run_call(pe, options, call),
        Body::Create(create) => create_chare(pe, create),
        Body::Resolve { future, value } => {
            let resolved = pe.futures.borrow_mut().resolve(future, value);
            match resolved {
                Resolved::Future(awaited, value, decode) => bring(pe, awaited, value, decode),
                Resolved::Closure(closure) => {
                    let run = pe.run_as(Running::named(CLOSURE), closure);
                    run.unwrap_or_else(|cause| pe.fail(format!("the call of {CLOSURE}"), cause));
                }
                Resolved::Unheard(value) => {
                    pe.run_as(Running::named("the drop of a value that nobody waits for"), || drop(value));
                }
            }
            Outcome::Processed
        }
        Body::Broken { future, cause } => {
            let broken = pe.futures.borrow_mut().break_promise(future);
            match broken {
                Broken::Future(awaited) => settle(pe, awaited, Err(cause)),
                Broken::Closure => pe.fail(CLOSURE.to_owned(), cause),
                Broken::Unheard => {}
            }
            Outcome::Processed
        }
        Body::Callback(fired) => {
            let _span = pe.span(|| What::runtime("a callback"));
            fire(pe, fired.callback, fired.value);
            Outcome::Processed
        }
        Body::System(message) => {
            let service = pe.service(message.service()).expect("whoever sent it is a service");
            let _span = pe.span(|| What::runtime(service.name));
            // Where the service keeps the message, or sends with its options, it is not this arrival any more.
            options.forget_message_name();
            (service.deliver)(pe, options, message)
        }
    }
}

pub(super) fn run_call(pe: &Pe, mut options: CallOptions, mut call: Call) -> Outcome {
    let Some(chare) = find(pe, call.target) else {
        return match call.target {
            Target::Chare(id) => miss(pe, options, call, id),
            Target::Member(collection, index) => pe.reroute(options, call, (collection, index)),
        };
    };
    if options.sought().is_some() || options.copy().is_some() {
        match found(pe, options, call) {
            Ok(found) => (options, call) = found,
            Err(outcome) => return outcome,
        }
    }
    // Not before: whoever sent the call in search of its chare hears that it was found.
    if let Some(deadline) = options.due_at()
        && deadline.is_over()
    {
        forsake_late(pe, call, Some(deadline));
        return Outcome::Processed;
    }
    let (within, deadline) = (options.within(), options.due_at());
    if let Some(nocopy) = call.nocopy.as_deref_mut()
        && !nocopy.is_ready(call.entry.nocopy)
    {
        let begun = bring_in(pe, &chare, (call.entry, call.reference), &call.arguments, nocopy);
        if !matches!(begun, Begun::Ready) {
            return begun.wait(pe, &chare, options, call);
        }
    }
    pe.run_of(within, deadline, || invoke(pe, chare, call.entry, (&mut call).into()));
    Outcome::Processed
}

/// Handles a call of a singleton that is not here: it is still to come, or lives on another PE, or has ended.
#[cold]
fn miss(pe: &Pe, options: CallOptions, call: Call, id: ChareId) -> Outcome {
    let (given_to, has_ended) = {
        let strays = pe.strays.borrow();
        (strays.find(id), strays.has_ended(id))
    };
    if let Some(to) = given_to {
        outbox::forward(pe, to, Envelope { options, body: Body::Call(call) });
        return Outcome::NotCounted;
    }
    if !has_ended && !pe.created_chares.borrow().include(id) {
        return pe.keep(Missing::Chare(id), options, Body::Call(call));
    }
    let cause = "it was destroyed before, as it asked by `chare::destroy`; call it no more after that";
    let Call { target, from, entry, .. } = call;
    match pe.epitaphs.of(entry.chare) {
        Some(Epitaph { call, cause }) => pe.fail(format!("`{call}`, called on {from},"), cause),
        None => {
            let target = show(entry.chare, target);
            pe.fail(format!("a call of {}::{} ({target})", entry.chare, entry.name), cause);
        }
    }
    Outcome::Processed
}

/// Takes note that a call has found the element that its home sent it in search of.
///
/// # Errors
/// When the call is a copy of a broadcast for another element of the index: it is over.
#[cold]
fn found(pe: &Pe, mut options: CallOptions, call: Call) -> Result<(CallOptions, Call), Outcome> {
    let Target::Member(id, index) = call.target else { return Ok((options, call)) };
    let sought = options.sought();
    if let Some(journey) = options.copy() {
        let hears = {
            let mut places = pe.places.borrow_mut();
            places.collection_mut(id).is_some_and(|collection| collection.hears(index, journey, sought))
        };
        pe.settle(id, index);
        let (heard, audience) = options.take_copy();
        options = heard;
        if let Some(audience) = audience {
            pe.tell(ChareEvent::Copied { audience, is_heard: hears });
        }
        if !hears {
            forsake(pe, call);
            return Err(Outcome::Processed);
        }
    }
    if let Some(sought) = sought.filter(|sought| sought.is_pinned) {
        pe.tell(ChareEvent::Found { member: call.target, sought });
    }
    Ok((options.seeking(None), call))
}

/// Lets a call whose nocopy arguments have not all come wait for them; or look for its chare anew, if that was destroyed.
#[cold]
fn leave(pe: &Pe, queued: &mut Queued, begun: Begun) {
    if let Begun::Lost = begun {
        return process_other(pe, queued);
    }
    let cost = queued.cost();
    if let Queued::NocopyCall(call, nocopy) = std::mem::take(queued)
        && let Some(chare) = call.chare().map(Rc::clone)
        && let Some(call) = call.lose(Some(nocopy))
        && begun.wait(pe, &chare, CallOptions::new(), call) == Outcome::Processed
    {
        pe.counters.processed.add(1);
    }
    give_back_if_due(pe, cost);
}
