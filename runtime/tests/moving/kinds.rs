//! Calls of every kind, to elements that move: with buffers for all, dealt out, selected by layouts, aggregated, awaited, and for who has to be
//! created; and exchanges among such elements.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::layout::Dims;
use chare::prelude::*;
use chare::{
    ArrayOptions, Exchange, Partition, RegisteredSource, SendBuffer, SourceHandle, ThisMigrant, rget,
};
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
            let parts = Partition::blocks([length], [ELEMENTS as usize]).expect("blocks of a row");
            takers.read(SendBuffer::from(vec![round; length]).each(&parts));
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

#[test]
fn what_layouts_select_comes_to_those_who_have_moved() {
    on_every_path(&SHAPES, || async {
        let takers = TakerProxy::create(ELEMENTS);
        let mut expected = 0;
        for length in [3, 30_000, 200, 9_000] {
            let column = Dims::new([length, 3]).select((.., 1));
            let numbers: Vec<u64> = (0..3 * length as u64).collect();
            expected += ELEMENTS * numbers.iter().skip(1).step_by(3).sum::<u64>();
            for element in 0..ELEMENTS {
                takers.at(element).go();
                takers.at(element).read(SendBuffer::from(numbers.clone()).only(&column));
            }
            takers.go();
        }
        chare::quiescence().await;
        assert_eq!(total(&takers).await, expected);
    });
}

/// Exchanges goods with all others and reads their prices where they were registered, and moves while either is under way.
#[derive(Serialize, Deserialize)]
struct Trader {
    exchange: Exchange<u64>,
    prices: SourceHandle<u64>,
    rounds_left: u64,
    done: Callback<u64>,
}

#[chare(array, migrate)]
impl Trader {
    #[entry]
    fn new(exchange: Exchange<u64>, prices: SourceHandle<u64>) -> Self {
        Self { exchange, prices, rounds_left: 0, done: Callback::ignore() }
    }

    #[entry]
    fn trade(&mut self, rounds: u64, done: Callback<u64>) {
        (self.rounds_left, self.done) = (rounds, done);
        self.begin_round();
    }

    /// What trader `from` has for trader `to` in a round.
    fn goods(&self, from: u64, to: u64) -> u64 {
        self.rounds_left * 10_000 + from * 100 + to
    }

    fn begin_round(&mut self) {
        let me = self.this_index();
        let row: Vec<u64> = (0..ELEMENTS).map(|other| self.goods(me, other)).collect();
        let one_each = Partition::blocks([ELEMENTS as usize], [ELEMENTS as usize]).expect("one for each");
        let (row, column) = (Buffer::from(row), vec![0; ELEMENTS as usize]);
        let traded = self.this_chare().traded_callback();
        self.exchange.all_to_all(me, (row, &one_each), (column, &one_each), traded);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn traded(&mut self, column: BufferMut<u64>) {
        let me = self.this_index();
        assert!(column.iter().copied().eq((0..ELEMENTS).map(|other| self.goods(other, me))), "{column:?}");
        let room = BufferMut::zeroed(self.prices.len());
        rget(&self.prices, room, self.this_chare().priced_callback()).expect("it is as long");
        self.migrate_to(somewhere());
    }

    #[entry]
    fn priced(&mut self, prices: BufferMut<u64>) {
        assert!(prices.iter().copied().eq(0..prices.len() as u64));
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            self.contribute(sum(1), self.done);
        } else {
            self.begin_round();
        }
    }
}

#[test]
fn exchanges_and_gets_go_on_while_their_members_move() {
    on_every_path(&SHAPES, || async {
        for length in [10, 20_000] {
            let prices = RegisteredSource::register((0..length).collect::<Vec<u64>>());
            let traders = TraderProxy::create(ELEMENTS, Exchange::create(ELEMENTS), prices.handle());
            let (traded, done) = chare::future();
            traders.trade(5, done);
            assert_eq!(traded.await, ELEMENTS);
            drop(prices.deregister());
        }
    });
}
