//! Reductions of elements that move between their contributions, and before them; and their sections, calls and reductions.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, CallOptions, ThisMigrant};
use serde::{Deserialize, Serialize};

/// Charm++'s issue 3939: neighbours, a reduction and a broadcast for each step; half of the elements move right after they have contributed.
#[derive(Serialize, Deserialize)]
struct Stepper {
    steps: u64,
    from_neighbours: u64,
}

#[chare(array, migrate)]
impl Stepper {
    #[entry]
    fn new() -> Self {
        Self { steps: 0, from_neighbours: 0 }
    }

    #[entry]
    fn step(&mut self, elements: u64, done: Callback<u64>) {
        self.steps += 1;
        self.this_collection().at((self.this_index() + 1) % elements).hear_of(1);
        self.contribute(sum(self.steps), done);
        if chare::dice().below(2) == 0 {
            self.migrate_to(somewhere());
        }
    }

    #[entry]
    fn hear_of(&mut self, number: u64) {
        self.from_neighbours += number;
    }

    #[entry]
    fn many(&mut self, first: Callback<u64>, second: Callback<u64>) {
        self.contribute(sum(1), first);
        self.migrate_to(somewhere());
        self.contribute(sum(10), second);
    }

    #[entry]
    fn neighbours(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.from_neighbours), done);
    }
}

#[test]
fn sums_are_exact_while_half_of_the_elements_move() {
    on_every_path(&SHAPES, || async {
        let steppers = StepperProxy::create(8);
        for step in 1..=30 {
            let (total, done) = chare::future();
            steppers.step(8, done);
            assert_eq!(total.await, 8 * step);
        }
        chare::quiescence().await;
        let (total, done) = chare::future();
        steppers.neighbours(done);
        assert_eq!(total.await, 8 * 30);
    });
}

#[test]
fn several_reductions_are_under_way_while_their_elements_move() {
    on_every_path(&SHAPES, || async {
        let steppers = StepperProxy::create(6);
        let mut results = Vec::new();
        for _ in 0..8 {
            let [(one, first), (ten, second)] = [chare::future(), chare::future()];
            steppers.many(first, second);
            results.push((one, ten));
        }
        for (one, ten) in results {
            assert_eq!((one.await, ten.await), (6, 60));
        }
    });
}

/// Elements are born beside the calls of all, on any PE, and move before they contribute.
#[derive(Serialize, Deserialize)]
struct Newborn {
    born: bool,
}

#[chare(array, migrate)]
impl Newborn {
    #[entry]
    fn new() -> Self {
        Self { born: true }
    }

    #[entry]
    fn go(&mut self) {
        self.migrate_to(somewhere());
    }

    #[entry]
    fn count(&mut self, done: Callback<u64>) {
        assert!(self.born);
        self.contribute(sum(1), done);
        if chare::dice().below(2) == 0 {
            self.migrate_to(somewhere());
        }
    }
}

#[test]
fn who_hears_a_call_of_all_is_counted_also_newborns_that_have_moved() {
    on_every_path(&SHAPES, || async {
        let newborns = NewbornProxy::create(ArrayOptions::new(2).dynamic());
        let mut counts = Vec::new();
        for born in 2..12_u64 {
            let newborn = newborns.at(born);
            if born % 2 == 0 {
                newborn.insert();
            } else {
                newborn.insert_on(somewhere());
            }
            newborn.go();
            let (counted, done) = chare::future();
            newborns.count(done);
            counts.push(counted);
            newborns.at(born - 1).go();
        }
        for (round, counted) in counts.into_iter().enumerate() {
            let elements = counted.await;
            assert!((2..=12).contains(&elements), "round {round}: {elements}");
        }
        newborns.done_inserting();
        chare::quiescence().await;
        let (counted, done) = chare::future();
        newborns.count(done);
        assert_eq!(counted.await, 12);
    });
}

#[test]
fn as_many_hear_a_call_as_contribute_in_its_course() {
    on_every_path(&SHAPES, || async {
        let newborns = NewbornProxy::create(ArrayOptions::new(3).dynamic());
        let mut rounds = Vec::new();
        for round in 0..10 {
            newborns.at(10 + round).insert_on(somewhere());
            newborns.at(10 + round).go();
            newborns.at(round % 3).go();
            let [(counted, done), (audience, heard)] = [chare::future(), chare::future()];
            newborns.with(CallOptions::new().heard(heard)).count(done);
            rounds.push((counted, audience));
        }
        for (counted, audience) in rounds {
            assert_eq!(counted.await, audience.await);
        }
        newborns.done_inserting();
    });
}

#[derive(Serialize, Deserialize)]
struct Seat {
    called: u64,
}

#[chare(array, index = (u32, u32), migrate)]
impl Seat {
    #[entry]
    fn new() -> Self {
        Self { called: 0 }
    }

    #[entry]
    fn add(&mut self, row: SeatSectionProxy, done: Callback<u64>) {
        self.called += 1;
        self.contribute_to(&row, sum(self.called), done);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn read(&mut self, #[nocopy] values: Received<u32>) {
        assert_eq!(values.iter().sum::<u32>(), 6);
        self.called += 100;
        self.migrate_to(somewhere());
    }
}

#[test]
fn each_member_hears_each_call_of_its_section_once_and_each_sum_is_exact() {
    on_every_path(&SHAPES, || async {
        let seats = SeatProxy::create((3, 4));
        let rows: Vec<_> = (0..3).map(|row| seats.section((0..4).map(move |column| (row, column)))).collect();
        for round in 1..=6 {
            let mut totals = Vec::new();
            for row in &rows {
                let (total, done) = chare::future();
                row.add(row.clone(), done);
                totals.push(total);
            }
            for total in totals {
                assert_eq!(total.await % 100, 4 * round);
            }
        }
        for row in &rows {
            row.read(vec![1, 2, 3]);
        }
        chare::quiescence().await;
        for row in &rows {
            let (total, done) = chare::future();
            row.add(row.clone(), done);
            assert_eq!(total.await, 4 * (100 + 7));
            row.dissolve();
        }
    });
}
