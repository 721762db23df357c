//! Our sides, each on one PE.

use chare::prelude::*;
use chare_benches::Batches;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Chares that are there at once: as many as a program that makes them on the fly may well have.
pub(crate) const BROOD: u64 = 64;

/// Makes chares and does nothing else.
struct Nursery {
    began: Option<Instant>,
}

#[chare]
impl Nursery {
    #[entry]
    fn new() -> Self {
        Self { began: None }
    }

    /// Starts to make `left` chares, [`BROOD`] at once; `done` gets the nanoseconds.
    #[entry]
    fn start(&mut self, left: u64, done: Callback<u64>) {
        self.began = Some(Instant::now());
        self.go_on(left, done);
    }

    /// Runs when all that were made have run: calls of one PE are queued in turn.
    #[entry]
    fn go_on(&mut self, left: u64, done: Callback<u64>) {
        if left == 0 {
            let began = self.began.expect("it was started");
            return done.send(began.elapsed().as_nanos() as u64);
        }
        for _ in 0..BROOD {
            NewbornProxy::create_on(chare::my_pe()).live();
        }
        self.this_chare().go_on(left - BROOD, done);
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

/// Measures the creation of a chare, a call of it, and its end.
pub(crate) fn create(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let nursery = NurseryProxy::create();
        let batch = async |chares| {
            let (elapsed_ns, done) = chare::future();
            nursery.start(chares, done);
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

/// Waits once, for nothing.
pub(crate) struct Pause(pub(crate) bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Waiter;

#[chare]
impl Waiter {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn tick(number: u64);

    /// Waits `times` times, each time for nothing; returns the nanoseconds.
    #[entry]
    async fn pause(_this: This<Self>, times: u64) -> u64 {
        let began = Instant::now();
        for _ in 0..times {
            Pause(false).await;
        }
        began.elapsed().as_nanos() as u64
    }

    /// Calls itself and awaits the call, `times` times; returns the nanoseconds.
    #[entry]
    async fn await_ticks(this: This<Self>, times: u64) -> u64 {
        let me = this.this_chare();
        let began = Instant::now();
        for number in 0..times {
            me.tick(number);
            this.when(Self::tick).await;
        }
        began.elapsed().as_nanos() as u64
    }
}

/// Measures one wait of an `async` entry.
pub(crate) fn suspend(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let waiter = WaiterProxy::create();
        batches.run_async(async |times| Duration::from_nanos(waiter.pause(times).await)).await;
        chare::exit(0);
    })
}

/// Measures one call and the wait for it.
pub(crate) fn await_call(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let waiter = WaiterProxy::create();
        batches.run_async(async |times| Duration::from_nanos(waiter.await_ticks(times).await)).await;
        chare::exit(0);
    })
}

/// Calls itself, until no call is left; `done` then gets the nanoseconds.
struct Repeater {
    me: Option<RepeaterProxy>,
    began: Option<Instant>,
}

#[chare]
impl Repeater {
    #[entry]
    fn new() -> Self {
        Self { me: None, began: None }
    }

    #[entry]
    fn start(&mut self, calls: u64, done: Callback<u64>) {
        self.me = Some(self.this_chare());
        self.began = Some(Instant::now());
        self.pass(calls, done);
    }

    #[entry]
    fn pass(&mut self, left: u64, done: Callback<u64>) {
        match (&self.me, self.began) {
            (Some(me), _) if left > 0 => me.pass(left - 1, done),
            (_, Some(began)) => done.send(began.elapsed().as_nanos() as u64),
            _ => unreachable!("it was started"),
        }
    }
}

/// The same, as an element of an array.
struct Member {
    me: Option<MemberElementProxy>,
    began: Option<Instant>,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { me: None, began: None }
    }

    #[entry]
    fn start(&mut self, calls: u64, done: Callback<u64>) {
        self.me = Some(self.this_chare());
        self.began = Some(Instant::now());
        self.pass(calls, done);
    }

    #[entry]
    fn pass(&mut self, left: u64, done: Callback<u64>) {
        match (&self.me, self.began) {
            (Some(me), _) if left > 0 => me.pass(left - 1, done),
            (_, Some(began)) => done.send(began.elapsed().as_nanos() as u64),
            _ => unreachable!("it was started"),
        }
    }
}

/// Measures a call of a singleton on its own PE.
pub(crate) fn singleton(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let repeater = RepeaterProxy::create();
        let batch = async |calls| {
            let (elapsed_ns, done) = chare::future();
            repeater.start(calls, done);
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

/// Measures a call of an element of an array on its own PE; it is one of a thousand.
pub(crate) fn element(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let member = MemberProxy::create(1000).at(500);
        let batch = async |calls| {
            let (elapsed_ns, done) = chare::future();
            member.start(calls, done);
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
