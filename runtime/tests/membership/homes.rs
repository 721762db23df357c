//! Remembered locations: calls that do without the home of their element.

#![expect(clippy::disallowed_methods, reason = "waits as long as users would")]

use crate::{AccountProxy, report};
use chare::prelude::*;
use chare::{ArrayOptions, Job};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether homes answer: while they do not, only callers that know better reach the element.
static HOME_IS_BUSY: AtomicBool = AtomicBool::new(false);

/// How long a home may be busy before the test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

struct Busy;

#[chare(group)]
impl Busy {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Keeps this PE from everything else.
    #[entry]
    fn be_busy(&mut self, begun: Callback<()>) {
        HOME_IS_BUSY.store(true, Ordering::SeqCst);
        begun.send(());
        let since = Instant::now();
        while HOME_IS_BUSY.load(Ordering::SeqCst) {
            assert!(since.elapsed() < PATIENCE, "a call that should not need this PE waits for it");
            std::thread::yield_now();
        }
    }
}

#[test]
fn who_has_called_an_element_finds_it_without_its_home_also_when_it_lives_elsewhere_by_now() {
    // PE 0 calls, PE 1 is home, PEs 2 and 3 are where the element lives in turn.
    for (nodes, pes) in [(1, 4), (4, 1), (2, 2)] {
        let result = Job::in_process(nodes, pes).run(|| async {
            let home = |_| PeId(1);
            let accounts = AccountProxy::create(ArrayOptions::new((1, 1)).place_by(home).dynamic(), 0);
            let busy = BusyProxy::create();
            accounts.at((0, 0)).destroy();
            chare::quiescence().await;
            for round in 0..6u32 {
                let on = PeId(2 + round % 2);
                accounts.at((0, 0)).insert_on(on, i64::from(round));
                // Callers know where it lived before, or nothing: its home puts that right.
                assert_eq!(report(&accounts, (0, 0)).await, (i64::from(round), on));
                chare::quiescence().await;
                let (begun, to) = chare::future();
                busy.on(PeId(1)).be_busy(to);
                begun.await;
                assert_eq!(report(&accounts, (0, 0)).await, (i64::from(round), on));
                HOME_IS_BUSY.store(false, Ordering::SeqCst);
                accounts.at((0, 0)).destroy();
                chare::quiescence().await;
            }
        });
        assert_eq!(result.unwrap(), 0, "{nodes}x{pes}");
    }
}
