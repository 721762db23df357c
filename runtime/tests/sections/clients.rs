//! Clients of one section that know nothing of each other: each calls it, and awaits the result of its own callback.

use super::SHAPES;
use super::every_path::on_every_path;
use chare::ArrayOptions;
use chare::prelude::*;

struct Seat {
    seats: u64,
}

#[chare(array)]
impl Seat {
    #[entry]
    fn new(seats: u64) -> Self {
        Self { seats }
    }

    /// Every second member contributes when another one calls it, so that members come to what clients began in different orders.
    #[entry]
    fn step(&mut self, section: SeatSectionProxy, factor: u64, done: Callback<u64>) {
        let next = (self.this_index() + 1) % self.seats;
        match (self.this_index() + factor) % 2 {
            0 => self.this_collection().at(next).add(section, factor, done),
            _ => self.this_collection().at(next).pass(section, factor, done),
        }
    }

    #[entry]
    fn pass(&mut self, section: SeatSectionProxy, factor: u64, done: Callback<u64>) {
        self.this_chare().add(section, factor, done);
    }

    #[entry]
    fn add(&mut self, section: SeatSectionProxy, factor: u64, done: Callback<u64>) {
        self.contribute_to(&section, sum(factor * (1 + self.this_index())), done);
    }

    #[entry]
    fn leave(&mut self) {
        chare::destroy();
    }
}

/// On each PE: calls the section again and again, each time when it has its result.
struct Client {
    section: SeatSectionProxy,
    expected: u64,
    rounds: u64,
    over: Callback<()>,
}

#[chare(group)]
impl Client {
    #[entry]
    fn new(section: SeatSectionProxy, expected: u64, over: Callback<()>) -> Self {
        Self { section, expected, rounds: 5, over }
    }

    #[entry]
    fn go(&mut self) {
        self.section.step(self.section.clone(), self.factor(), self.this_chare().result_callback());
    }

    #[entry]
    fn result(&mut self, result: u64) {
        assert_eq!(result, self.factor() * self.expected);
        self.rounds -= 1;
        match self.rounds {
            0 => self.contribute(barrier(), self.over),
            _ => self.go(),
        }
    }
}

impl Client {
    fn factor(&self) -> u64 {
        10 * self.this_index() + self.rounds
    }
}

#[test]
fn clients_of_a_section_each_get_their_own_results() {
    on_every_path(&SHAPES, || async {
        let at_home = SeatProxy::create(7, 7);
        let anywhere = SeatProxy::create_empty(ArrayOptions::empty());
        (0..7).for_each(|index| anywhere.at(index).insert_on(PeId(index as u32 % chare::pes()), 7));
        for seats in [at_home, anywhere] {
            let section = seats.section(0..7);
            let (over, all) = chare::future();
            ClientProxy::create(section.clone(), 28, all).go();
            for _ in 0..3 {
                let results: Vec<_> = (0..4)
                    .map(|client| {
                        let (result, done) = chare::future();
                        section.step(section.clone(), 1000 + client, done);
                        result
                    })
                    .collect();
                for (client, result) in (0..).zip(results) {
                    assert_eq!(result.await, 28 * (1000 + client));
                }
            }
            over.await;
            // Those who leave are in what they contributed to, and in nothing else.
            seats.at(3).leave();
            chare::quiescence().await;
            let section = seats.section([0, 1, 2, 3]);
            let (result, done) = chare::future();
            (0..3).for_each(|index| seats.at(index).add(section.clone(), 1, done));
            assert_eq!(result.await, 6);
            section.dissolve();
        }
    });
}
