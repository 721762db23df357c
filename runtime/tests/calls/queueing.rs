//! Queue order of a PE: priorities, inline and idle entries, shuffled queues.

use chare::prelude::*;
use chare::{CallOptions, Job, JobError, Priority};

struct Log {
    seen: Vec<u32>,
    idle_rounds: u32,
}

#[chare(group)]
impl Log {
    #[entry]
    fn new() -> Self {
        Self { seen: Vec::new(), idle_rounds: 0 }
    }

    #[entry]
    fn note(&mut self, what: u32) {
        self.seen.push(what);
    }

    /// Messages by each strategy that has a priority, numbered by the order in which they have to run.
    #[entry]
    fn fill(&mut self) {
        let me = self.this_chare();
        let ways: [fn(u32) -> Priority; 3] = [
            |late| Priority::integer(late as i32),
            |late| Priority::long((i64::from(late) << 32) + 1),
            |late| Priority::bits(&[(1 << 31) + late, 1, 1]),
        ];
        let mut last = 100;
        for late in (1..=3).rev() {
            for way in ways.iter().rev() {
                let options = CallOptions::new().priority(way(late));
                // Of equals, what is queued in front runs first, the newest before all.
                me.with(options.clone()).note(last - 1);
                me.with(options).note(last);
                last -= 2;
                let options = CallOptions::new().priority(way(late)).last_in_first_out();
                me.with(options.clone()).note(last);
                me.with(options).note(last - 1);
                last -= 2;
            }
        }
    }

    #[entry]
    fn fill_callback_and_creation(&mut self) {
        let me = self.this_chare();
        let late = || CallOptions::new().priority(Priority::long(7));
        SprinterProxy::create_on_with(chare::my_pe(), late(), me.clone(), 3);
        me.note_callback().send_with(CallOptions::new().priority(Priority::long(6)), 2);
        SprinterProxy::create_on(chare::my_pe(), me.clone(), 1);
    }

    #[entry]
    fn read(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.seen)
    }

    #[entry(when_idle)]
    fn rest(&mut self) -> bool {
        self.idle_rounds += 1;
        self.seen.push(1000 + self.idle_rounds);
        if self.idle_rounds == 1 {
            // Work that comes up goes first.
            self.this_chare().note(1);
        }
        self.idle_rounds < 3
    }

    #[entry]
    fn work_and_rest(&mut self) {
        self.this_chare().rest();
        self.this_chare().note(0);
    }
}

/// Notes that it was born.
struct Sprinter;

#[chare]
impl Sprinter {
    #[entry]
    fn new(log: LogElementProxy, number: u32) -> Self {
        log.with(CallOptions::new().expedited()).note(number);
        chare::destroy();
        Self
    }
}

#[track_caller]
fn run<Fut: Future<Output = ()> + 'static>(job: Job, main: impl FnOnce() -> Fut + Send + 'static) {
    assert_eq!(job.run(main).unwrap(), 0);
}

#[test]
fn every_strategy_of_queueing_keeps_its_order() {
    run(Job::in_process(1, 1), || async {
        let log = LogProxy::create().local();
        log.fill();
        chare::quiescence().await;
        let seen = log.read().await;
        assert_eq!(seen, (65..=100).collect::<Vec<_>>());
    });
}

#[test]
fn callbacks_and_creations_wait_by_their_priority() {
    run(Job::in_process(1, 1), || async {
        let log = LogProxy::create().local();
        log.fill_callback_and_creation();
        chare::quiescence().await;
        assert_eq!(log.read().await, [1, 2, 3]);
    });
}

#[test]
fn an_idle_entry_runs_when_nothing_else_can_and_quiescence_waits_for_it() {
    for pes in [1, 2, 4] {
        run(Job::in_process(1, pes), || async {
            let log = LogProxy::create();
            let last = log.on(PeId(chare::pes() - 1));
            last.work_and_rest();
            chare::quiescence().await;
            assert_eq!(last.read().await, [0, 1001, 1, 1002, 1003]);
        });
    }
}

struct Vault {
    value: u32,
}

#[chare(array)]
impl Vault {
    #[entry]
    fn new() -> Self {
        Self { value: 0 }
    }

    #[entry(inline)]
    fn put(&mut self, value: u32, from: Option<VaultElementProxy>) {
        self.value = value;
        if let Some(from) = from {
            // Its caller is in the middle of an entry, so this one waits.
            from.put(value + 1, None);
        }
        assert!(self.this_index() < 4, "this chare is the one that runs");
    }

    #[entry(inline)]
    fn look(&self) -> u32 {
        self.value
    }

    /// Calls another chare; returns whether its answer is there at once, and the answer.
    #[entry]
    async fn visit(this: This<Self>, other: VaultElementProxy) -> (bool, u32) {
        other.put(5, Some(this.this_chare()));
        let value = other.look();
        let at_once = value.is_ready();
        (at_once, value.await)
    }

    #[entry]
    fn visit_from_inside(&mut self, other: VaultElementProxy) {
        other.put(7, Some(self.this_chare()));
        assert_eq!(self.value, 0, "a chare is in one entry at a time");
    }
}

#[test]
fn an_inline_entry_has_run_when_its_call_returns() {
    for (nodes, pes) in [(1, 1), (1, 2), (2, 2)] {
        run(Job::in_process(nodes, pes), || async {
            // Element 0 and 1 share a PE in every shape, 0 and 3 do where there is one only.
            let vaults = VaultProxy::create(8 / u64::from(chare::pes()).min(2));
            let (_, near) = vaults.at(0).visit(vaults.at(1)).await;
            assert_eq!(near, 5);
            chare::quiescence().await;
            assert_eq!(vaults.at(0).look().await, 6);
            vaults.at(2).visit_from_inside(vaults.at(3));
            chare::quiescence().await;
            assert_eq!((vaults.at(2).look().await, vaults.at(3).look().await), (8, 7));
        });
    }
}

/// A program with a bug: it relies on the order of two messages.
struct Careless {
    prepared: bool,
}

#[chare]
impl Careless {
    #[entry]
    fn new() -> Self {
        Self { prepared: false }
    }

    #[entry]
    fn prepare(&mut self) {
        self.prepared = true;
    }

    #[entry]
    fn work(&mut self) {
        assert!(self.prepared, "work came before its preparation");
    }
}

fn careless_job(job: Job) -> Result<i32, JobError> {
    job.run(|| async {
        for _ in 0..4 {
            let careless = CarelessProxy::create_on(PeId(0));
            careless.prepare();
            careless.work();
        }
    })
}

#[test]
fn a_shuffled_queue_finds_a_reliance_on_order_and_finds_it_again() {
    assert_eq!(careless_job(Job::in_process(1, 1)).unwrap(), 0, "in their usual order nobody sees it");
    let finds = |seed| careless_job(Job::in_process(1, 1).shuffled(seed)).is_err();
    let found = (0..20).find(|seed| finds(*seed)).expect("one of many seeds finds it");
    for _ in 0..3 {
        assert!(finds(found), "seed {found} finds it every time");
    }
}
