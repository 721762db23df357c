//! Reductions and broadcasts while elements come and go: each counts once.

use crate::SHAPES;
use crate::every_path::on_every_path;
use chare::ArrayOptions;
use chare::prelude::*;

struct Worker {
    rounds: u32,
    results: Callback<Vec<u64>>,
}

#[chare(array)]
impl Worker {
    #[entry]
    fn new(rounds: u32, results: Callback<Vec<u64>>) -> Self {
        Self { rounds, results }
    }

    /// Contributes, and at some rounds has a successor or goes.
    #[entry]
    fn work(&mut self) {
        let index = self.this_index();
        self.contribute(sum(vec![1, index]), self.results);
        self.rounds -= 1;
        match self.rounds {
            0 => chare::destroy(),
            left => {
                if left.is_multiple_of(4) && index < 1000 {
                    let pe = PeId((index as u32 * 31 + left) % chare::pes());
                    let child = self.this_collection().at(index * 7 + 1000 + u64::from(left));
                    child.insert_on(pe, 9, self.results);
                    child.work();
                }
                self.this_chare().work();
            }
        }
    }
}

struct Tally {
    contributions: u64,
    indices: u64,
}

#[chare]
impl Tally {
    #[entry]
    fn new() -> Self {
        Self { contributions: 0, indices: 0 }
    }

    #[entry]
    fn add(&mut self, result: Vec<u64>) {
        self.contributions += result[0];
        self.indices += result[1];
    }

    #[entry]
    fn report(&mut self, to: Callback<(u64, u64)>) {
        to.send((self.contributions, self.indices));
    }
}

#[test]
fn every_contribution_counts_once_while_elements_come_and_go() {
    on_every_path(&SHAPES, || async {
        let tally = TallyProxy::create();
        let workers = WorkerProxy::create_empty(ArrayOptions::empty());
        let (mut contributions, mut indices) = (0, 0);
        for parent in 1..9u64 {
            let rounds = 8 + parent as u32;
            workers.at(parent).insert(rounds, tally.add_callback());
            workers.at(parent).work();
            contributions += u64::from(rounds);
            indices += u64::from(rounds) * parent;
            for left in (1..rounds).filter(|left| left.is_multiple_of(4)) {
                contributions += 9;
                indices += 9 * (parent * 7 + 1000 + u64::from(left));
            }
        }
        chare::quiescence().await;
        let (seen, to) = chare::future();
        tally.report(to);
        assert_eq!(seen.await, (contributions, indices));
    });
}

struct Counted {
    calls: u32,
}

#[chare(array)]
impl Counted {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    fn hear(&mut self) {
        self.calls += 1;
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<(u64, u32)>>) {
        self.contribute(concat([(self.this_index(), self.calls)]), done);
    }
}

#[test]
fn broadcasts_reach_once_who_was_there_all_the_time() {
    on_every_path(&SHAPES, || async {
        let array = CountedProxy::create(ArrayOptions::new(10).dynamic());
        for number in 0..30 {
            array.hear();
            array.at(100 + number).insert();
            if number % 2 == 0 {
                array.at(100 + number).destroy();
            }
        }
        chare::quiescence().await;
        array.hear();
        chare::quiescence().await;
        let (report, done) = chare::future();
        array.report(done);
        let report = report.await;
        assert_eq!(report.len(), 10 + 15);
        for (index, calls) in report {
            match index {
                0..10 => assert_eq!(calls, 31),
                _ => assert!((1..=31).contains(&calls), "{index} heard {calls}"),
            }
        }
    });
}
