//! Births and deaths of elements that move: whoever lives is called, and an index is free again when its element has ended.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Job, ThisMigrant};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Mayfly {
    life: u64,
    flights: u64,
}

#[chare(array, migrate)]
impl Mayfly {
    #[entry]
    fn new(life: u64) -> Self {
        Self { life, flights: 0 }
    }

    #[entry]
    fn fly(&mut self) {
        self.flights += 1;
        self.migrate_to(somewhere());
    }

    #[entry]
    fn end(&mut self, life: u64, flights: u64, done: Callback<u64>) {
        assert_eq!(self.life, life);
        if self.flights < flights {
            return self.this_chare().end(life, flights, done);
        }
        done.send(life);
        chare::destroy();
    }

    #[entry]
    fn count(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.life), done);
    }

    #[entry]
    fn contribute_and_end(&mut self, done: Callback<u64>) {
        self.contribute(sum(1), done);
        if self.this_index().is_multiple_of(2) {
            chare::destroy();
        } else {
            self.migrate_to(somewhere());
        }
    }
}

#[test]
fn an_index_is_used_again_and_again_while_its_elements_move() {
    on_every_path(&SHAPES, || async {
        let mayflies = MayflyProxy::create(ArrayOptions::empty().dynamic(), 0);
        for life in 0..12 {
            let mayfly = mayflies.at(3);
            if life % 3 == 0 {
                mayfly.insert(life);
            } else {
                mayfly.insert_on(somewhere(), life);
            }
            let flights = chare::dice().below(4);
            (0..flights).for_each(|_| mayfly.fly());
            let (ended, done) = chare::future();
            mayfly.end(life, flights, done);
            assert_eq!(ended.await, life);
        }
        mayflies.done_inserting();
    });
}

#[test]
fn the_last_contributions_of_those_who_end_elsewhere_count() {
    on_every_path(&SHAPES, || async {
        let mayflies = MayflyProxy::create(ArrayOptions::new(8), 1);
        mayflies.fly();
        let (total, done) = chare::future();
        mayflies.count(done);
        assert_eq!(total.await, 8);
        let (total, done) = chare::future();
        mayflies.contribute_and_end(done);
        assert_eq!(total.await, 8);
        let (total, done) = chare::future();
        mayflies.count(done);
        assert_eq!(total.await, 4);
        chare::quiescence().await;
        mayflies.destroy();
        chare::quiescence().await;
    });
}

/// Ends on the PE where it was born, or leaves that at once.
#[derive(Serialize, Deserialize)]
struct Gnat {
    flights: u64,
    done: Callback<u64>,
}

#[chare(array, migrate)]
impl Gnat {
    #[entry]
    fn new(flights: u64, done: Callback<u64>) -> Self {
        let mut gnat = Self { flights, done };
        gnat.live();
        gnat
    }

    #[entry]
    fn live(&mut self) {
        if self.flights == 0 {
            self.done.send(self.this_index());
            return chare::destroy();
        }
        self.flights -= 1;
        self.migrate_to(somewhere());
        self.this_chare().live();
    }
}

#[test]
fn who_lives_shorter_than_the_news_of_its_birth_take_ends_once() {
    on_every_path(&SHAPES, || async {
        let gnats = GnatProxy::create(ArrayOptions::empty().dynamic(), 0, Callback::ignore());
        for _ in 0..6 {
            let mut ends = Vec::new();
            for index in 0..6 {
                let (end, done) = chare::future();
                gnats.at(index).insert_on(somewhere(), chare::dice().below(3), done);
                ends.push(end);
            }
            for (index, end) in (0..).zip(ends) {
                assert_eq!(end.await, index);
            }
        }
        gnats.done_inserting();
    });
}

#[test]
fn arrays_whose_elements_move_are_bound_to_none() {
    let job = Job::in_process(1, 2).run(|| async {
        let mayflies = MayflyProxy::create(2, 1);
        MayflyProxy::create(ArrayOptions::new(2).bind_to(&mayflies), 1);
        std::future::pending::<()>().await;
    });
    let error = job.unwrap_err().to_string();
    assert!(error.contains("Mayfly") && error.contains("side by side"), "{error}");
}
