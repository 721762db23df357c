//! Seeds: singletons of which the program does not say where, under every choice of `+seeds`.

#[cfg(feature = "sim")]
use crate::every_path::on_simulated_paths;
use crate::every_path::{asked_seeds, paths};
use chare::prelude::*;
use chare::{Job, Seeds};
#[cfg(feature = "sim")]
use std::time::Duration;

const ALL: [Seeds; 3] = [Seeds::Random, Seeds::Least, Seeds::Steal];

/// Runs a program with each choice, in jobs of several shapes and orders, over every path, and in simulated ones.
fn wherever<Fut>(main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 1), (2, 2)];
    for seeds in ALL {
        for (nodes, pes) in SHAPES {
            for order in [None, Some(1), Some(2)].into_iter().filter(|_| asked_seeds().is_none()) {
                let job = Job::in_process(nodes, pes).seeds(seeds);
                let job = order.into_iter().fold(job, |job, order| job.shuffled(order));
                assert_eq!(job.run(main.clone()).unwrap(), 0, "{nodes}x{pes}, {seeds:?}, {order:?}");
            }
        }
        for (path, network) in paths().into_iter().filter(|_| asked_seeds().is_none()) {
            let job = Job::in_process(2, 2).seeds(seeds).network(network);
            assert_eq!(job.run(main.clone()).unwrap(), 0, "over {path}, {seeds:?}");
        }
        #[cfg(feature = "sim")]
        on_simulated_paths(&SHAPES, |job| job.seeds(seeds), &main);
    }
}

/// A branch of a tree whose branches are counted by answers.
struct Branch;

#[chare]
impl Branch {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// How many there are from here on; then this one is gone.
    #[entry]
    async fn grow(_this: This<Self>, depth: u32) -> u64 {
        let mut branches = 1;
        if depth > 0 {
            let both = [(); 2].map(|()| BranchProxy::create().grow(depth - 1));
            for branch in both {
                branches += branch.await;
            }
        }
        chare::destroy();
        branches
    }
}

#[test]
fn branches_that_answer_are_counted_wherever_they_are() {
    wherever(|| async {
        assert_eq!(BranchProxy::create().grow(6).await, 127);
        chare::quiescence().await;
    });
}

/// A node of a tree that grows in constructors and is counted by calls of parents.
struct Sum {
    missing: u32,
    total: u64,
    parent: Option<SumProxy>,
    done: Callback<u64>,
}

#[chare]
impl Sum {
    #[entry]
    fn new(depth: u32, parent: Option<SumProxy>, done: Callback<u64>) -> Self {
        let mut sum = Self { missing: if depth == 0 { 0 } else { 2 }, total: 1, parent, done };
        for _ in 0..sum.missing {
            SumProxy::create(depth - 1, Some(sum.this_chare()), done);
        }
        sum.tell_if_whole();
        sum
    }

    #[entry]
    fn add(&mut self, total: u64) {
        self.total += total;
        self.missing -= 1;
        self.tell_if_whole();
    }
}

impl Sum {
    fn tell_if_whole(&mut self) {
        if self.missing == 0 {
            match self.parent.take() {
                Some(parent) => parent.add(self.total),
                None => self.done.send(self.total),
            }
            chare::destroy();
        }
    }
}

#[test]
fn parents_are_called_wherever_they_are_and_some_end_in_their_constructor() {
    wherever(|| async {
        let (total, done) = chare::future();
        SumProxy::create(6, None, done);
        assert_eq!(total.await, 127);
        chare::quiescence().await;
    });
}

struct Place;

#[chare]
impl Place {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn place(&self) -> PeId {
        chare::my_pe()
    }

    #[entry]
    fn end(&self) {
        chare::destroy();
    }
}

#[test]
fn a_pe_that_is_named_is_never_overruled() {
    wherever(|| async {
        for pe in (0..chare::pes()).map(PeId) {
            let places = [(); 3].map(|()| PlaceProxy::create_on(pe));
            for place in &places {
                assert_eq!(place.place().await, pe);
            }
        }
    });
}

/// A singleton that was given to another PE. There is one as soon as that has nothing to do.
async fn stray() -> PlaceProxy {
    loop {
        let place = PlaceProxy::create();
        if place.place().await != chare::my_pe() {
            return place;
        }
    }
}

#[test]
fn a_call_of_a_singleton_that_was_given_away_and_has_ended_is_refused() {
    for is_home_told in [false, true] {
        let job = Job::in_process(1, 2).seeds(Seeds::Steal).run(move || async move {
            let stray = stray().await;
            stray.end();
            if is_home_told {
                chare::quiescence().await;
            }
            stray.place().await;
        });
        let refused = job.unwrap_err().to_string();
        assert!(refused.contains("Place::place") && refused.contains("it was destroyed before"), "{refused}");
    }
}

/// The work of PEs before and beside what is created.
#[cfg(feature = "sim")]
struct Worker;

#[cfg(feature = "sim")]
#[chare(group)]
impl Worker {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn work(&self) {
        chare::sim::compute(Duration::from_micros(100));
    }
}

/// A singleton whose making takes a while, and which says where it was made.
#[cfg(feature = "sim")]
struct Task;

#[cfg(feature = "sim")]
#[chare]
impl Task {
    #[entry]
    fn new() -> Self {
        chare::sim::compute(Duration::from_micros(200));
        Self
    }

    #[entry]
    fn place(&self) -> PeId {
        chare::destroy();
        chare::my_pe()
    }
}

/// On how many of 800 tasks each PE works, of a job of four nodes with two PEs each of which the last has 40 ms of work already, and how
/// long all of that takes.
#[cfg(feature = "sim")]
fn tasks_by_pe(seeds: Seeds, chance: u64) -> ([u32; 8], Duration) {
    use std::sync::{Arc, Mutex};
    let found = Arc::new(Mutex::new(([0; 8], Duration::ZERO)));
    let tell = Arc::clone(&found);
    let network = "loggops".parse().expect("it is one");
    let job = chare::Simulation::new(4, 2).model(network).seed(chance).seeds(seeds).audited();
    let outcome = job.run(move || {
        let tell = Arc::clone(&tell);
        async move {
            let workers = WorkerProxy::create();
            chare::quiescence().await;
            let begin = chare::now();
            (0..400).for_each(|_| workers.on(PeId(7)).work());
            let mut places = Vec::new();
            for _ in 0..800 {
                places.push(TaskProxy::create().place());
                chare::sleep(Duration::from_micros(30)).await;
            }
            let mut tasks = [0; 8];
            for place in places {
                tasks[place.await.0 as usize] += 1;
            }
            *tell.lock().unwrap() = (tasks, chare::now() - begin);
        }
    });
    assert_eq!(outcome.code().unwrap(), 0);
    *found.lock().unwrap()
}

#[cfg(feature = "sim")]
#[test]
fn a_busy_pe_of_another_node_gets_less_by_least() {
    for chance in 0..3 {
        let (by_random, random_took) = tasks_by_pe(Seeds::Random, chance);
        let (by_least, least_took) = tasks_by_pe(Seeds::Least, chance);
        assert!(by_least[7] * 2 < by_random[7], "{by_random:?} at random, {by_least:?} by least");
        assert!(least_took * 10 < random_took * 9, "{random_took:?} at random, {least_took:?} by least");
    }
}
