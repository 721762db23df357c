//! Bound arrays whose elements move: those of one index are on one PE whenever one of them runs, whoever wishes to move, ends or is born.

use super::balanced::balanced;
use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Job, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};

const PAIRS: u64 = 6;

#[derive(Serialize, Deserialize)]
struct Cart {
    loaded: u64,
    step: u64,
    done: Option<Callback<u64>>,
}

#[chare(array, migrate, sync)]
impl Cart {
    #[entry]
    fn new() -> Self {
        Self { loaded: 0, step: 0, done: None }
    }

    #[entry]
    fn drive(&mut self) {
        self.migrate_to(somewhere());
    }

    #[entry]
    fn total(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.loaded), done);
    }

    #[entry]
    fn end(&mut self, done: Callback<()>) {
        done.send(());
        chare::destroy();
    }

    /// Comes to three syncs.
    #[entry]
    fn haul(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.go_on();
    }

    #[entry]
    fn go_on(&mut self) {
        if self.step == 3 {
            let done = self.done.take().expect("it was given");
            return self.contribute(sum(1), done);
        }
        self.step += 1;
        self.sync_then(self.this_chare().go_on_callback());
    }

    #[load]
    fn load(&self) -> f64 {
        1.0 + self.this_index() as f64
    }
}

#[derive(Serialize, Deserialize)]
struct Horse {
    carts: CartProxy,
    pulled: u64,
    step: u64,
    done: Option<Callback<u64>>,
}

#[chare(array, migrate, sync)]
impl Horse {
    #[entry]
    fn new(carts: CartProxy) -> Self {
        let mut horse = Self { carts, pulled: 0, step: 0, done: None };
        horse.pull();
        horse
    }

    /// Loads the cart, which is on the same PE.
    #[entry]
    fn pull(&mut self) {
        let loaded = self.carts.at(self.this_index()).local(|cart| cart.loaded += 1);
        assert!(loaded.is_some(), "horse {} has lost its cart", self.this_index());
        self.pulled += 1;
    }

    #[entry]
    fn run(&mut self) {
        self.pull();
        self.migrate_to(somewhere());
    }

    #[entry]
    fn total(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.pulled), done);
    }

    #[entry]
    fn end(&mut self, done: Callback<u64>) {
        done.send(self.pulled);
        chare::destroy();
    }

    /// Comes to three syncs.
    #[entry]
    fn work(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.go_on();
    }

    #[entry]
    fn go_on(&mut self) {
        self.pull();
        if self.step == 3 {
            let done = self.done.take().expect("it was given");
            return self.contribute(sum(self.pulled), done);
        }
        self.step += 1;
        self.sync_then(self.this_chare().go_on_callback());
    }

    #[moved]
    fn moved(&mut self, _from: PeId) {
        self.pull();
        self.pulled -= 1;
        self.carts.at(self.this_index()).local(|cart| cart.loaded -= 1);
    }
}

/// Bound to what is bound itself.
#[derive(Serialize, Deserialize)]
struct Rider {
    horses: HorseProxy,
}

#[chare(array, migrate)]
impl Rider {
    #[entry]
    fn new(horses: HorseProxy) -> Self {
        let rider = Self { horses };
        rider.look();
        rider
    }

    fn look(&self) {
        let pulled = self.horses.at(self.this_index()).local(|horse| horse.pulled);
        assert!(pulled.is_some(), "rider {} has lost its horse", self.this_index());
    }

    #[entry]
    fn ride(&mut self) {
        self.look();
        self.migrate_to(somewhere());
    }

    #[entry]
    fn end(&mut self) {
        self.look();
        chare::destroy();
    }
}

/// Compares what all have counted when nothing is under way.
async fn check_totals(carts: &CartProxy, horses: &HorseProxy, expected: u64) {
    chare::quiescence().await;
    let (loaded, done) = chare::future();
    carts.total(done);
    let (pulled, also_done) = chare::future();
    horses.total(also_done);
    assert_eq!((loaded.await, pulled.await), (expected, expected));
}

#[test]
fn bound_elements_move_together_whoever_of_them_wishes() {
    on_every_path(&SHAPES, || async {
        let carts = CartProxy::create(PAIRS);
        let horses = HorseProxy::create(ArrayOptions::new(PAIRS).bind_to(&carts), carts.clone());
        for _ in 0..4 {
            for index in 0..PAIRS {
                carts.at(index).drive();
                horses.at(index).pull();
                horses.at(index).run();
            }
            carts.drive();
            horses.run();
        }
        check_totals(&carts, &horses, PAIRS * (1 + 4 * 3)).await;
    });
}

#[test]
fn an_array_is_bound_to_one_whose_elements_are_under_way() {
    on_every_path(&SHAPES, || async {
        let carts = CartProxy::create(PAIRS);
        (0..3).for_each(|_| carts.drive());
        let horses = HorseProxy::create(ArrayOptions::new(PAIRS).bind_to(&carts), carts.clone());
        horses.run();
        (0..3).for_each(|_| carts.drive());
        let riders = RiderProxy::create(ArrayOptions::new(PAIRS).bind_to(&horses), horses.clone());
        riders.ride();
        horses.run();
        check_totals(&carts, &horses, PAIRS * 3).await;
    });
}

#[test]
fn elements_end_and_are_born_beside_those_that_they_are_bound_to() {
    on_every_path(&SHAPES, || async {
        let carts = CartProxy::create(ArrayOptions::new(PAIRS).dynamic());
        let horses = HorseProxy::create(ArrayOptions::new(PAIRS).dynamic().bind_to(&carts), carts.clone());
        let riders = RiderProxy::create_empty(ArrayOptions::empty().bind_to(&horses));
        for round in 0..8 {
            let index = round % PAIRS;
            carts.drive();
            riders.at(index).insert_on(somewhere(), horses.clone());
            riders.at(index).ride();
            carts.at(index).drive();
            chare::quiescence().await;
            carts.at(index).drive();
            riders.at(index).end();
            horses.at(index).run();
            chare::quiescence().await;
            // The second of three ends and comes again while the first one moves.
            let (pulled, done) = chare::future();
            carts.at(index).drive();
            horses.at(index).end(done);
            assert!(pulled.await > 0);
            horses.at(index).insert(carts.clone());
            carts.at(index).drive();
            horses.at(index).run();
            chare::quiescence().await;
            // The first one ends and comes again where the second one has stayed.
            let (ended, done) = chare::future();
            carts.at(index).end(done);
            ended.await;
            carts.at(index).insert_on(somewhere());
            chare::quiescence().await;
            horses.at(index).run();
            carts.at(index).drive();
            horses.at(index).run();
            chare::quiescence().await;
        }
    });
}

#[test]
fn a_bond_is_moved_by_balancers_as_one() {
    for balancer in ["rotate", "greedy", "greedy_refine", "random"] {
        balanced(balancer, || async {
            let carts = CartProxy::create(PAIRS);
            let horses = HorseProxy::create(ArrayOptions::new(PAIRS).bind_to(&carts), carts.clone());
            let (hauled, done) = chare::future();
            carts.haul(done);
            let (pulled, also_done) = chare::future();
            horses.work(also_done);
            assert_eq!((hauled.await, pulled.await), (PAIRS, PAIRS * 5));
            check_totals(&carts, &horses, PAIRS * 5).await;
        });
    }
}

struct Stone;

#[chare(array)]
impl Stone {
    #[entry]
    fn new() -> Self {
        Self
    }
}

#[test]
fn elements_that_stay_are_bound_to_none_that_move() {
    let job = Job::in_process(1, 2).run(|| async {
        let carts = CartProxy::create(2);
        StoneProxy::create(ArrayOptions::new(2).bind_to(&carts));
        std::future::pending::<()>().await;
    });
    let error = job.unwrap_err().to_string();
    assert!(["Cart", "Stone", "mark both `migrate`"].iter().all(|clue| error.contains(clue)), "{error}");
}
