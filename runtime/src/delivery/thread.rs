//! Thread of a PE: takes step after step, and spins, yields, helps or sleeps when there is no work.
//! `**delivery/thread** -> delivery/scheduler, delivery/idle`
//!
//! When there is no work, a PE that has a core to itself spins for a while (a spinning cache line is a thousand times faster than a
//! futex), and a PE that shares a core yields; then the PE sleeps. A PE that has nothing to do helps with the long copies of its node
//! before it sleeps. One sleeping PE of a node watches the network (see [`crate::base::watcher`]); the others park.

#![expect(clippy::disallowed_methods, reason = "parks the thread that runs the PE")]

use super::idle::{Leisure, before_sleep};
use super::polling;
use super::scheduler::{has_work, poll, step};
use crate::base::watcher::Entrance;
use crate::base::{panics, unpark};
use crate::model::error::JobError;
use crate::pe::Pe;
use chare_lrts::clock;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time without work after which an idle PE helps with long copies, a piece of 64 KiB between two looks for work. A PE that is called
/// again and again, as in a ping-pong of 2 us between processes, is never that idle. A PE at [`Leisure`] does not wait for it.
const HELP_AFTER: Duration = Duration::from_micros(10);
/// Looks for work between two readings of the clock: a reading costs as much as several looks.
const LOOKS_PER_CLOCK: u32 = 32;
/// Number of times that a PE that shares its core offers the core to others before it sleeps.
const YIELDS: u32 = 8;

/// Time between two checks by a parked PE whether spinning PEs still poll the network: they may be in a long entry.
const SPINNERS_CHECK: Duration = Duration::from_millis(1);

/// Exit code of a job whose standard output nobody reads any more: that of a program which a closed pipe ends (128 and SIGPIPE).
const CLOSED_OUTPUT_CODE: i32 = 141;

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
    pe.mailbox.attach(unpark::waker());
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
            fail(pe, cause);
        }
        clear(pe);
    });
}

/// Ends the job because of a panic on a PE.
pub(super) fn fail(pe: &Pe, cause: String) {
    if panics::is_closed_output(&cause) {
        pe.node.exit(CLOSED_OUTPUT_CODE);
    } else {
        let what = pe.running().describe();
        pe.node.fail(JobError::Panic { what, pe: pe.id, node: pe.node.id, cause });
    }
}

/// Drops what a PE has when the job is over.
pub(super) fn clear(pe: &Pe) {
    if let Err(error) = pe.clear() {
        pe.node.fail_after_end(error);
    }
    pe.leave_times();
    pe.end_timeline();
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
    let rest = before_sleep(pe, clock::since(since));
    let timeout = rest.until.map(|until| until.saturating_duration_since(clock::now()));
    let stays_awake = || rest.stays_awake(pe);
    if node.topology.nodes() == 1 {
        return pe.mailbox.park(stays_awake, || park(timeout));
    }
    match node.watch().try_enter() {
        Entrance::Entered => {
            pe.mailbox.wait_in_network(stays_awake, || node.network.wait(timeout));
            node.watch().leave();
        }
        Entrance::Watched => {
            pe.mailbox.park(|| stays_awake() || !node.watch().has_watcher(), || park(timeout));
        }
        Entrance::Spun => {
            let timeout = timeout.map_or(SPINNERS_CHECK, |timeout| timeout.min(SPINNERS_CHECK));
            pe.mailbox.park(stays_awake, || park(Some(timeout)));
        }
    }
}

fn park(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => std::thread::park_timeout(timeout),
        None => std::thread::park(),
    }
}
