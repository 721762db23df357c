//! Our side: elements that go from one PE to the other and back, and what is done without a move.

use chare::prelude::*;
use chare::{ArrayOptions, ThisInSyncs, ThisMigrant};
use chare_benches::Batches;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::time::Instant;

/// Goes to the other PE and back, or calls its neighbour there, until it has done so often enough.
#[derive(Serialize, Deserialize)]
struct Walker {
    left: u64,
    done: Callback<()>,
    luggage: Vec<u8>,
}

impl Walker {
    /// Counts; returns whether there is more to do.
    fn goes_on(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.done.send(());
        }
        self.left > 0
    }
}

fn other_pe() -> PeId {
    PeId(1 - chare::my_pe().0)
}

#[chare(array, migrate, sync)]
impl Walker {
    #[entry]
    fn new(bytes: u64) -> Self {
        Self { left: 0, done: Callback::ignore(), luggage: vec![1; bytes as usize] }
    }

    #[entry]
    fn walk(&mut self, moves: u64, done: Callback<()>) {
        (self.left, self.done) = (moves, done);
        self.migrate_to(other_pe());
    }

    #[moved]
    fn go_on(&mut self, _from: PeId) {
        if self.goes_on() {
            self.migrate_to(other_pe());
        }
    }

    /// Of the other element: for calls to and fro.
    #[entry]
    fn call(&mut self, left: u64, done: Callback<()>) {
        if left == 0 {
            done.send(());
        } else {
            self.this_collection().at(1 - self.this_index()).call(left - 1, done);
        }
    }

    #[entry]
    fn synchronize(&mut self, times: u64, done: Callback<()>) {
        (self.left, self.done) = (times, done);
        self.sync_then(self.this_chare().go_on_after_sync_callback());
    }

    #[entry]
    fn go_on_after_sync(&mut self) {
        if self.goes_on() {
            self.sync_then(self.this_chare().go_on_after_sync_callback());
        }
    }

    #[entry]
    fn call_itself(&mut self, left: u64, done: Callback<()>) {
        if left == 0 {
            done.send(());
        } else {
            self.this_chare().call_itself(left - 1, done);
        }
    }
}

/// Is where the walker is that it is bound to.
#[derive(Serialize, Deserialize)]
struct Companion {
    luggage: Vec<u8>,
}

#[chare(array, migrate)]
impl Companion {
    #[entry]
    fn new(bytes: u64) -> Self {
        Self { luggage: vec![1; bytes as usize] }
    }
}

/// Measures what `begin` has a walker do, so many times a batch.
fn measure(
    batches: Batches,
    walkers: (u64, u64),
    begin: impl Fn(&WalkerProxy, u64, Callback<()>) + Send + 'static,
) -> ExitCode {
    measure_of(batches, walkers, |_| (), begin)
}

/// The same, when `prepare` has had the walkers.
fn measure_of(
    batches: Batches,
    (elements, bytes): (u64, u64),
    prepare: impl FnOnce(&WalkerProxy) + Send + 'static,
    begin: impl Fn(&WalkerProxy, u64, Callback<()>) + Send + 'static,
) -> ExitCode {
    chare::run(move |_| async move {
        let walkers = WalkerProxy::create(elements, bytes);
        prepare(&walkers);
        let batch = async |times| {
            let (over, done) = chare::future();
            let began = Instant::now();
            begin(&walkers, times, done);
            over.await;
            began.elapsed()
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

/// Measures one move of an element with so many bytes.
pub(crate) fn walk(batches: Batches, bytes: u64) -> ExitCode {
    measure(batches, (1, bytes), |walkers, moves, done| walkers.at(0).walk(moves, done))
}

/// Measures one move of an element with so many bytes and of another that is bound to it, with as many.
pub(crate) fn walk_bound(batches: Batches, bytes: u64) -> ExitCode {
    let bind =
        move |walkers: &WalkerProxy| _ = CompanionProxy::create(ArrayOptions::new(1).bind_to(walkers), bytes);
    measure_of(batches, (1, bytes), bind, |walkers, moves, done| walkers.at(0).walk(moves, done))
}

/// Measures one call to the other PE.
pub(crate) fn call(batches: Batches) -> ExitCode {
    measure(batches, (2, 0), |walkers, calls, done| walkers.at(0).call(calls, done))
}

/// Measures one sync of one element.
pub(crate) fn sync(batches: Batches) -> ExitCode {
    measure(batches, (1, 0), |walkers, syncs, done| walkers.at(0).synchronize(syncs, done))
}

/// Measures one call of an element by itself.
pub(crate) fn call_itself(batches: Batches) -> ExitCode {
    measure(batches, (1, 0), |walkers, calls, done| walkers.at(0).call_itself(calls, done))
}

/// Measures one move when 10,000 elements of 1 KiB all go to the other PE.
pub(crate) fn rotate(batches: Batches) -> ExitCode {
    const ELEMENTS: u64 = 10_000;
    chare::run(move |_| async move {
        let walkers = WalkerProxy::create(ELEMENTS, 1024);
        let batch = async |moves: u64| {
            let began = Instant::now();
            walkers.walk(moves / ELEMENTS, Callback::ignore());
            chare::quiescence().await;
            began.elapsed()
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
