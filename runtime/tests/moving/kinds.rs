//! Calls of every kind, to elements that move: with buffers for all, dealt out, aggregated, awaited, and for who has to be created.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, ThisMigrant};
use serde::{Deserialize, Serialize};

const ELEMENTS: u64 = 5;

#[derive(Serialize, Deserialize)]
struct Taker {
    sum: u64,
}

#[chare(array, migrate)]
impl Taker {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry]
    fn go(&mut self) {
        self.migrate_to(somewhere());
    }

    #[entry]
    fn read(&mut self, #[nocopy] values: Received<u64>) {
        self.sum += values.iter().sum::<u64>();
        self.migrate_to(somewhere());
    }

    #[entry(aggregate)]
    fn add(&mut self, number: u64) {
        self.sum += number;
        if number.is_multiple_of(3) {
            self.migrate_to(somewhere());
        }
    }

    #[entry(create_home)]
    fn add_anywhere(&mut self, number: u64) {
        self.sum += number;
        self.migrate_to(somewhere());
    }

    #[entry(awaited)]
    fn give(#[reference] round: u64, number: u64);

    #[entry]
    async fn gather(this: This<Self>, round: u64, done: Callback<u64>) {
        let mut sum = 0;
        for _ in 0..3 {
            sum += this.when(Self::give).reference(round).await.1;
        }
        this.contribute(chare::prelude::sum(sum), done);
        this.migrate_to(somewhere());
    }

    #[entry]
    fn total(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.sum), done);
    }
}

async fn total(takers: &TakerProxy) -> u64 {
    let (total, done) = chare::future();
    takers.total(done);
    total.await
}

#[test]
fn buffers_for_all_come_to_those_who_have_moved() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ELEMENTS);
        for length in [3, 40_000, 200] {
            takers.go();
            takers.read(vec![2_u64; length]);
        }
        chare::quiescence().await;
        assert_eq!(total(&takers).await, ELEMENTS * 2 * (3 + 40_000 + 200));
    });
}

#[test]
fn parts_of_a_buffer_are_dealt_out_to_those_who_have_moved() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ELEMENTS);
        for round in 0..4_u64 {
            let length = if round % 2 == 0 { 20 } else { 50_000 };
            let parts = chare::Partition::blocks([length], [ELEMENTS as usize]).expect("blocks of a row");
            takers.read(chare::SendBuffer::from(vec![round; length]).each(&parts));
            takers.go();
            chare::quiescence().await;
        }
        assert_eq!(total(&takers).await, 50_000 + 2 * 20 + 3 * 50_000);
    });
}

#[test]
fn aggregated_calls_come_to_those_who_have_moved() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ELEMENTS);
        for number in 0..200 {
            takers.at(number % ELEMENTS).add(number);
        }
        chare::quiescence().await;
        assert_eq!(total(&takers).await, 199 * 100);
    });
}

#[test]
fn who_is_created_by_a_call_moves_and_is_called_on() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ArrayOptions::empty());
        for number in 0..60 {
            takers.at(number % 7).add_anywhere(1);
        }
        chare::quiescence().await;
        assert_eq!(total(&takers).await, 60);
    });
}

#[test]
fn calls_that_wait_to_be_awaited_go_along() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ELEMENTS);
        for round in 0..6 {
            // Some wait before the element moves, some come on the way, some after.
            for part in 0..3 {
                (0..ELEMENTS).for_each(|element| takers.at(element).give(round, 10 + part));
                takers.go();
            }
            let (sum, done) = chare::future();
            takers.gather(round, done);
            assert_eq!(sum.await, ELEMENTS * 33);
        }
    });
}

/// Flies away, and ends soon.
#[derive(Serialize, Deserialize)]
struct Sparrow;

#[chare(array, index = String, migrate)]
impl Sparrow {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_home)]
    fn fly(&mut self, to: Callback<String>) {
        to.send(self.this_index());
        if chare::dice().below(2) == 0 {
            chare::destroy();
        } else {
            self.migrate_to(somewhere());
        }
    }
}

#[test]
fn a_call_that_comes_after_its_element_has_ended_elsewhere_creates_it_by_an_index_of_any_length() {
    on_every_path(&SHAPES, || async {
        let sparrows = SparrowProxy::create(ArrayOptions::empty());
        let name = "an index that is longer than what stands in a message, of one that moves".to_owned();
        for _ in 0..8 {
            let mut flights = Vec::new();
            for _ in 0..4 {
                let (flight, to) = chare::future();
                sparrows.at(name.clone()).fly(to);
                flights.push(flight);
            }
            for flight in flights {
                assert_eq!(flight.await, name);
            }
        }
    });
}
