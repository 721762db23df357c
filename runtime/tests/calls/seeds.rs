//! Seeds: singletons of which the program does not say where, under every choice of `+seeds`.

use crate::every_path::asked_seeds;
#[cfg(feature = "sim")]
use crate::every_path::on_simulated_paths;
use chare::prelude::*;
use chare::{Job, Seeds};

const ALL: [Seeds; 3] = [Seeds::Random, Seeds::Least, Seeds::Steal];

/// Runs a program with each choice, in jobs of several shapes and orders, and in simulated ones.
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
