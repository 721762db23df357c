//! Audiences: who hears a call of all elements takes part in the reductions that it begins, and nobody else does, however insertions,
//! destructions, the call and contributions cross.

use super::SHAPES;
use super::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, CallOptions, Job};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::cell::Cell;
use std::rc::Rc;

/// An element with a bit of its own, so that a sum says who contributed, and that nobody did twice.
struct Listener {
    heard: Callback<u64>,
}

#[chare(array)]
impl Listener {
    #[entry]
    fn new(heard: Callback<u64>) -> Self {
        Self { heard }
    }

    /// Contributes at once.
    #[entry]
    fn step(&mut self, done: Callback<u64>) {
        self.heard.send(1 << self.this_index());
        self.contribute(sum(1u64 << self.this_index()), done);
    }

    /// Contributes to two reductions at once.
    #[entry]
    fn step_twice(&mut self, first: Callback<u64>, second: Callback<u64>) {
        self.step(first);
        self.contribute(sum(1u64 << self.this_index()), second);
    }

    /// Contributes after an answer of another element.
    #[entry]
    async fn think(this: This<Self>, done: Callback<u64>) {
        this.with(|element| element.heard.send(1 << element.this_index()));
        let index = this.this_collection().at(0).repeat(this.this_index()).await;
        this.contribute(sum(1u64 << index), done);
    }

    #[entry]
    fn repeat(&self, index: u64) -> u64 {
        index
    }

    /// Contributes when another element has called back.
    #[entry]
    fn ask(&mut self, done: Callback<u64>) {
        self.heard.send(1 << self.this_index());
        self.this_collection().at(0).be_asked(self.this_index(), done);
    }

    #[entry]
    fn be_asked(&mut self, by: u64, done: Callback<u64>) {
        self.this_collection().at(by).be_answered(done);
    }

    #[entry]
    fn be_answered(&mut self, done: Callback<u64>) {
        self.contribute(sum(1u64 << self.this_index()), done);
    }

    /// Lets another element contribute.
    #[entry]
    fn push(&mut self, other: u64, done: Callback<u64>) {
        self.heard.send(1 << self.this_index());
        self.this_collection().at(other).be_answered(done);
    }
}

fn last() -> PeId {
    PeId(chare::pes() - 1)
}

fn ignore() -> Callback<u64> {
    Callback::ignore()
}

#[test]
fn who_is_inserted_after_a_call_of_all_is_not_awaited() {
    on_every_path(&SHAPES, || async {
        for way in 0..4 {
            let elements = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), ignore());
            let (heard, hear) = chare::future();
            let (total, done) = chare::future();
            let (again, done_again) = chare::future();
            match way {
                0 => elements.step(done),
                1 => elements.step_twice(done, done_again),
                2 => elements.think(done),
                _ => elements.ask(done),
            }
            elements.at(2).insert_on(last(), hear);
            chare::quiescence().await;
            let was_heard = total.await == 0b101;
            if way == 1 {
                assert_eq!(again.await == 0b101, was_heard);
            }
            // Whether it was there in time or not, it is there now.
            let (total, done) = chare::future();
            elements.step(done);
            assert_eq!(total.await, 0b101);
            heard.await;
            elements.destroy();
            chare::quiescence().await;
        }
    });
}

#[test]
fn who_comes_where_others_have_left_is_not_awaited() {
    on_every_path(&SHAPES, || async {
        let elements = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), ignore());
        elements.at(1).insert_on(last(), ignore());
        chare::quiescence().await;
        for round in 0..4 {
            let (total, done) = chare::future();
            elements.at(1).destroy();
            if round % 2 == 0 {
                chare::quiescence().await;
            }
            elements.step(done);
            elements.at(2).insert_on(last(), ignore());
            chare::quiescence().await;
            assert_eq!(total.await & 1, 1);
            let (total, done) = chare::future();
            elements.think(done);
            assert_eq!(total.await, 0b101);
            elements.at(1).insert_on(last(), ignore());
            elements.at(2).destroy();
            chare::quiescence().await;
        }
    });
}

#[test]
fn whoever_is_called_alone_takes_part_with_the_others() {
    on_every_path(&SHAPES, || async {
        let elements = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), ignore());
        let (total, done) = chare::future();
        elements.step(done);
        assert_eq!(total.await, 1);
        elements.at(1).insert_on(last(), ignore());
        elements.at(2).insert_on(PeId(0), ignore());
        chare::quiescence().await;
        for _ in 0..3 {
            let (total, done) = chare::future();
            (0..3).for_each(|index| elements.at(index).be_answered(done));
            assert_eq!(total.await, 0b111);
        }
        let (total, done) = chare::future();
        elements.ask(done);
        assert_eq!(total.await, 0b111);
    });
}

#[test]
fn whoever_comes_and_goes_while_all_are_called_contributes_if_it_heard_the_call() {
    on_every_path(&SHAPES, || async {
        let mask = Rc::new(Cell::new(0));
        let hear = {
            let mask = Rc::clone(&mask);
            Callback::each(move |bit: u64| {
                assert_eq!(mask.get() & bit, 0, "it heard the call twice");
                mask.set(mask.get() | bit);
            })
        };
        let elements = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), hear);
        let mut dice = ChaCha8Rng::seed_from_u64(7);
        let mut present = 1u64;
        for round in 0..40 {
            let (total, done) = chare::future();
            mask.set(0);
            let called_at = dice.random_range(0..4);
            let mut indices: Vec<u64> = (1..8).collect();
            for change in 0..4 {
                if change == called_at {
                    match round % 3 {
                        0 => elements.step(done),
                        1 => elements.think(done),
                        _ => elements.ask(done),
                    }
                }
                let index = indices.swap_remove(dice.random_range(0..indices.len()));
                let bit = 1 << index;
                let on = PeId(dice.random_range(0..chare::pes()));
                match present & bit {
                    0 => elements.at(index).insert_on(on, hear),
                    // Who has heard must not go before it contributes, for the sum to say who has heard.
                    _ if round % 3 == 0 => elements.at(index).destroy(),
                    _ => continue,
                }
                present ^= bit;
            }
            chare::quiescence().await;
            assert_eq!(total.await, mask.get(), "round {round}");
        }
    });
}

#[test]
fn who_did_not_hear_a_call_and_contributes_in_its_course_is_told() {
    for (nodes, pes) in [(1, 1), (2, 1)] {
        let result = Job::in_process(nodes, pes).run(|| async {
            let (pushed, heard) = chare::future();
            let elements = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), heard);
            elements.push(5, ignore());
            pushed.await;
            // Where element 0 has heard the call.
            elements.at(5).insert_on(PeId(0), ignore());
            chare::future::<()>().0.await;
        });
        let text = result.unwrap_err().to_string();
        let parts = ["a contribution of", "5", "Listener", "inserted after the call of all elements"];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

/// Asks who hears a call, and answers for nobody.
fn for_nobody(done: Callback<u64>) -> (chare::Future<u64>, CallOptions) {
    let (members, heard) = chare::future();
    let answer = Callback::once(move |members: u64| {
        if members == 0 {
            done.send(0);
        }
        heard.send(members);
    });
    (members, CallOptions::new().heard(answer))
}

#[test]
fn a_reduction_over_nobody_is_answered_by_the_caller() {
    on_every_path(&SHAPES, || async {
        let fixed = ListenerProxy::create(ArrayOptions::empty(), ignore());
        let growing = ListenerProxy::create(ArrayOptions::listed([0]).dynamic(), ignore());
        for elements in [&fixed, &growing] {
            for present in [false, true] {
                if elements == &growing {
                    match present {
                        false => elements.at(0).destroy(),
                        true => (0..5).for_each(|index| elements.at(index).insert_on(last(), ignore())),
                    }
                    chare::quiescence().await;
                }
                let (total, done) = chare::future();
                let (members, options) = for_nobody(done);
                elements.with(options).step(done);
                let is_there = present && elements == &growing;
                assert_eq!(members.await, if is_there { 5 } else { 0 });
                assert_eq!(total.await, if is_there { 0b11111 } else { 0 });
            }
        }
        let (members, options) = for_nobody(ignore());
        fixed.with(options).step(ignore());
        // The next question is counted apart.
        let (others, options) = for_nobody(ignore());
        growing.with(options).step(ignore());
        assert_eq!((members.await, others.await), (0, 5));
    });
}

#[test]
fn only_calls_of_all_are_counted() {
    for way in 0..2 {
        let result = Job::in_process(1, 2).run(move || async move {
            let elements = ListenerProxy::create(ArrayOptions::listed([0]), ignore());
            let asked = CallOptions::new().heard(ignore());
            match way {
                0 => elements.at(0).with(asked).step(ignore()),
                _ => elements.section([0]).with(asked).step(ignore()),
            }
            chare::future::<()>().0.await;
        });
        let text = result.unwrap_err().to_string();
        assert!(text.contains("counts whom a call of all members of a collection comes to"), "{text}");
    }
}
