//! States that move: as they are inside a process, by serde between processes; hooks, names, and constructors' arguments go along.

use super::SHAPES;
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Job, ThisMigrant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a trunk has been packed, its journeys, and where it is.
type Shown = (Vec<u32>, Vec<(u32, u32)>, u32);

#[derive(Serialize, Deserialize)]
struct Trunk {
    numbers: Vec<u64>,
    words: BTreeMap<String, Option<i32>>,
    left: Vec<u32>,
    came: Vec<(u32, u32)>,
}

#[chare(array, index = String, migrate)]
impl Trunk {
    #[entry]
    fn new() -> Self {
        let words = ["a", "b"].into_iter().zip([Some(-1), None]);
        let words = words.map(|(word, number)| (word.to_owned(), number)).collect();
        Self { numbers: (0..1000).collect(), words, left: Vec::new(), came: Vec::new() }
    }

    #[about_to_move]
    fn pack_up(&mut self) {
        self.left.push(chare::my_pe().0);
    }

    #[moved]
    fn settle(&mut self, from: PeId) {
        self.came.push((from.0, chare::my_pe().0));
        assert_eq!(self.this_index(), "a trunk that has a long name, which no index of 16 bytes holds");
    }

    #[entry]
    fn go(&mut self, pe: PeId) {
        self.migrate_to(pe);
    }

    #[entry]
    fn address(&mut self, done: Callback<u64>) {
        done.send(self.numbers.as_ptr().addr() as u64);
    }

    #[entry]
    fn show(&mut self, done: Callback<Shown>) {
        assert!(self.numbers.iter().copied().eq(0..1000));
        assert_eq!(self.words["a"], Some(-1));
        done.send((self.left.clone(), self.came.clone(), chare::my_pe().0));
    }
}

fn trunk() -> TrunkElementProxy {
    let name = "a trunk that has a long name, which no index of 16 bytes holds".to_owned();
    TrunkProxy::create(ArrayOptions::listed([name.clone()])).at(name)
}

#[test]
fn a_state_goes_round_all_pes_and_its_hooks_run() {
    on_every_path(&SHAPES, || async {
        let trunk = trunk();
        let first = trunk.show_at().await;
        let pes = chare::pes();
        for hop in 1..=2 * pes {
            trunk.go(PeId((first + hop) % pes));
            chare::quiescence().await;
            assert_eq!(trunk.show_at().await, (first + hop) % pes);
        }
        let (shown, done) = chare::future();
        trunk.show(done);
        let (left, came, _) = shown.await;
        let hops = if pes == 1 { 0 } else { 2 * pes };
        let at = |hop: u32| (first + hop) % pes;
        assert_eq!(left, (0..hops).map(at).collect::<Vec<_>>());
        assert_eq!(came, (0..hops).map(|hop| (at(hop), at(hop + 1))).collect::<Vec<_>>());
    });
}

trait ShowAt {
    fn show_at(&self) -> impl Future<Output = u32>;
}

impl ShowAt for TrunkElementProxy {
    async fn show_at(&self) -> u32 {
        let (shown, done) = chare::future();
        self.show(done);
        shown.await.2
    }
}

#[test]
fn inside_a_process_the_memory_of_a_state_stays_where_it_is() {
    let job = Job::in_process(1, 3).run(|| async {
        let trunk = trunk();
        let mut addresses = Vec::new();
        for hop in 0..6 {
            trunk.go(PeId(hop % 3));
            chare::quiescence().await;
            let (address, done) = chare::future();
            trunk.address(done);
            addresses.push(address.await);
        }
        assert!(addresses.iter().all(|address| *address == addresses[0]));
    });
    assert_eq!(job.unwrap(), 0);
}

#[derive(Serialize, Deserialize)]
struct Phoenix {
    name: String,
    burnt: bool,
}

#[chare(array, migrate, on_panic = renew)]
impl Phoenix {
    #[entry]
    fn new(name: String) -> Self {
        Self { name, burnt: false }
    }

    #[entry]
    fn go(&mut self, pe: PeId) {
        self.burnt = true;
        self.migrate_to(pe);
    }

    #[entry]
    fn burn(&mut self) {
        panic!("burnt");
    }

    #[entry]
    fn ask(&mut self) -> (String, bool, u32) {
        (self.name.clone(), self.burnt, chare::my_pe().0)
    }
}

#[test]
fn an_element_that_outlives_panics_is_made_anew_where_it_lives_now() {
    let program = || async {
        let phoenix = PhoenixProxy::create(1, "ashes".to_owned()).at(0);
        let last = PeId(chare::pes() - 1);
        phoenix.go(last);
        chare::quiescence().await;
        assert_eq!(phoenix.ask().await, ("ashes".to_owned(), true, last.0));
        phoenix.burn();
        assert_eq!(phoenix.ask().await, ("ashes".to_owned(), false, last.0));
    };
    for (nodes, pes) in [(1, 2), (2, 1)] {
        assert_eq!(Job::in_process(nodes, pes).run(program).unwrap(), 0);
    }
}
