//! Calls: of the same PE, together with others, of another PE of the process, and of another process.

use chare::prelude::*;
use std::process::ExitCode;

/// Calls itself until no call is left.
struct Repeater {
    me: Option<RepeaterProxy>,
}

#[chare]
impl Repeater {
    #[entry]
    fn new() -> Self {
        Self { me: None }
    }

    #[entry]
    fn start(&mut self, calls: u64) {
        self.me = Some(self.this_chare());
        self.pass(calls);
    }

    #[entry]
    fn pass(&mut self, left: u64) {
        match &self.me {
            Some(me) if left > 0 => me.pass(left - 1),
            _ => chare::exit(0),
        }
    }
}

/// One call of the same PE.
pub(crate) fn call(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        RepeaterProxy::create().start(number);
    })
}

/// Counts what it is sent.
struct Counter {
    sum: u64,
}

#[chare(group)]
impl Counter {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry(aggregate)]
    fn add_together(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn add(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn total(&mut self) -> u64 {
        self.sum
    }
}

/// One aggregated call, with its share of the bundle's way; to the other of two PEs of a process, which run in turn.
pub(crate) fn aggregated(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let counter = CounterProxy::create().on(PeId(chare::pes() - 1));
        (0..number).for_each(|number| counter.add_together(number));
        chare::quiescence().await;
        assert_eq!(counter.total().await, sum_below(number));
        chare::exit(0);
    })
}

/// One short call of the last PE of the job, at both ends: of the same process, or of another one.
pub(crate) fn of_last_pe(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let counter = CounterProxy::create().on(PeId(chare::pes() - 1));
        (0..number).for_each(|number| counter.add(number));
        chare::quiescence().await;
        assert_eq!(counter.total().await, sum_below(number));
        chare::exit(0);
    })
}

fn sum_below(number: u64) -> u64 {
    (0..number).sum()
}
