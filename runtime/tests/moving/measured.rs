//! Loads as balancers of jobs get them: what elements have taken goes with them, and who says a load is compared with who does not.

use chare::prelude::*;
use chare::{Balancer, Job, Loads, Moves, ThisInSyncs, ThisMigrant};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::time::Duration;

/// The loads that balancers have got.
static TRAVELLED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());
static MIXED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());
static WEIGHED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());
static CALLED: Mutex<Vec<Loads>> = Mutex::new(Vec::new());

#[chare::balancer]
fn note_travelled(loads: &Loads, _: &mut Moves) {
    TRAVELLED.lock().unwrap().push(loads.clone());
}

#[chare::balancer]
fn note_mixed(loads: &Loads, _: &mut Moves) {
    MIXED.lock().unwrap().push(loads.clone());
}

#[chare::balancer]
fn note_weighed(loads: &Loads, _: &mut Moves) {
    WEIGHED.lock().unwrap().push(loads.clone());
}

#[chare::balancer(needs = edges)]
fn note_called(loads: &Loads, _: &mut Moves) {
    CALLED.lock().unwrap().push(loads.clone());
}

const WORK: Duration = Duration::from_millis(40);

/// Works for so long on a processor, however many others want it.
#[expect(clippy::disallowed_methods, reason = "time on a processor, which no clock of a job tells")]
fn work() {
    let worked = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let until = worked() + WORK;
    while worked() < until {}
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
    assert!(worker.load > 0.8 * WORK.as_secs_f64(), "{worker:?}");
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

/// Has a vector, the longer the higher its index, and a call that waits with it.
#[derive(Serialize, Deserialize)]
struct Heavy {
    numbers: Vec<f64>,
    words: Vec<String>,
}

#[chare(array, migrate, sync)]
impl Heavy {
    #[entry]
    fn new() -> Self {
        let len = 1000 * chare::this_index::<u64>() as usize;
        Self { numbers: vec![1.0; len], words: vec!["word".to_owned(); len] }
    }

    #[entry(awaited)]
    fn letter(text: String);

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        self.this_chare().letter("x".repeat(500));
        self.this_chare().come(done);
    }

    #[entry]
    fn come(&mut self, done: Callback<()>) {
        self.sync_then(done);
    }
}

#[test]
fn an_element_weighs_what_travels_between_nodes() {
    for (nodes, pes) in [(1, 2), (2, 1)] {
        WEIGHED.lock().unwrap().clear();
        let job = Job::in_process(nodes, pes).balancer("note_weighed").run(|| async {
            let heavy = HeavyProxy::create(3);
            let ends = [0, 1, 2].map(|index| {
                let (end, done) = chare::future();
                heavy.at(index).run(done);
                end
            });
            for end in ends {
                end.await;
            }
        });
        assert_eq!(job.unwrap(), 0);
        let all = WEIGHED.lock().unwrap();
        let [loads] = &all[..] else { panic!("one sync, and {} balancings", all.len()) };
        let mut bytes: Vec<u64> = loads.objects().iter().map(|object| object.bytes).collect();
        bytes.sort_unstable();
        for (len, bytes) in [0, 1000, 2000].into_iter().zip(bytes) {
            // A number is eight bytes, a word its length and four, a letter its own.
            let held = if nodes == 1 { 0 } else { len * (8 + 8 + 4) + 500 };
            assert!((held..held + 200).contains(&bytes), "{nodes}x{pes}: {len} numbers are {bytes} bytes");
        }
    }
}

/// Calls its partner and hears of it, then comes to a sync.
#[derive(Serialize, Deserialize)]
struct Partner {
    heard: u32,
    done: Option<Callback<()>>,
}

const PARTNERS: u64 = 8;
const CALLS: u32 = 20;

#[chare(array, migrate, sync)]
impl Partner {
    #[entry]
    fn new() -> Self {
        Self { heard: 0, done: None }
    }

    #[entry]
    fn run(&mut self, done: Callback<()>) {
        self.done = Some(done);
        let partner = self.this_collection().at((self.this_index() + PARTNERS / 2) % PARTNERS);
        for _ in 0..CALLS {
            partner.hear(vec![1; 100]);
            partner.read(vec![1.0_f64; 100]);
        }
        self.come_if_all();
    }

    #[entry]
    fn hear(&mut self, bytes: Vec<u8>) {
        assert_eq!(bytes.len(), 100);
        self.heard += 1;
        self.come_if_all();
    }

    #[entry]
    fn read(&mut self, #[nocopy] numbers: Received<f64>) {
        assert_eq!(numbers.len(), 100);
        self.heard += 1;
        self.come_if_all();
    }

    #[entry]
    fn place(&self) -> u32 {
        chare::my_pe().0
    }

    #[load]
    fn load(&self) -> f64 {
        1.0
    }

    #[entry]
    fn end(&mut self) {
        let done = self.done.take().expect("it was given");
        self.contribute(barrier(), done);
    }
}

impl Partner {
    fn come_if_all(&mut self) {
        if self.heard == 2 * CALLS && self.done.is_some() {
            self.heard = 0;
            self.sync_then(self.this_chare().end_callback());
        }
    }
}

#[test]
fn a_balancer_that_asks_gets_who_calls_whom_on_every_way() {
    // On the same PE, on another one of the process, and on another node.
    for (nodes, pes) in [(1, 1), (1, 2), (2, 1)] {
        CALLED.lock().unwrap().clear();
        let job = Job::in_process(nodes, pes).balancer("note_called").run(|| async {
            let (end, done) = chare::future();
            PartnerProxy::create(PARTNERS).run(done);
            end.await;
        });
        assert_eq!(job.unwrap(), 0);
        let all = CALLED.lock().unwrap();
        let [loads] = &all[..] else { panic!("one sync, and {} balancings", all.len()) };
        assert_eq!(loads.edges().len(), PARTNERS as usize, "{nodes}x{pes}: {:?}", loads.edges());
        for edge in loads.edges() {
            assert_eq!(edge.calls, u64::from(2 * CALLS), "{nodes}x{pes}: {edge:?}");
            let least = u64::from(CALLS) * 900;
            assert!((least..2 * least).contains(&edge.bytes), "{nodes}x{pes}: {edge:?}");
        }
    }
}

#[test]
fn bisect_brings_together_who_call_each_other_and_what_it_did_is_written_down() {
    let file = std::env::temp_dir().join(format!("chare-bisected-{}", std::process::id()));
    let job = Job::in_process(2, 2).balancer("bisect").balance_dump(&file).run(|| async {
        let partners = PartnerProxy::create(PARTNERS);
        for _ in 0..2 {
            let (end, done) = chare::future();
            partners.run(done);
            end.await;
        }
        let mut places = Vec::new();
        for index in 0..PARTNERS {
            places.push(partners.at(index).place().await);
        }
        let apart =
            (0..PARTNERS as usize / 2).filter(|one| places[*one] != places[*one + PARTNERS as usize / 2]);
        assert_eq!(apart.count(), 0, "{places:?}");
    });
    assert_eq!(job.unwrap(), 0);
    let balancings = chare::read_balancings(&file).unwrap();
    std::fs::write(&file, "{}\n").unwrap();
    let error = chare::read_balancings(&file).unwrap_err().to_string();
    std::fs::remove_file(&file).unwrap();
    assert!(error.contains("line 1 of") && error.contains("is no balancing"), "{error}");
    assert_eq!(balancings.iter().map(|one| one.number).collect::<Vec<_>>(), [0, 1]);
    let bisect = Balancer::named("bisect").unwrap();
    for one in &balancings {
        assert_eq!((one.loads.edges().len(), &one.balancer[..]), (PARTNERS as usize, "bisect"));
        assert_eq!(bisect.plan(one.number, &one.loads).planned(), one.moves, "another try finds the same");
        assert!(
            one.loads.room(chare::NodeId(0)) < u64::MAX,
            "a node has as much room as its host has memory"
        );
    }
    assert!(!balancings[0].moves.is_empty() && balancings[1].moves.is_empty(), "{balancings:?}");
}

#[test]
fn a_dump_that_cannot_be_written_ends_the_job_in_words() {
    let job = Job::in_process(1, 2).balancer("rotate").balance_dump("/dev/null/balancings").run(|| async {
        let (end, done) = chare::future();
        PartnerProxy::create(PARTNERS).run(done);
        end.await;
    });
    let error = job.unwrap_err().to_string();
    assert!(error.contains("`+balance_dump /dev/null/balancings` cannot be written"), "{error}");
}
