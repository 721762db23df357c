//! Our sides: PE 0 of one process updates counters of chares on PE 1 of another.

use chare::ArrayOptions;
use chare::prelude::*;
use chare_benches::Batches;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Elements that are updated in turn, by chance.
const ELEMENTS: u64 = 1000;

/// One on each PE.
struct Member {
    sum: u64,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry(aggregate)]
    fn update(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn update_alone(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn take_sum(&mut self) -> u64 {
        std::mem::take(&mut self.sum)
    }
}

/// All on PE 1.
struct Element {
    sum: u64,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry(aggregate)]
    fn update(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn update_alone(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn take_sum(&mut self, done: Callback<u64>) {
        let taken = std::mem::take(&mut self.sum);
        self.contribute(sum(taken), done);
    }
}

/// Times `updates` and all that follows from them.
async fn until_quiet(updates: impl FnOnce()) -> Duration {
    let began = Instant::now();
    updates();
    chare::quiescence().await;
    began.elapsed()
}

/// Measures an update of one chare, among many that travel together or each by itself.
pub(crate) fn member(batches: Batches, is_aggregated: bool) -> ExitCode {
    chare::run(move |_| async move {
        let member = MemberProxy::create().on(PeId(1));
        let batch = async |updates: u64| {
            let elapsed = until_quiet(|| {
                if is_aggregated {
                    (0..updates).for_each(|number| member.update(number));
                } else {
                    (0..updates).for_each(|number| member.update_alone(number));
                }
            })
            .await;
            assert_eq!(member.take_sum().await, updates * (updates - 1) / 2);
            elapsed
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

/// The same for updates of elements of an array.
pub(crate) fn elements(batches: Batches, is_aggregated: bool) -> ExitCode {
    chare::run(move |_| async move {
        let elements = ElementProxy::create(ArrayOptions::new(ELEMENTS).place_by(|_| PeId(1)));
        let mut dice = SmallRng::seed_from_u64(1);
        let mut roll = move || dice.random_range(0..ELEMENTS);
        let batch = async |updates: u64| {
            let elapsed = until_quiet(|| {
                if is_aggregated {
                    (0..updates).for_each(|number| elements.at(roll()).update(number));
                } else {
                    (0..updates).for_each(|number| elements.at(roll()).update_alone(number));
                }
            })
            .await;
            let (sum, done) = chare::future();
            elements.take_sum(done);
            assert_eq!(sum.await, updates * (updates - 1) / 2);
            elapsed
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
