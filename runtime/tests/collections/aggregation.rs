//! Aggregated calls: each arrives once, whatever the grid, the path and the order, and quiescence waits for all.

#![expect(clippy::disallowed_methods, reason = "waits as long as users would")]

use crate::every_path::{asked_seeds, on_every_path, on_every_real_path};
use chare::prelude::*;
use chare::{ArrayOptions, CallOptions, Job};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Nodes and PEs per node: up to six nodes, and grids with holes.
const SHAPES: [(u32, u32); 6] = [(1, 1), (1, 5), (2, 2), (3, 1), (5, 1), (6, 1)];

/// Longer than any test: what waits so long waits for something else.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts calls, the numbers in them, and the letters.
#[derive(Default)]
struct Table {
    calls: u64,
    sum: u64,
    letters: u64,
}

impl Table {
    fn count(&mut self, number: u64) {
        self.calls += 1;
        self.sum += number;
    }
}

#[chare(array)]
impl Table {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry(aggregate)]
    fn add(&mut self, number: u64) {
        self.count(number);
    }

    #[entry(aggregate(dimensions = 2, buffer_bytes = 100))]
    fn add_by_two(&mut self, number: u64) {
        self.count(number);
    }

    #[entry(aggregate(dimensions = 3, buffer_bytes = 1))]
    fn add_by_three(&mut self, number: u64) {
        self.count(number);
    }

    #[entry(aggregate(dimensions = 2, buffer_bytes = 300))]
    fn note(&mut self, text: String, number: u64) {
        self.letters += text.len() as u64;
        self.count(number);
    }

    /// Arguments of no size.
    #[entry(aggregate(buffer_bytes = 50), priority = -1)]
    fn tick(&mut self) {
        self.count(0);
    }

    /// Waits for another entry, with calls around it that do not.
    #[entry(aggregate)]
    async fn add_later(this: This<Self>, number: u64) {
        let (future, resolve) = chare::future();
        resolve.send(number);
        let number = future.await;
        this.with(|table| table.count(number));
    }

    /// Passes a number on from element to element, by calls that travel together.
    #[entry(aggregate(dimensions = 2))]
    fn pass(&mut self, hops: u64, elements: u64) {
        self.count(1);
        if hops > 0 {
            let next = (chare::this_index::<u64>() + 7) % elements;
            self.this_collection().at(next).pass(hops - 1, elements);
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<(u64, u64, u64)>) {
        let Self { calls, sum: numbers, letters } = std::mem::take(self);
        self.contribute(tuple((sum(calls), sum(numbers), sum(letters))), done);
    }
}

/// One on each PE, which calls from there.
struct Caller {
    tables: TableProxy,
}

/// The numbers that a caller sends, and to whom: the same wherever they are asked for.
fn calls_of(pe: u64, calls: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut state = pe * 1_000_003 + 17;
    (0..calls).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33, state >> 50)
    })
}

#[chare(group)]
impl Caller {
    #[entry]
    fn new(tables: TableProxy) -> Self {
        Self { tables }
    }

    #[entry]
    fn call(&mut self, elements: u64, calls: u64) {
        for (place, number) in calls_of(chare::my_pe().0.into(), calls) {
            let table = self.tables.at(place % elements);
            table.add(number);
            table.add(number);
            table.add_by_two(number);
            table.add_by_three(number);
            table.add_later(number);
            table.note("x".repeat(number as usize % 50), number);
            table.tick();
        }
        // One that is longer than its buffer.
        self.tables.at(0).note("y".repeat(1000), 0);
    }
}

async fn report(tables: &TableProxy) -> (u64, u64, u64) {
    chare::quiescence().await;
    let (report, done) = chare::future();
    tables.report(done);
    report.await
}

#[test]
fn every_call_arrives_once_on_every_grid_and_path() {
    const CALLS: u64 = 400;
    on_every_path(&SHAPES, || async {
        let pes = u64::from(chare::pes());
        for elements in [1, 23] {
            let tables = TableProxy::create(elements);
            let callers = CallerProxy::create(tables.clone());
            callers.call(elements, CALLS);
            let numbers = || (0..pes).flat_map(|pe| calls_of(pe, CALLS)).map(|(_, number)| number);
            let letters = numbers().map(|number| number % 50).sum::<u64>() + 1000 * pes;
            let expected = (pes * (7 * CALLS + 1), 6 * numbers().sum::<u64>(), letters);
            assert_eq!(report(&tables).await, expected);
        }
    });
}

/// Each call leaves the next one in a buffer of its PE, and nothing else is in flight.
#[test]
fn nothing_is_quiet_while_a_buffer_holds_a_call() {
    on_every_path(&SHAPES, || async {
        let tables = TableProxy::create(40);
        chare::quiescence().await;
        for _ in 0..5 {
            tables.at(3).pass(100, 40);
            tables.at(5).pass(0, 40);
            assert_eq!(report(&tables).await, (102, 102, 0));
        }
    });
}

struct Peer {
    heard: u64,
}

static HEARD: AtomicBool = AtomicBool::new(false);

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self { heard: 0 }
    }

    #[entry(aggregate(flush_after_us = 500))]
    fn ask(&mut self, from: PeId) {
        self.this_collection().on(from).answer();
    }

    #[entry]
    fn answer(&mut self) {
        self.heard += 1;
    }

    /// Never lets its PE rest until an answer has come.
    #[entry]
    fn work_until_answered(&mut self, deadline_ms: u64) {
        assert!(deadline_ms < 60_000, "the call was not sent while its PE was busy");
        if self.heard == 0 {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(1) {
                std::hint::spin_loop();
            }
            self.this_chare().work_until_answered(deadline_ms + 1);
        }
    }

    #[entry]
    fn ask_and_work(&mut self, whom: PeId) {
        self.heard = 0;
        self.this_collection().on(whom).ask(chare::my_pe());
        self.work_until_answered(0);
    }

    #[entry(aggregate)]
    fn hear(&mut self) {
        HEARD.store(true, Ordering::Release);
    }

    /// Sends, and waits inside the entry until that was heard.
    #[entry]
    fn tell_and_wait(&mut self, whom: PeId) {
        self.this_collection().on(whom).hear();
        chare::flush_aggregated();
        let begun = Instant::now();
        while !HEARD.load(Ordering::Acquire) {
            assert!(begun.elapsed() < PATIENCE, "what was flushed was not sent");
            std::thread::yield_now();
        }
    }

    #[entry(aggregate)]
    fn fail(&mut self, number: u64) {
        assert_ne!(number, 77, "seventy-seven is no good");
        self.heard += number;
    }

    #[entry(aggregate)]
    fn take(&mut self, number: u64) {
        self.heard += number;
    }

    #[entry]
    fn pour(&mut self, into: PeId, calls: u64) {
        let into = self.this_collection().on(into);
        (1..=calls).for_each(|number| into.take(number));
    }

    #[entry]
    fn total(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.heard), done);
    }
}

#[test]
fn a_call_leaves_a_busy_pe_after_a_while() {
    on_every_real_path(&[(1, 2), (2, 1)], || async {
        let peers = PeerProxy::create();
        peers.on(PeId(0)).ask_and_work(PeId(1));
        chare::quiescence().await;
    });
}

#[test]
fn a_call_leaves_when_it_is_asked_for() {
    for (nodes, pes) in [(1, 2), (2, 1)] {
        HEARD.store(false, Ordering::Release);
        let job = Job::in_process(nodes, pes).run(|| async {
            let peers = PeerProxy::create();
            chare::quiescence().await;
            peers.on(PeId(0)).tell_and_wait(PeId(1));
        });
        assert_eq!(job.unwrap(), 0);
    }
}

/// Each PE floods the next from inside an entry, with several times what may be on its way at once.
#[test]
fn a_circle_of_floods_ends() {
    // A campaign has hundreds of seeds, and its allowances are smaller.
    let calls: u64 = if asked_seeds().is_some() { 100_000 } else { 3_000_000 };
    on_every_path(&[(2, 1), (2, 2)], move || async move {
        let peers = PeerProxy::create();
        let pes = chare::pes();
        (0..pes).for_each(|pe| peers.on(PeId(pe)).pour(PeId((pe + 1) % pes), calls));
        chare::quiescence().await;
        let (total, done) = chare::future();
        peers.total(done);
        assert_eq!(total.await, u64::from(pes) * (calls * (calls + 1) / 2));
    });
}

#[test]
fn a_panic_names_the_entry_among_many_calls() {
    for (nodes, pes) in [(1, 1), (2, 1)] {
        let job = Job::in_process(nodes, pes).run(|| async {
            let last = PeerProxy::create().on(PeId(chare::pes() - 1));
            (0..200).for_each(|number| last.fail(number));
        });
        let error = job.unwrap_err().to_string();
        assert!(error.contains("Peer::fail") && error.contains("seventy-seven is no good"), "{error}");
    }
}

#[test]
fn calls_with_options_and_calls_of_many_travel_alone() {
    on_every_path(&[(1, 2), (2, 2)], || async {
        let tables = TableProxy::create(10);
        tables.add(1);
        tables.section(0..5).add(10);
        tables.at(3).with(CallOptions::new().expedited()).add(100);
        tables.at(4).add_callback().send(1000);
        assert_eq!(report(&tables).await, (10 + 5 + 2, 10 + 50 + 100 + 1000, 0));
    });
}

/// Comes and goes.
struct Guest {
    calls: u64,
}

#[chare(array, index = String)]
impl Guest {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry(aggregate(dimensions = 2))]
    fn greet(&mut self, until: u64, gone: Callback<()>) {
        self.calls += 1;
        if self.calls == until {
            gone.send(());
            chare::destroy();
        }
    }

    #[entry]
    fn calls(&mut self) -> u64 {
        self.calls
    }
}

/// Greets from everywhere.
struct Host {
    guests: GuestProxy,
}

#[chare(group)]
impl Host {
    #[entry]
    fn new(guests: GuestProxy) -> Self {
        Self { guests }
    }

    #[entry]
    fn greet(&mut self, name: String, times: u64, until: u64, gone: Callback<()>) {
        let guest = self.guests.at(name);
        (0..times).for_each(|_| guest.greet(until, gone));
    }
}

#[test]
fn calls_follow_an_element_that_goes_and_comes_again_elsewhere() {
    on_every_path(&[(1, 1), (1, 3), (2, 2), (3, 1)], || async {
        let pes = u64::from(chare::pes());
        let guests = GuestProxy::create_empty(ArrayOptions::empty());
        let hosts = HostProxy::create(guests.clone());
        for (name, at) in ["Ada", "Grace", "Barbara", "Frances"].into_iter().zip(0..) {
            let guest = guests.at(name.to_owned());
            // Calls wait for it, at its home.
            hosts.greet(name.to_owned(), 30, 0, Callback::ignore());
            guest.insert_on(PeId(at % chare::pes()));
            chare::quiescence().await;
            assert_eq!(guest.calls().await, 30 * pes);
            // It goes in the middle of calls; the others wait until it is there again, elsewhere.
            let (gone, is_gone) = chare::future();
            hosts.greet(name.to_owned(), 20, 30 * pes + 15, is_gone);
            gone.await;
            guest.insert_on(PeId((at + 1) % chare::pes()));
            chare::quiescence().await;
            assert_eq!(guest.calls().await, 20 * pes - 15);
            // By now all have heard where it is.
            hosts.greet(name.to_owned(), 10, 0, Callback::ignore());
            chare::quiescence().await;
            assert_eq!(guest.calls().await, 30 * pes - 15);
        }
    });
}

/// One on each node.
struct Depot<T: Number> {
    stock: T,
}

/// Numbers that depots hold.
trait Number: chare::Message + std::ops::AddAssign + Default {}

impl Number for u64 {}
impl Number for f64 {}

#[chare(nodegroup)]
impl<T: Number> Depot<T> {
    #[entry]
    fn new() -> Self {
        Self { stock: T::default() }
    }

    #[entry(aggregate)]
    fn store(&mut self, goods: T, _from: PeId) {
        self.stock += goods;
    }

    #[entry]
    fn stock(&mut self) -> T {
        self.stock.clone()
    }
}

chare::instantiate!(Depot<u64>);
chare::instantiate!(Depot<f64>);

#[test]
fn generic_chares_of_a_nodegroup_take_calls_that_travel_together() {
    on_every_path(&[(1, 2), (3, 1)], || async {
        let (whole, parts) = (DepotProxy::<u64>::create(), DepotProxy::<f64>::create());
        for node in (0..chare::nodes()).map(NodeId) {
            (0..100).for_each(|number| whole.on(node).store(number, chare::my_pe()));
            (0..100).for_each(|_| parts.on(node).store(0.25, chare::my_pe()));
        }
        chare::quiescence().await;
        for node in (0..chare::nodes()).map(NodeId) {
            assert_eq!((whole.on(node).stock().await, parts.on(node).stock().await), (4950, 25.0));
        }
    });
}
