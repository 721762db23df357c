//! Singletons: made, called and destroyed, and as the forks of a divided computation.

use chare::prelude::*;
use std::process::ExitCode;

/// Chares that are there at once.
const BROOD: u64 = 64;

/// Makes chares and does nothing else.
struct Nursery;

#[chare]
impl Nursery {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Makes [`BROOD`] chares, and goes on when they have run: calls of one PE are queued in turn.
    #[entry]
    fn make(&mut self, left: u64) {
        let now = left.min(BROOD);
        for _ in 0..now {
            NewbornProxy::create_on(chare::my_pe()).live();
        }
        match left - now {
            0 => self.this_chare().finish(),
            left => self.this_chare().make(left),
        }
    }

    #[entry]
    fn finish(&mut self) {
        chare::exit(0);
    }
}

struct Newborn;

#[chare]
impl Newborn {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn live(&mut self) {
        chare::destroy();
    }
}

/// One singleton: made, called, destroyed.
pub(crate) fn singleton(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        NurseryProxy::create().make(number);
    })
}

/// A task that splits into two until one unit is left, and sends the sum of its parts to who made it.
struct Fork {
    done: Callback<u64>,
    missing: u32,
    sum: u64,
}

#[chare]
impl Fork {
    #[entry]
    fn new(units: u64, done: Callback<u64>) -> Self {
        let mut fork = Self { done, missing: 2, sum: 0 };
        if units <= 1 {
            fork.missing = 1;
            fork.add(units);
        } else {
            let me = fork.this_chare();
            ForkProxy::create_on(chare::my_pe(), units / 2, me.add_callback());
            ForkProxy::create_on(chare::my_pe(), units - units / 2, me.add_callback());
        }
        fork
    }

    #[entry]
    fn add(&mut self, part: u64) {
        self.sum += part;
        self.missing -= 1;
        if self.missing == 0 {
            self.done.send(self.sum);
            chare::destroy();
        }
    }
}

/// One chare of a tree of forks that answer by callbacks: a tree of `number` leaves has twice as many chares.
pub(crate) fn fork(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let (total, done) = chare::future();
        ForkProxy::create(number, done);
        assert_eq!(total.await, number);
        chare::exit(0);
    })
}

/// A task that splits into two and awaits both.
struct AsyncFork;

#[chare]
impl AsyncFork {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn compute(_this: This<Self>, units: u64) -> u64 {
        let sum = if units <= 1 {
            units
        } else {
            let left = AsyncForkProxy::create_on(chare::my_pe()).compute(units / 2);
            let right = AsyncForkProxy::create_on(chare::my_pe()).compute(units - units / 2);
            left.await + right.await
        };
        chare::destroy();
        sum
    }
}

/// One chare of a tree of forks that await their parts.
pub(crate) fn fork_async(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let total = AsyncForkProxy::create().compute(number).await;
        assert_eq!(total, number);
        chare::exit(0);
    })
}
