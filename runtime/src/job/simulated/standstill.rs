//! Standstill of a simulated job: nothing can happen any more, or nothing but waiting has happened for a long time and nobody sleeps. The
//! job is asked what waits, and ends with that as its error, even if the question lets it go on: whoever was to be woken was not.

use super::cast::{Cast, Stage};
use super::meeting::Said;
use crate::model::error::JobError;
use crate::services::survey::{self, Purpose};
use crate::services::timers;
use chare_lrts::clock;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Time after which a job stands still in which no message was sent and none was over.
const TIME: Duration = Duration::from_secs(60);

/// Events of each PE after which the same is asked: those that never rest have many in a short time.
const EVENTS: u64 = 1_000_000;

/// The longest sleep that counts as movement.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether anything but waiting happens.
#[derive(Default)]
pub(super) struct Standstill {
    /// Messages sent and over, as they were counted last, and when.
    counted: u64,
    counted_at: u64,
    /// How many events there were then.
    counted_events: u64,
    /// When nothing was planned any more though the job had not ended: the question that follows wakes all, and may hide a wake-up that was lost.
    stood_at: Option<u64>,
    /// Whether the job stands still and was asked what waits.
    is_asked: bool,
    /// Its answer.
    told: Arc<Mutex<String>>,
}

impl Standstill {
    /// Whether so long or so many events have passed since messages were counted that they are counted again, now: for all threads, since each
    /// asks this with the same numbers.
    pub(super) fn falls_due(&mut self, now: u64, events: u64, pes: usize) -> bool {
        let (time, much) = (now - self.counted_at, events - self.counted_events);
        let is_due = time >= TIME.as_nanos() as u64 || much >= EVENTS * pes as u64;
        if is_due {
            (self.counted_at, self.counted_events) = (now, events);
        }
        is_due
    }

    /// What a thread says of its nodes where the job may stand still.
    pub(super) fn say(cast: &Cast<'_>, now: u64) -> Said {
        let counters = cast.nodes.iter().flat_map(|at| at.node.counters.iter());
        let counted = counters.fold(0_u64, |sum, of_pe| {
            sum.wrapping_add(of_pe.sent.read()).wrapping_add(of_pe.processed.read())
        });
        // Who sleeps goes on by itself.
        let sleeps = cast.within(now, 0, |cast| {
            let horizon = clock::now() + LONGEST_SLEEP;
            let mut pes = (0..).zip(&cast.pes).filter(|(actor, _)| !cast.is_lost(*actor));
            pes.any(|(_, at)| timers::next_due(&at.pe).is_some_and(|due| due < horizon))
        });
        let stays = !cast.nodes.iter().all(|at| matches!(at.stage, Stage::Gone | Stage::Lost));
        Said { counted, sleeps, stays, ..Said::NOTHING }
    }

    /// Takes the messages that were counted; returns whether the job goes on: because some were sent or are over since, because somebody
    /// sleeps, or because it was asked what waits.
    pub(super) fn look(&mut self, cast: &Cast<'_>, said: Said, now: u64) -> bool {
        let moved = std::mem::replace(&mut self.counted, said.counted) != said.counted;
        self.is_asked &= !moved;
        moved || said.sleeps || self.ask(cast, said.stays, now)
    }

    /// Takes note that nothing is planned any more; returns whether that changes.
    pub(super) fn stand_still(&mut self, cast: &Cast<'_>, said: Said, now: u64) -> bool {
        let goes_on = self.ask(cast, said.stays, now);
        if goes_on {
            self.stood_at.get_or_insert(now);
        }
        goes_on
    }

    /// Asks the job what waits, and the next time ends it with the answer, if it has a node that has not gone; returns whether anything can
    /// happen now.
    fn ask(&mut self, cast: &Cast<'_>, stays: bool, now: u64) -> bool {
        if !stays {
            return false;
        }
        let was_asked = std::mem::replace(&mut self.is_asked, true);
        let Some(at) = cast.nodes.iter().find(|at| !matches!(at.stage, Stage::Lost)) else { return false };
        let first = at.node;
        at.ambient.within(now, u64::MAX, || {
            match (first.has_ended(), was_asked) {
                // Others do not hear of the end.
                (true, _) => {
                    first.fail_after_end(self.error(now));
                    return false;
                }
                (false, true) => first.fail(self.error(now)),
                (false, false) => {
                    let told = Arc::clone(&self.told);
                    survey::begin(first, Purpose::Reply(Box::new(move |text| *told.lock() = text)));
                }
            }
            true
        })
    }

    fn error(&self, time_ns: u64) -> JobError {
        JobError::Standstill { time_ns, what: self.told.lock().clone() }
    }

    /// The error of a job that went on only because it was asked.
    pub(super) fn hidden(&self) -> Option<JobError> {
        self.stood_at.map(|time_ns| self.error(time_ns))
    }
}
