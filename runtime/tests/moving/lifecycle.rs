//! Births and deaths of elements that move: whoever lives is called, and an index is free again when its element has ended; and successors under
//! one index: whoever is born where another has ended hears each broadcast that is made from then on once, and none twice, although broadcasts
//! for the one before are still on their way.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, ThisMigrant};
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

const INDICES: u64 = 8;

/// Broadcasts to each generation.
const CALLS: u64 = 4;

const GENERATIONS: u64 = 8;

#[derive(Serialize, Deserialize)]
struct Listener {
    /// The first broadcast that was made after its birth.
    first: u64,
    heard: Vec<u64>,
}

#[chare(array, migrate)]
impl Listener {
    #[entry]
    fn new(first: u64, born: Callback<u64>) -> Self {
        born.send(first);
        Self { first, heard: Vec::new() }
    }

    #[entry]
    fn hear(&mut self, number: u64) {
        assert!(!self.heard.contains(&number), "{number} comes twice, after {:?}", self.heard);
        self.heard.push(number);
        self.go();
    }

    #[entry]
    fn go(&mut self) {
        self.migrate_to(somewhere());
    }

    #[entry]
    fn end(&mut self, done: Callback<u64>) {
        done.send(self.this_index());
        chare::destroy();
    }

    /// Ends when no broadcast is on its way.
    #[entry]
    fn end_in_peace(&mut self, last: u64, done: Callback<u64>) {
        self.heard.sort_unstable();
        let heard = self.heard.iter().filter(|number| **number >= self.first);
        assert!(heard.copied().eq(self.first..last), "from {} to {last}: {:?}", self.first, self.heard);
        self.end(done);
    }
}

/// Waits for as many values as there are indices.
async fn wait_for_each(say: impl Fn(ListenerProxy, u64, Callback<u64>), listeners: &ListenerProxy) {
    let (said, callbacks): (Vec<_>, Vec<_>) = (0..INDICES).map(|_| chare::future()).unzip();
    (0..).zip(callbacks).for_each(|(index, done)| say(listeners.clone(), index, done));
    chare::wait_all(said).await;
}

#[test]
fn who_succeeds_another_hears_what_is_called_after_its_birth_and_not_what_the_other_one_missed() {
    on_every_path(&SHAPES, || async {
        let listeners = ListenerProxy::create(ArrayOptions::empty().dynamic(), 0, Callback::ignore());
        let mut next = 0;
        for generation in 0..GENERATIONS {
            wait_for_each(|all, index, born| all.at(index).insert_on(somewhere(), next, born), &listeners)
                .await;
            for _ in 0..CALLS {
                listeners.hear(next);
                next += 1;
            }
            listeners.go();
            if generation % 2 == 1 {
                chare::quiescence().await;
                wait_for_each(|all, index, done| all.at(index).end_in_peace(next, done), &listeners).await;
            } else {
                wait_for_each(|all, index, done| all.at(index).end(done), &listeners).await;
            }
        }
        listeners.done_inserting();
    });
}
