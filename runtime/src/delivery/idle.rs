//! Idleness of a PE: what it still does before it rests, and until when it may.
//! `delivery/scheduler -> **delivery/idle**`
//!
//! 1. A PE whose steps found nothing to do tidies, sends what was collected, and learns when something will be due: [`before_sleep`].
//! 2. It announces that it sleeps, and then asks [`Rest::stays_awake`]: what was left for it before the announcement is seen here, and
//!    whoever leaves something after it wakes the PE ([`crate::base::sleep`]).
//!
//! Whoever runs the PE does the waiting.

use super::polling;
use super::scheduler::{has_work, settle_services};
use crate::pe::Pe;
use crate::transfer::device::launch_steps;
use crate::transfer::take::remote_memory::send_releases;
use chare_lrts::clock;
use std::time::{Duration, Instant};

/// Longest sleep while a message or transfer waits for room in the network.
const CONGESTED_SLEEP: Duration = Duration::from_micros(100);

/// Rest of a PE that has nothing to do.
pub(super) struct Rest {
    /// When something may be due that nobody wakes the PE for.
    pub(super) until: Option<Instant>,
    /// Something waited for room in the network already when the rest began: `until` is soon.
    was_congested: bool,
}

impl Rest {
    /// Whether there is something to do after all. Asked once the PE has announced that it sleeps.
    pub(super) fn stays_awake(&self, pe: &Pe) -> bool {
        let node = &pe.node;
        has_work(pe)
            || node.has_ended()
            || node.network.has_copies()
            || node.has_put_off()
            || node.has_news()
            || (!self.was_congested && node.is_congested())
    }
}

/// Does what is left to do before a PE sleeps that has rested for this long.
pub(super) fn before_sleep(pe: &Pe, rested: Duration) -> Rest {
    let node = &pe.node;
    let tidied = polling::tidy(node, rested);
    // Tidying may have released lent memory, or run code of the user that makes calls.
    send_releases(pe);
    settle_services(pe);
    launch_steps(pe);
    pe.flush_timeline();
    let was_congested = node.is_congested();
    let limits = tidied.into_iter().chain(was_congested.then_some(CONGESTED_SLEEP)).min();
    let after = limits.map(|limit| clock::now() + limit);
    let due = pe.attended().filter_map(|service| (service.due)(pe));
    Rest { until: due.chain(after).min(), was_congested }
}
