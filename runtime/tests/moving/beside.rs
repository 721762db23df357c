//! What goes on beside elements that move: completion is detected, memory of others is written, and closures hold the element that made them.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::completion_detection::CompletionDetectorProxy;
use chare::prelude::*;
use chare::{RegisteredTarget, TargetHandle, ThisMigrant, rput};
use serde::{Deserialize, Serialize};

const ELEMENTS: u64 = 5;

/// Does pieces of work, which all give to each other, and moves after each.
#[derive(Serialize, Deserialize)]
struct Worker {
    detector: CompletionDetectorProxy,
    did: u64,
}

#[chare(array, migrate)]
impl Worker {
    #[entry]
    fn new(detector: CompletionDetectorProxy) -> Self {
        Self { detector, did: 0 }
    }

    #[entry]
    fn give(&mut self, pieces: u64) {
        let detector = self.detector.local();
        for piece in 0..pieces {
            detector.produce(1);
            self.this_collection().at((self.this_index() + piece) % ELEMENTS).work();
            if piece == pieces / 2 {
                self.migrate_to(somewhere());
            }
        }
        detector.done(1);
    }

    #[entry]
    fn work(&mut self) {
        self.did += 1;
        self.detector.local().consume(1);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn total(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.did), done);
    }
}

#[test]
fn completion_is_detected_when_all_is_done_by_those_who_move_meanwhile() {
    on_every_path(&SHAPES, || async {
        let detector = CompletionDetectorProxy::create();
        let workers = WorkerProxy::create(ELEMENTS, detector.clone());
        for round in 1..4 {
            let (finished, all_finished) = chare::future();
            detector.start(ELEMENTS, Callback::ignore(), all_finished);
            workers.give(20);
            finished.await;
            let (total, done) = chare::future();
            workers.total(done);
            assert_eq!(total.await, round * ELEMENTS * 20);
        }
    });
}

/// Writes its part of memory that somebody registered, and moves while it is written.
#[derive(Serialize, Deserialize)]
struct Writer {
    target: TargetHandle<u64>,
    rounds_left: u64,
    done: Callback<u64>,
}

impl Writer {
    /// How long its part is.
    fn part(&self) -> usize {
        self.target.len() / ELEMENTS as usize
    }
}

#[chare(array, migrate)]
impl Writer {
    #[entry]
    fn new(target: TargetHandle<u64>) -> Self {
        Self { target, rounds_left: 0, done: Callback::ignore() }
    }

    #[entry]
    fn write(&mut self, rounds: u64, done: Callback<u64>) {
        (self.rounds_left, self.done) = (rounds, done);
        self.begin_round();
    }

    fn begin_round(&mut self) {
        let (me, part) = (self.this_index(), self.part());
        let first = me as usize * part;
        let values = vec![self.rounds_left * 1_000 + me; part];
        let target = self.target.slice(first..first + part);
        rput(values, &target, self.this_chare().written_callback()).expect("it is as long");
        self.migrate_to(somewhere());
    }

    #[entry]
    fn written(&mut self, values: Buffer<u64>) {
        assert!(values.len() == self.part() && values[0] == self.rounds_left * 1_000 + self.this_index());
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            self.contribute(sum(1), self.done);
        } else {
            self.begin_round();
        }
    }
}

#[test]
fn puts_are_over_once_for_those_who_move_meanwhile() {
    on_every_path(&SHAPES, || async {
        for part in [3, 9_000] {
            let target = RegisteredTarget::register(vec![0_u64; part * ELEMENTS as usize]);
            let writers = WriterProxy::create(ELEMENTS, target.handle());
            let (written, done) = chare::future();
            writers.write(5, done);
            assert_eq!(written.await, ELEMENTS);
            let expected = (0..ELEMENTS).flat_map(|writer| std::iter::repeat_n(1_000 + writer, part));
            let is_right = target.read(|values| values.iter().copied().eq(expected));
            assert_eq!(is_right, Some(true), "what was put last");
        }
    });
}

struct Echo;

#[chare(group)]
impl Echo {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn answer(&mut self, number: u64, to: Callback<u64>) {
        to.send(number);
    }
}

/// Asks, and hears the answer by a closure that holds it; so it moves when nothing is asked any more.
#[derive(Serialize, Deserialize)]
struct Asker {
    heard: u64,
    moves: u64,
}

#[chare(array, migrate)]
impl Asker {
    #[entry]
    fn new() -> Self {
        Self { heard: 0, moves: 0 }
    }

    #[moved]
    fn moved(&mut self, _from: PeId) {
        self.moves += 1;
    }

    #[entry]
    async fn ask(this: This<Self>, echoes: EchoProxy, number: u64) {
        let holds = this.clone();
        let answered = Callback::once(move |answer: u64| {
            assert_eq!(answer, number);
            holds.with(|asker| asker.heard += answer);
        });
        echoes.on(somewhere()).answer(number, answered);
        this.migrate_to(PeId((chare::my_pe().0 + 1) % chare::pes()));
    }

    #[entry]
    fn total(&mut self, done: Callback<(u64, u64)>) {
        self.contribute(tuple((sum(self.heard), sum(u64::from(self.moves > 0)))), done);
    }
}

#[test]
fn who_is_held_by_a_closure_moves_when_that_is_over() {
    on_every_path(&SHAPES, || async {
        let (echoes, askers) = (EchoProxy::create(), AskerProxy::create(ELEMENTS));
        for round in 1..=8 {
            (1..=6).for_each(|number| askers.ask(echoes.clone(), number));
            chare::quiescence().await;
            let (total, done) = chare::future();
            askers.total(done);
            let moved = if chare::pes() > 1 { ELEMENTS } else { 0 };
            assert_eq!(total.await, (round * ELEMENTS * 21, moved));
        }
    });
}
