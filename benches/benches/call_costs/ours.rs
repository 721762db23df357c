//! Our side: a chain of calls, each made by the entry that the call before it ran.
//!
//! The chain goes round between PE 0 and PE 1 if there are two, else it stays on PE 0; the options of the program decide whether
//! the two share a process, and which backend is between them.

use chare::prelude::*;
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// One end of the chain.
struct Player {
    partner: Option<PlayerElementProxy>,
    began: Option<Instant>,
    done: Option<Callback<u64>>,
}

#[chare(group)]
impl Player {
    #[entry]
    fn new() -> Self {
        Self { partner: None, began: None, done: None }
    }

    #[entry]
    fn meet(&mut self, players: PlayerProxy) {
        self.partner = Some(players.on(PeId((chare::my_pe().0 + 1) % chare::pes())));
    }

    /// Starts a chain of `calls` calls that ends here; `done` gets its nanoseconds.
    #[entry]
    fn start(&mut self, calls: u64, done: Callback<u64>) {
        self.done = Some(done);
        self.began = Some(Instant::now());
        self.pass(calls);
    }

    /// One call of the chain.
    #[entry]
    fn pass(&mut self, left: u64) {
        if left > 0 {
            self.partner.as_ref().expect("they met before").pass(left - 1);
        } else {
            let began = self.began.expect("an even chain ends where it started");
            let done = self.done.take().expect("as above");
            done.send(began.elapsed().as_nanos() as u64);
        }
    }
}

/// Measures one call of the chain.
pub(crate) fn chain(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let players = PlayerProxy::create();
        players.meet(players.clone());
        chare::quiescence().await;
        let first = players.on(PeId(0));
        let batch = async |calls| {
            let (elapsed_ns, done) = chare::future();
            first.start(calls, done);
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
