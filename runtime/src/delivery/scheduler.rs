//! Scheduler of a PE's thread: takes step after step, and rests when there is no work.
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue -> **delivery/scheduler** -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! A step takes one piece of work; only the loop around it knows of threads and waiting. When there is no work, a PE that has a core to
//! itself spins for a while (a spinning cache line is a thousand times faster than a futex), and a PE that shares a core yields; then the
//! PE sleeps. A PE that has nothing to do helps with the long copies of its node before it sleeps. One sleeping PE of a node watches the network (see [`crate::base::watcher`]); the others park.

use super::leisure::Leisure;
use super::{dispatch, polling};
use crate::base::panics;
use crate::base::watcher::Entrance;
use crate::model::error::JobError;
use crate::pe::queued::Queued;
use crate::pe::run_queue::RunQueue;
use crate::pe::{NETWORK_INTERVAL, Pe};
use crate::transfer::device::{launch_steps, launch_steps_if_due};
use crate::transfer::take::remote_memory::send_releases;
use chare_lrts::clock;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Largest number of messages taken at once from the mailbox and the queues of other PEs, beside those that are to be sorted, so that a flood neither keeps a PE from its own
/// queue nor makes that queue longer than the cache.
const MAIL_BATCH: usize = 64;
/// Steps between two looks at the mailbox and those queues, by a PE that has more than a batch to do.
const MAIL_INTERVAL: u32 = 64;
/// Steps between two looks by a PE that has less to do: a look takes a twentieth of a call.
const MAIL_LOOK_INTERVAL: u32 = 8;
/// Time without work after which an idle PE helps with long copies, a piece of 64 KiB between two looks for work. A PE that is called
/// again and again, as in a ping-pong of 2 us between processes, is never that idle. A PE at [`Leisure`] does not wait for it.
const HELP_AFTER: Duration = Duration::from_micros(10);
/// Looks for work between two readings of the clock: a reading costs as much as several looks.
const LOOKS_PER_CLOCK: u32 = 32;
/// Number of times that a PE that shares its core offers the core to others before it sleeps.
const YIELDS: u32 = 8;
/// Longest sleep while a message or transfer waits for room in the network.
const CONGESTED_SLEEP: Duration = Duration::from_micros(100);

/// Time between two checks by a parked PE whether spinning PEs still poll the network: they may be in a long entry.
const SPINNERS_CHECK: Duration = Duration::from_millis(1);

/// Exit code of a job whose standard output nobody reads any more: that of a program which a closed pipe ends (128 and SIGPIPE).
const CLOSED_OUTPUT_CODE: i32 = 141;

/// Does one piece of work if there is any; returns whether it did anything. Called with the PE entered.
fn step<const SEEN: bool>(pe: &Rc<Pe>) -> bool {
    if !pe.node.is_open() {
        return poll(pe);
    }
    let steps = pe.begin_step();
    let is_due = steps.is_multiple_of(NETWORK_INTERVAL);
    let polled = is_due && poll(pe);
    let mut queued = match next(pe, steps) {
        Some(queued) => queued,
        None if polled || (!is_due && poll(pe)) => return true,
        // Collected messages leave before the PE rests: nothing more comes to join them now.
        None if settle_services(pe) => return true,
        None => match pe.queue.borrow_mut().pop_idle() {
            Some(queued) => queued,
            None => return false,
        },
    };
    dispatch::process::<SEEN>(pe, &mut queued);
    pe.queue.borrow_mut().give_back(queued);
    true
}

/// The next piece of work: in the queue, or left by other threads.
#[inline(always)]
fn next(pe: &Pe, steps: u32) -> Option<Box<Queued>> {
    let mut queue = pe.queue.borrow_mut();
    let looks = queue.is_empty() || steps.is_multiple_of(MAIL_LOOK_INTERVAL);
    // Messages that wait in front of the queue cost nothing: a flood that is moved in would push the rest out of the cache.
    if looks && has_mail(pe) && (queue.len() < MAIL_BATCH || steps.is_multiple_of(MAIL_INTERVAL)) {
        take_mail(pe, &mut queue);
    }
    queue.pop()
}

/// Queues the messages that other threads left for this PE. Out of line: steps that find none need not make room for it.
#[inline(never)]
fn take_mail(pe: &Pe, queue: &mut RunQueue<Queued>) {
    let (places, ways) = (&mut *pe.places.borrow_mut(), &mut *pe.ways_in.borrow_mut());
    let of_each = (MAIL_BATCH / ways.len().max(1)).max(1);
    for way in ways {
        way.take(of_each, |received| queue.push_received(places, received));
    }
    if !pe.mailbox.is_empty() {
        // All of it: what is to run first may have come last. As much as there is now, because more may come for ever.
        for work in std::iter::from_fn(|| pe.mailbox.pop_sorted()).take(pe.mailbox.sorted_len()) {
            queue.push_work(work);
        }
        for work in std::iter::from_fn(|| pe.mailbox.pop()).take(MAIL_BATCH) {
            queue.push_work(work);
        }
    }
}

/// Whether there is work to run: left by other threads, or in the queue, where polls put the messages that arrive, and where waking a
/// task of this PE puts the task.
fn has_work(pe: &Pe) -> bool {
    pe.node.is_open() && (pe.queue.borrow().has_any() || has_mail(pe))
}

#[inline]
fn has_mail(pe: &Pe) -> bool {
    pe.ways_in.borrow().iter().any(|way| !way.is_empty()) || !pe.mailbox.is_empty()
}

/// Sends due releases, launches due steps on devices, and polls services and the network. Returns whether anything happened.
fn poll(pe: &Rc<Pe>) -> bool {
    send_releases(pe);
    let launched = launch_steps_if_due(pe, has_work);
    let polled = pe.attended().fold(false, |did, service| {
        let _span = pe.span_if_it_sends(service.name);
        (service.poll)(pe) | did
    });
    launched | polled | polling::look(&pe.node, Some(pe))
}

/// Lets services finish the work that they have begun, before the PE rests; returns whether they did anything.
fn settle_services(pe: &Pe) -> bool {
    pe.attended().fold(false, |did, service| {
        let _span = pe.span_if_it_sends(service.name);
        (service.before_rest)(pe) | did
    })
}

/// Policy by which a PE waits for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdlePolicy {
    /// The PE has a core to itself: spin, then sleep.
    Spin,
    /// The PE shares its core: yield, then sleep.
    Yield,
}

/// Runs a PE until the job ends on its node; `first` runs before everything else. A panic anywhere ends the job.
pub(crate) fn run(pe: &Rc<Pe>, policy: IdlePolicy, first: impl FnOnce()) {
    pe.mailbox.attach();
    pe.enter(|| {
        let ran = panics::catch(|| {
            first();
            if pe.is_seen() {
                turn::<true>(pe, policy);
            } else {
                turn::<false>(pe, policy);
            }
        });
        if let Err(cause) = ran {
            if panics::is_closed_output(&cause) {
                pe.node.exit(CLOSED_OUTPUT_CODE);
            } else {
                let what = pe.running().describe();
                pe.node.fail(JobError::Panic { what, pe: pe.id, node: pe.node.id, cause });
            }
        }
        if let Err(error) = pe.clear() {
            pe.node.fail_after_end(error);
        }
        pe.end_timeline();
    });
}

/// Takes step after step until the job ends. `SEEN`: the PE has a timeline, or takes the times of entries.
fn turn<const SEEN: bool>(pe: &Rc<Pe>, policy: IdlePolicy) {
    let mut leisure = Leisure::new();
    while !pe.node.has_ended() {
        if !step::<SEEN>(pe) {
            rest::<SEEN>(pe, policy, &mut leisure);
        } else if policy == IdlePolicy::Yield && pe.node.network.has_copies() && !has_work(pe) {
            // The step may have been a piece of a copy. The kernel would take the core away after hundreds of them.
            std::thread::yield_now();
        }
    }
}

/// Waits until there is something to do.
fn rest<const SEEN: bool>(pe: &Rc<Pe>, policy: IdlePolicy, leisure: &mut Leisure) {
    // Most waits are over before the clock could be read twice: they are not even counted as idle.
    if policy == IdlePolicy::Spin && (copy_beside_helpers(pe) || look_often::<SEEN>(pe)) {
        return;
    }
    let idle_since = clock::now();
    pe.note_rest();
    let watch = pe.node.watch();
    if watch.start_spinning() {
        pe.node.network.wake();
    }
    let found = match policy {
        IdlePolicy::Spin => spin::<SEEN>(pe, idle_since, leisure),
        IdlePolicy::Yield => offer_core::<SEEN>(pe, idle_since, leisure),
    };
    watch.stop_spinning();
    if !found {
        sleep_until_work(pe);
        // What wakes a PE is often the very message that begins a copy.
        leisure.begin(pe, 1);
    }
    pe.counters.idle_ns.add(clock::since(idle_since).as_nanos() as u64);
}

/// Copies a piece if the PE has posted copies, which it leaves to helpers for as long as it has work; returns whether there was one.
fn copy_beside_helpers(pe: &Pe) -> bool {
    pe.node.network.has_own_copies() && polling::help(&pe.node)
}

/// Looks for work a few times; returns whether there was some. A processor's pause between two looks lets the core's other hardware thread go
/// first, and leaves the lines that are looked at to those who are about to write them.
fn look_often<const SEEN: bool>(pe: &Rc<Pe>) -> bool {
    (0..LOOKS_PER_CLOCK).any(|_| {
        std::hint::spin_loop();
        step::<SEEN>(pe)
    })
}

/// Whether a PE that rests since then has time for a piece of a long copy.
fn may_help(pe: &Pe, since: Instant, leisure: &Leisure) -> bool {
    leisure.lasts(pe) || clock::since(since) >= HELP_AFTER
}

/// Spins for a while; returns whether there was something to do.
fn spin<const SEEN: bool>(pe: &Rc<Pe>, since: Instant, leisure: &mut Leisure) -> bool {
    let (mut found, mut helped, mut helping_since) = (false, false, None);
    while !found && !pe.node.has_ended() && (helped || leisure.is_awake(since)) {
        // Between two pieces one look is enough: they come every few microseconds.
        found = if helped { step::<SEEN>(pe) } else { look_often::<SEEN>(pe) };
        helped = !found && may_help(pe, since, leisure) && polling::help(&pe.node);
        if helped {
            helping_since.get_or_insert_with(clock::now);
            leisure.begin(pe, 0);
        } else if let Some(began) = helping_since.take() {
            leisure.note_help(began);
        }
    }
    found
}

/// Lets other threads have the core, a few times, and helps with long copies, a piece each time; returns whether there was something to do.
fn offer_core<const SEEN: bool>(pe: &Rc<Pe>, since: Instant, leisure: &mut Leisure) -> bool {
    let mut yields = 0;
    loop {
        std::thread::yield_now();
        if step::<SEEN>(pe) {
            return true;
        }
        yields += 1;
        let may_help = may_help(pe, since, leisure);
        if may_help && polling::help(&pe.node) {
            leisure.begin(pe, 0);
        } else if yields >= YIELDS && (may_help || !pe.node.network.has_copies()) {
            return false;
        }
    }
}

/// Sleeps until there is something to do.
fn sleep_until_work(pe: &Rc<Pe>) {
    let since = clock::now();
    while !pe.node.has_ended() {
        sleep(pe, since);
        if has_work(pe) || poll(pe) || polling::help(&pe.node) {
            return pe.node.hand_over_network();
        }
    }
}

/// Sleeps until something may have happened. The PE rests since then.
fn sleep(pe: &Pe, since: Instant) {
    let node = &pe.node;
    let mut timeout = polling::tidy(node, clock::since(since));
    // Tidying may have released lent memory, or run code of the user that makes calls.
    send_releases(pe);
    settle_services(pe);
    launch_steps(pe);
    pe.flush_timeline();
    let mut at_most = |limit: Duration| timeout = Some(timeout.map_or(limit, |timeout| timeout.min(limit)));
    for due in pe.attended().filter_map(|service| (service.due)(pe)) {
        at_most(due.saturating_duration_since(clock::now()));
    }
    let was_congested = node.is_congested();
    if was_congested {
        at_most(CONGESTED_SLEEP);
    }
    let stay_awake = || {
        has_work(pe)
            || node.has_ended()
            || node.network.has_copies()
            || node.has_put_off()
            || node.has_news()
            || (!was_congested && node.is_congested())
    };
    if node.topology.nodes() == 1 {
        return pe.mailbox.park(timeout, stay_awake);
    }
    match node.watch().try_enter() {
        Entrance::Entered => {
            pe.mailbox.wait_in_network(stay_awake, || node.network.wait(timeout));
            node.watch().leave();
        }
        Entrance::Watched => pe.mailbox.park(timeout, || stay_awake() || !node.watch().has_watcher()),
        Entrance::Spun => {
            at_most(SPINNERS_CHECK);
            pe.mailbox.park(timeout, stay_awake);
        }
    }
}
