//! Our side: a chare on PE 0 counts the calls of chares on all other PEs.

use chare::prelude::*;
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Takes calls, and on other PEs makes them.
struct Taker {
    missing: u64,
    began: Option<Instant>,
    done: Option<Callback<u64>>,
}

#[chare(group)]
impl Taker {
    #[entry]
    fn new() -> Self {
        Self { missing: 0, began: None, done: None }
    }

    /// Has `messages` sent here by all other PEs; `done` gets the nanoseconds until the last was taken.
    #[entry]
    fn start(&mut self, takers: TakerProxy, messages: u64, done: Callback<u64>) {
        let senders = u64::from(chare::pes() - 1);
        let each = messages / senders;
        self.missing = each * senders;
        self.done = Some(done);
        self.began = Some(Instant::now());
        for sender in 1..chare::pes() {
            takers.on(PeId(sender)).send(takers.on(PeId(0)), each);
        }
    }

    #[entry]
    fn send(&mut self, to: TakerElementProxy, messages: u64) {
        for number in 0..messages {
            to.take(number);
        }
    }

    #[entry]
    fn take(&mut self, _number: u64) {
        self.missing -= 1;
        if self.missing == 0 {
            let began = self.began.expect("it was started");
            self.done.take().expect("it was started").send(began.elapsed().as_nanos() as u64);
        }
    }
}

/// Measures one call among many.
pub(crate) fn calls(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let takers = TakerProxy::create();
        let batch = async |messages| {
            let (elapsed_ns, done) = chare::future();
            takers.on(PeId(0)).start(takers.clone(), messages, done);
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
