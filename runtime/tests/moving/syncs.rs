//! Syncs: all elements are awaited, balancers move them, and each goes on once.

use super::balanced::balanced;
use super::somewhere;
use chare::prelude::*;
use chare::{ArrayOptions, Job, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize)]
struct Block {
    step: u64,
    places: Vec<u32>,
    done: Option<Callback<u64>>,
}

#[chare(array, migrate, sync)]
impl Block {
    #[entry]
    fn new() -> Self {
        Self { step: 0, places: Vec::new(), done: None }
    }

    #[entry]
    fn run(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.step();
    }

    #[entry]
    fn step(&mut self) {
        self.step += 1;
        self.places.push(chare::my_pe().0);
        if self.step == 12 {
            let moves = self.places.windows(2).filter(|pair| pair[0] != pair[1]).count();
            let done = self.done.take().expect("it was given");
            self.contribute(sum(moves as u64), done);
        } else if self.step.is_multiple_of(3) {
            self.sync_then(self.this_chare().step_callback());
        } else {
            self.this_chare().step();
        }
    }

    #[entry]
    fn place(&mut self) -> u32 {
        chare::my_pe().0
    }

    #[load]
    fn load(&self) -> f64 {
        1.0 + self.this_index() as f64
    }
}

#[test]
fn elements_go_on_after_each_sync_where_they_have_moved() {
    balanced("rotate", || async {
        let blocks = BlockProxy::create(6);
        let (moves, done) = chare::future();
        blocks.run(done);
        let syncs = if chare::pes() == 1 { 0 } else { 3 };
        assert_eq!(moves.await, 6 * syncs);
    });
}

#[test]
fn what_is_uneven_is_balanced_and_what_is_even_stays() {
    balanced("greedy_refine", || async {
        let blocks = BlockProxy::create(8 * u64::from(chare::pes()));
        let (moves, done) = chare::future();
        blocks.run(done);
        let moves = moves.await;
        assert_eq!(moves > 0, chare::pes() > 1);
    });
}

/// Charm++'s issues 3164, 377 and 3660: moves, births and deaths beside syncs.
#[derive(Serialize, Deserialize)]
struct Patch {
    step: u64,
    done: Callback<u64>,
}

#[chare(array, migrate, sync)]
impl Patch {
    #[entry]
    fn new(step: u64, done: Callback<u64>) -> Self {
        let patch = Self { step, done };
        patch.this_chare().step();
        patch
    }

    #[entry]
    fn step(&mut self) {
        self.step += 1;
        let index = self.this_index();
        if self.step == 6 {
            self.done.send(index);
            return chare::destroy();
        }
        if self.step == 3 && index < 4 {
            self.this_collection().at(index + 100).insert_on(somewhere(), self.step, self.done);
        }
        if self.step.is_multiple_of(2) {
            self.migrate_to(somewhere());
        }
        self.sync_then(self.this_chare().step_callback());
    }
}

#[test]
fn elements_are_born_and_end_and_move_beside_syncs() {
    balanced("random", || async {
        let mut ended = Vec::new();
        let patches = PatchProxy::create(ArrayOptions::empty(), 0, Callback::ignore());
        for index in 0..4 {
            let (end, done) = chare::future();
            patches.at(index).insert(0, done);
            ended.push(end);
        }
        for (index, end) in ended.into_iter().enumerate() {
            let first = end.await;
            assert!([index as u64, index as u64 + 100].contains(&first));
        }
        patches.done_inserting();
        chare::quiescence().await;
    });
}

#[test]
fn without_a_balancer_a_sync_is_no_wait() {
    let job = Job::in_process(1, 2).run(|| async {
        let blocks = BlockProxy::create(3);
        let (moves, done) = chare::future();
        blocks.at(0).run(done);
        blocks.at(1).run(Callback::ignore());
        blocks.at(2).run(Callback::ignore());
        chare::quiescence().await;
        drop(moves);
    });
    assert_eq!(job.unwrap(), 0);
    let unknown = Job::in_process(1, 1).balancer("gredy").run(|| async {});
    assert!(unknown.unwrap_err().to_string().contains("greedy_refine"));
}

async fn places(blocks: &BlockProxy) -> Vec<u32> {
    let mut places = Vec::new();
    for block in 0..6 {
        places.push(blocks.at(block).place().await);
    }
    places
}

#[test]
fn elements_are_balanced_without_a_sync_when_the_program_asks() {
    balanced("rotate", || async {
        let blocks = BlockProxy::create(6);
        let before = places(&blocks).await;
        chare::balance();
        chare::quiescence().await;
        let after = places(&blocks).await;
        let next = |pe: &u32| (pe + 1) % chare::pes();
        assert_eq!(after, before.iter().map(next).collect::<Vec<_>>());
    });
}

#[test]
fn elements_are_balanced_every_so_often() {
    let main = || async {
        let blocks = BlockProxy::create(6);
        let before = places(&blocks).await;
        while places(&blocks).await == before {
            chare::sleep(Duration::from_millis(2)).await;
        }
        chare::exit(0);
    };
    let every = Duration::from_millis(50);
    for (nodes, pes) in [(1, 2), (2, 1)] {
        let job = Job::in_process(nodes, pes).balancer("rotate").balance_every(every);
        assert_eq!(job.run(main).unwrap(), 0);
    }
    #[cfg(feature = "sim")]
    {
        let simulation = chare::Simulation::new(2, 2).balancer("rotate").balance_every(every).audited();
        assert_eq!(simulation.run(main).code().unwrap(), 0);
    }
}

#[test]
fn a_balancer_that_decides_itself_leaves_alone_what_costs_more_than_it_gains() {
    let blocks = || async {
        let (moves, done) = chare::future();
        BlockProxy::create(6).run(done);
        moves.await
    };
    let tried = move || async move {
        let moves: u64 = blocks().await;
        assert!(
            moves < 6 * 3,
            "{moves} moves: steps take microseconds, and a balancing takes as many as hundreds of them"
        );
    };
    let job = Job::in_process(1, 2).balancer("rotate").balance_when(chare::BalanceWhen::Auto).run(tried);
    assert_eq!(job.unwrap(), 0);
    #[cfg(feature = "sim")]
    {
        // There nothing takes any time, so nothing can be gained.
        let simulation = chare::Simulation::new(2, 2).balancer("rotate").audited();
        let simulation = simulation.balance_when(chare::BalanceWhen::Auto);
        let still = move || async move { assert_eq!(blocks().await, 0) };
        assert_eq!(simulation.run(still).code().unwrap(), 0);
    }
}

/// One of three kinds: comes to a sync and ends, comes to it and waits, or comes when it is told.
#[derive(Serialize, Deserialize)]
struct Guest {
    has_gone_on: bool,
}

#[chare(array, migrate, sync)]
impl Guest {
    #[entry]
    fn new() -> Self {
        Self { has_gone_on: false }
    }

    #[entry]
    fn come(&mut self) {
        let kind = self.this_index() % 3;
        if kind < 2 {
            self.sync_then(self.this_chare().go_on_callback());
        }
        if kind == 0 {
            chare::destroy();
        }
    }

    #[entry]
    fn come_late(&mut self) {
        if self.this_index() % 3 == 2 {
            self.sync_then(self.this_chare().go_on_callback());
        }
    }

    #[entry]
    fn go_on(&mut self) {
        self.has_gone_on = true;
    }

    #[entry]
    fn tell(&self, done: Callback<u64>) {
        self.contribute(sum(u64::from(self.has_gone_on)), done);
    }
}

/// Of each home's three elements one ends in the sync to which it has come: it stands for none of those that have not.
#[test]
fn who_has_come_to_a_sync_and_ends_does_not_come_for_another() {
    balanced("rotate", || async {
        let homes = u64::from(chare::pes());
        let guests = GuestProxy::create(3 * homes);
        let gone_on = || {
            let (gone_on, done) = chare::future();
            guests.tell(done);
            gone_on
        };
        guests.come();
        chare::quiescence().await;
        assert_eq!(gone_on().await, 0, "some have not come");
        guests.come_late();
        chare::quiescence().await;
        assert_eq!(gone_on().await, 2 * homes);
    });
}

/// Comes to syncs as soon as it is born, which is before other PEs have heard of its array.
#[derive(Serialize, Deserialize)]
struct Early {
    syncs: u64,
    done: Callback<u64>,
}

#[chare(array, migrate, sync)]
impl Early {
    #[entry]
    fn new(done: Callback<u64>) -> Self {
        let early = Self { syncs: 0, done };
        early.this_chare().step();
        early
    }

    #[entry]
    fn step(&mut self) {
        if self.syncs == 3 {
            return self.contribute(sum(1), self.done);
        }
        self.syncs += 1;
        self.sync_then(self.this_chare().step_callback());
    }
}

#[test]
fn who_hears_late_of_its_array_is_awaited_in_the_first_sync() {
    let main = || async {
        let (left, done) = chare::future();
        let elements = 2 * u64::from(chare::pes());
        EarlyProxy::create(elements, done);
        assert_eq!(left.await, elements);
    };
    balanced("rotate", main);
    // By seed 113 a PE hears of the first sync before it hears of the array.
    #[cfg(feature = "sim")]
    for seed in 100..120 {
        let simulation = chare::Simulation::new(2, 1).hosts(2).seed(seed).chance(chare::Chance::ALL);
        let code = simulation.audited().balancer("rotate").run(main).code();
        assert_eq!(code.unwrap_or_else(|error| panic!("seed {seed}: {error}")), 0);
    }
}
