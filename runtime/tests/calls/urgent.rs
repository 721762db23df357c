//! Urgent calls from another PE: however many other calls wait before them, they run when the PE has seen them.

use chare::prelude::*;
use chare::{CallOptions, Job, Priority, ReachOptions};
use std::sync::atomic::{AtomicU64, Ordering};

/// Other calls that wait on a PE of the same node.
const BULK: u64 = 5_000;

/// The same on another node: more than a window of credit.
const BULK_BETWEEN_NODES: u64 = 60_000;

/// How a flooded member is called behind the flood.
type Way = fn() -> CallOptions;

struct Flooded {
    ran: u64,
    notes: Vec<u64>,
}

/// The flood that was sent last, for whose end its member waits.
static IS_SENT: AtomicU64 = AtomicU64::new(0);

#[chare(group)]
impl Flooded {
    #[entry]
    fn new() -> Self {
        Self { ran: 0, notes: Vec::new() }
    }

    /// Keeps its PE until all is sent.
    #[entry]
    fn wait(&mut self, round: u64) {
        while IS_SENT.load(Ordering::Acquire) < round {
            std::thread::yield_now();
        }
    }

    #[entry]
    fn work(&mut self) {
        self.ran += 1;
    }

    #[entry]
    fn note(&mut self) {
        self.notes.push(self.ran);
    }

    /// The number of calls that have run, and those that had when `note` did.
    #[entry]
    fn end(&mut self) -> (u64, Vec<u64>) {
        (std::mem::take(&mut self.ran), std::mem::take(&mut self.notes))
    }
}

/// Floods a member, and checks that a call behind the flood runs behind at most so many calls of it; each way is tried behind a flood of its own.
async fn flood(bulk: u64, flood: CallOptions, ways: &[Way], most: u64) {
    let flooded = FloodedProxy::create();
    let member = flooded.on(PeId(1));
    // Nothing of the flood is kept until it is created.
    chare::quiescence().await;
    for (round, way) in (IS_SENT.load(Ordering::Relaxed) + 1..).zip(ways) {
        member.with(CallOptions::new().immediate()).wait(round);
        for _ in 0..bulk {
            member.with(flood.clone()).work();
        }
        member.with(way()).note();
        IS_SENT.store(round, Ordering::Release);
        chare::quiescence().await;
        let (ran, notes) = member.end().await;
        assert_eq!(ran, bulk);
        assert!(
            matches!(*notes, [ran] if ran <= most),
            "round {round}: {notes:?} of {bulk} calls ran before, not {most}"
        );
    }
}

const URGENT: [Way; 3] = [
    || CallOptions::new().immediate(),
    || CallOptions::new().expedited(),
    || CallOptions::new().priority(Priority::integer(-1)),
];

#[test]
fn an_urgent_call_overtakes_what_waits() {
    // On another PE of the node: the PE looks at messages after at most 64 calls.
    let code = Job::in_process(1, 2).run(|| async {
        flood(BULK, CallOptions::new(), &URGENT, 128).await;
        let soon = || CallOptions::new().priority(Priority::integer(-5));
        flood(
            BULK,
            soon(),
            &[URGENT[0], URGENT[1], || CallOptions::new().priority(Priority::integer(-6))],
            128,
        )
        .await;
        let late = || CallOptions::new().priority(Priority::integer(5));
        flood(
            BULK,
            late(),
            &[URGENT[0], || CallOptions::new(), || CallOptions::new().priority(Priority::integer(4))],
            128,
        )
        .await;
    });
    assert_eq!(code.expect("the job runs"), 0);
    // On another node: behind what the network holds, whose kernel decides how much that is, and before all that waits in the sender's
    // process.
    for nolocal in [false, true] {
        let network = ReachOptions { nolocal, ..ReachOptions::default() };
        let code = Job::in_process(2, 1).network(network).run(|| async {
            flood(BULK_BETWEEN_NODES, CallOptions::new(), &URGENT, BULK_BETWEEN_NODES / 3).await;
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
