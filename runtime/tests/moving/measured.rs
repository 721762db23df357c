//! Loads as balancers of jobs get them: what elements have taken goes with them, and who says a load is compared with who does not.

use chare::prelude::*;
use chare::{Job, Loads, Moves, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The loads that `note_travelled` and `note_mixed` have got.
static TRAVELLED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());
static MIXED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());

#[chare::balancer]
fn note_travelled(loads: &Loads, _: &mut Moves) {
    TRAVELLED.lock().unwrap().push(loads.clone());
}

#[chare::balancer]
fn note_mixed(loads: &Loads, _: &mut Moves) {
    MIXED.lock().unwrap().push(loads.clone());
}

const WORK: Duration = Duration::from_millis(40);

fn work() {
    let since = Instant::now();
    while since.elapsed() < WORK {}
}

/// Works on PE 0 and moves away; or works and ends.
#[derive(Serialize, Deserialize)]
struct Worker {
    done: Option<Callback<()>>,
}

#[chare(array, migrate, sync)]
impl Worker {
    #[entry]
    fn new() -> Self {
        Self { done: None }
    }

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        work();
        self.done = Some(done);
        if self.this_index() == 1 {
            return chare::destroy();
        }
        self.migrate_to(PeId(1));
        self.this_chare().come();
    }

    #[entry]
    fn come(&mut self) {
        self.sync_then(self.this_chare().end_callback());
    }

    #[entry]
    fn end(&mut self) {
        self.done.take().expect("it was given").send(());
    }
}

#[test]
fn what_an_element_has_taken_goes_with_it_and_ends_with_it() {
    let job = Job::in_process(1, 2).balancer("note_travelled").run(|| async {
        let workers = WorkerProxy::create(chare::ArrayOptions::empty());
        // Both begin on PE 0.
        workers.at(0).insert_on(PeId(0));
        workers.at(1).insert_on(PeId(0));
        let (end, done) = chare::future();
        workers.at(1).run(Callback::ignore());
        workers.at(0).run(done);
        end.await;
        workers.done_inserting();
    });
    assert_eq!(job.unwrap(), 0);
    let all = TRAVELLED.lock().unwrap();
    let [loads] = &all[..] else { panic!("one sync, and {} balancings", all.len()) };
    let [worker] = loads.objects() else { panic!("one is left of {:?}", loads.objects()) };
    assert_eq!(worker.at, PeId(1));
    // Another program may have taken its processor for a while, which is not its time.
    assert!(worker.load > 0.2 * WORK.as_secs_f64(), "{worker:?}");
    let fixed = [0, 1].map(|pe| loads.fixed(PeId(pe)));
    assert!(fixed.iter().all(|fixed| *fixed < 0.15 * WORK.as_secs_f64()), "{fixed:?}");
}

/// Says its load, of which so much is a second.
const PER_SECOND: f64 = 1e9;

#[derive(Serialize, Deserialize)]
struct Telling;

#[chare(array, migrate, sync)]
impl Telling {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        work();
        self.sync_then(done);
    }

    #[load]
    fn load(&self) -> f64 {
        PER_SECOND * WORK.as_secs_f64()
    }
}

#[derive(Serialize, Deserialize)]
struct Silent;

#[chare(array, migrate, sync)]
impl Silent {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        work();
        self.sync_then(done);
    }
}

struct Fixture;

#[chare(group)]
impl Fixture {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        work();
        self.contribute(barrier(), done);
    }
}

#[test]
fn who_says_a_load_is_compared_with_who_does_not() {
    let job = Job::in_process(1, 1).balancer("note_mixed").run(|| async {
        let fixture = FixtureProxy::create();
        let (worked, done) = chare::future();
        fixture.run(done);
        worked.await;
        let (telling, silent) = (TellingProxy::create(1), SilentProxy::create(1));
        let ((one, one_done), (other, other_done)) = (chare::future(), chare::future());
        telling.at(0).run(one_done);
        silent.at(0).run(other_done);
        one.await;
        other.await;
    });
    assert_eq!(job.unwrap(), 0);
    let all = MIXED.lock().unwrap();
    let [loads] = &all[..] else { panic!("one sync, and {} balancings", all.len()) };
    let [one, other] = loads.objects() else { panic!("two objects, and not {:?}", loads.objects()) };
    let close = |load: f64| (0.2..5.0).contains(&(load / (PER_SECOND * WORK.as_secs_f64())));
    assert!(close(one.load) && close(other.load), "{one:?}, {other:?}");
    assert!(close(loads.fixed(PeId(0))), "{}", loads.fixed(PeId(0)));
}
