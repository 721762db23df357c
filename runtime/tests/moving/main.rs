//! Elements that move: calls, broadcasts, reductions, sections, births and deaths stay exact while they do, over every path.

mod again;
mod awaited;
mod balanced;
mod beside;
mod bound;
#[path = "../every_path/mod.rs"]
mod every_path;
mod kept;
mod kinds;
mod lifecycle;
mod measured;
mod reductions;
mod reports;
mod state;
mod syncs;
mod tags;

use chare::ThisMigrant;
use chare::prelude::*;
use every_path::on_every_path;
use serde::{Deserialize, Serialize};

/// Nodes and PEs per node.
const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 1), (2, 2)];

/// A random PE.
fn somewhere() -> PeId {
    PeId(chare::dice().below(u64::from(chare::pes())) as u32)
}

/// Counts what it hears, and goes somewhere else after most of it.
#[derive(Serialize, Deserialize)]
struct Rambler {
    heard: u64,
    called: Vec<u32>,
    padding: Vec<u64>,
}

#[chare(array, migrate)]
impl Rambler {
    #[entry]
    fn new() -> Self {
        Self { heard: 0, called: Vec::new(), padding: (0..chare::dice().below(100)).collect() }
    }

    #[entry]
    fn call(&mut self, number: u32) {
        self.called.push(number);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn read(&mut self, #[nocopy] values: Received<u64>, number: u32) {
        assert!(values.iter().all(|value| *value == u64::from(number)));
        self.called.push(number);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn hear(&mut self, bytes: Vec<u8>) {
        self.heard += bytes.len() as u64;
        if chare::dice().below(2) == 0 {
            self.migrate_to(somewhere());
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        let mut called = std::mem::take(&mut self.called);
        called.sort_unstable();
        assert!(called.windows(2).all(|pair| pair[0] < pair[1]), "a call ran twice: {called:?}");
        assert!(self.padding.iter().copied().eq(0..self.padding.len() as u64));
        self.contribute(sum(vec![self.heard, called.len() as u64]), done);
    }
}

/// Calls from every PE.
struct Caller {
    ramblers: RamblerProxy,
}

#[chare(group)]
impl Caller {
    #[entry]
    fn new(ramblers: RamblerProxy) -> Self {
        Self { ramblers }
    }

    #[entry]
    fn call_each(&mut self, elements: u64, calls: u32) {
        for call in 0..calls {
            let number = chare::my_pe().0 * 1_000_000 + call * 2;
            for element in 0..elements {
                self.ramblers.at(element).call(number);
                let length = if call % 3 == 0 { 20_000 } else { 10 };
                self.ramblers.at(element).read(vec![u64::from(number + 1); length], number + 1);
            }
        }
    }

    #[entry]
    fn call_all(&mut self, calls: u32) {
        for _ in 0..calls {
            self.ramblers.hear(vec![7; 3]);
        }
    }
}

#[test]
fn each_call_runs_once_wherever_its_element_lives() {
    on_every_path(&SHAPES, || async {
        let ramblers = RamblerProxy::create(5);
        let callers = CallerProxy::create(ramblers.clone());
        callers.call_each(5, 12);
        chare::quiescence().await;
        let (reported, done) = chare::future();
        ramblers.report(done);
        assert_eq!(reported.await, [0, 5 * 24 * u64::from(chare::pes())]);
    });
}

#[test]
fn each_element_hears_each_broadcast_once() {
    on_every_path(&SHAPES, || async {
        let ramblers = RamblerProxy::create(7);
        let callers = CallerProxy::create(ramblers.clone());
        for round in 1..=3 {
            callers.call_all(10);
            callers.call_each(7, 1);
            chare::quiescence().await;
            let (reported, done) = chare::future();
            ramblers.report(done);
            let pes = u64::from(chare::pes());
            assert_eq!(reported.await, [round * 7 * 10 * 3 * pes, 7 * 2 * pes], "round {round}");
        }
    });
}
