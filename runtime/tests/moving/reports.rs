//! Reports of what went wrong in Charm++ when elements moved, each as a program in which it would.
//!
//! | Charm++'s issue | what happened there | shown absent by |
//! |---|---|---|
//! | 3605, 3614 | broadcasts of many callers were lost or heard twice beside moves | [`every_round_of_every_caller_is_heard_once_while_all_move`] |
//! | 3939, 76 | a reduction was never complete when members had moved after they contributed, or were born beside it | `reductions` |
//! | 3997, 2060 | calls chased an element from PE to PE, ever longer | [`two_elements_that_always_move_find_each_other`]; sends of one call are counted in `model/home/every_order` |
//! | 3286, 2060 | balancing for the hundredth time was not as the first | [`balancing_for_the_hundredth_time_moves_as_the_first_did`] |
//! | 67, 2990 | a large buffer went to where its receiver had been | [`a_large_buffer_comes_to_who_has_just_moved`] |
//! | 3660, 2980 | splitting and joining elements hung, or met two of one index | [`elements_split_and_join_on_any_pe`] |
//! | 377, 1002 | elements were not to be born or to end beside balancing | `syncs` |
//! | 120 | multicasts and reductions of sections broke after moves | `reductions` |
//! | 480 | a state was touched when it had left | [`an_entry_ends_where_it_began`] |
//! | 3164 | an element that moved after `AtSync` was awaited for ever | [`a_wish_to_move_beside_a_sync_loses_nobody`] |
//! | 3145, 3108 | balancers sent elements to where they were, or hung with few | [`balancing_for_the_hundredth_time_moves_as_the_first_did`] |

use super::balanced::balanced;
use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};

const PINGERS: u64 = 10;
const ROUNDS: usize = 4;

/// Calls all others in every round, when all have been heard in the last.
#[derive(Serialize, Deserialize)]
struct Pinger {
    heard: [u64; ROUNDS],
    round: usize,
    done: Option<Callback<u64>>,
}

#[chare(array, migrate)]
impl Pinger {
    #[entry]
    fn new() -> Self {
        Self { heard: [0; ROUNDS], round: 0, done: None }
    }

    #[entry]
    fn start(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.this_collection().hear(0, self.this_index());
    }

    #[entry]
    fn hear(&mut self, round: u32, pinger: u64) {
        let heard = &mut self.heard[round as usize];
        assert_eq!(*heard & (1 << pinger), 0, "pinger {pinger} is heard twice in round {round}");
        *heard |= 1 << pinger;
        self.go_on();
        if pinger.is_multiple_of(3) {
            chare::balance();
        }
    }

    #[entry]
    fn again(&mut self) {
        self.go_on();
    }
}

impl Pinger {
    fn go_on(&mut self) {
        let Some(done) = self.done else { return self.this_chare().again() };
        while self.round < ROUNDS && self.heard[self.round] == (1 << PINGERS) - 1 {
            self.round += 1;
            if self.round < ROUNDS {
                self.this_collection().hear(self.round as u32, self.this_index());
            } else {
                self.contribute(sum(1), done);
            }
        }
    }
}

#[test]
fn every_round_of_every_caller_is_heard_once_while_all_move() {
    balanced("rotate", || async {
        let (ended, done) = chare::future();
        PingerProxy::create(PINGERS).start(done);
        assert_eq!(ended.await, PINGERS);
        chare::quiescence().await;
    });
}

/// Moves whenever something has come to it.
#[derive(Serialize, Deserialize)]
struct Nomad {
    came: Vec<u32>,
    bytes: u64,
}

#[chare(array, migrate)]
impl Nomad {
    #[entry]
    fn new() -> Self {
        Self { came: Vec::new(), bytes: 0 }
    }

    #[entry]
    fn toss(&mut self, left: u32, done: Callback<u32>) {
        if left == 0 {
            return done.send(chare::my_pe().0);
        }
        self.this_collection().at(1 - self.this_index()).toss(left - 1, done);
        self.migrate_to(PeId((chare::my_pe().0 + 1) % chare::pes()));
    }

    #[entry]
    fn take(&mut self, round: u64, #[nocopy] values: Received<u64>) -> u64 {
        assert!(values.iter().all(|value| *value == round));
        self.bytes += 8 * values.len() as u64;
        self.migrate_to(somewhere());
        self.bytes
    }

    #[entry]
    fn ask(&mut self) -> (u32, u64) {
        (chare::my_pe().0, self.came.len() as u64)
    }

    #[moved]
    fn settle(&mut self, from: PeId) {
        assert_ne!(from, chare::my_pe(), "nobody is sent to where it is");
        self.came.push(from.0);
    }

    /// Goes on where it is after it has asked to move, twice, and takes the second wish back at the end, if it is to.
    #[entry]
    fn linger(&mut self, to: PeId, stays: bool) {
        let here = chare::my_pe();
        self.migrate_to(to);
        self.bytes = 7;
        self.migrate_to(PeId((to.0 + 1) % chare::pes()));
        assert_eq!((self.bytes, chare::my_pe()), (7, here));
        self.migrate_to(if stays { here } else { to });
    }

    #[entry]
    async fn linger_long(this: This<Self>, to: PeId) {
        let here = chare::my_pe();
        this.migrate_to(to);
        for _ in 0..3 {
            chare::yield_now().await;
            this.with(|nomad| nomad.bytes += 1);
            assert_eq!(chare::my_pe(), here);
        }
    }

    #[entry]
    fn stay(&mut self) {
        self.hold();
        self.migrate_to(PeId((chare::my_pe().0 + 1) % chare::pes()));
    }

    #[entry]
    fn leave(&mut self) {
        self.release();
    }
}

#[test]
fn two_elements_that_always_move_find_each_other() {
    on_every_path(&SHAPES, || async {
        let (ended, done) = chare::future();
        NomadProxy::create(2).at(0).toss(100, done);
        ended.await;
        chare::quiescence().await;
    });
}

#[test]
fn a_large_buffer_comes_to_who_has_just_moved() {
    on_every_path(&SHAPES, || async {
        let nomad = NomadProxy::create(1).at(0);
        for round in 1..=4 {
            assert_eq!(nomad.take(round, vec![round; 200_000]).await, round * 1_600_000);
        }
    });
}

#[test]
fn an_entry_ends_where_it_began() {
    on_every_path(&SHAPES, || async {
        let nomad = NomadProxy::create(1).at(0);
        let pes = chare::pes();
        let (first, _) = nomad.ask().await;
        nomad.linger(PeId(first), true);
        nomad.linger(PeId((first + 1) % pes), true);
        chare::quiescence().await;
        assert_eq!(nomad.ask().await, (first, 0));
        nomad.linger(PeId((first + 1) % pes), false);
        chare::quiescence().await;
        let moves = u64::from(pes > 1);
        assert_eq!(nomad.ask().await, ((first + 1) % pes, moves));
        nomad.linger_long(PeId(first));
        chare::quiescence().await;
        assert_eq!(nomad.ask().await, (first, 2 * moves));
    });
}

#[test]
fn an_element_that_holds_itself_stays_until_it_lets_itself_go() {
    on_every_path(&SHAPES, || async {
        let nomad = NomadProxy::create(1).at(0);
        let pes = chare::pes();
        for hop in 0..3 {
            nomad.stay();
            nomad.stay();
            chare::quiescence().await;
            let (at, moves) = nomad.ask().await;
            assert_eq!(moves, if pes > 1 { hop } else { 0 });
            nomad.leave();
            chare::quiescence().await;
            assert_eq!(nomad.ask().await.0, (at + 1) % pes);
        }
    });
}

#[test]
fn no_balancer_moves_an_element_that_holds_itself() {
    balanced("rotate", || async {
        let nomads = NomadProxy::create(4);
        nomads.at(2).stay();
        chare::quiescence().await;
        for _ in 0..3 {
            chare::balance();
            chare::quiescence().await;
        }
        let moves = if chare::pes() > 1 { 3 } else { 0 };
        assert_eq!(nomads.at(1).ask().await.1, moves);
        assert_eq!(nomads.at(2).ask().await.1, 0);
    });
}

#[test]
fn balancing_for_the_hundredth_time_moves_as_the_first_did() {
    balanced("rotate", || async {
        let nomads = NomadProxy::create(8);
        let (first, _) = nomads.at(5).ask().await;
        for round in 1..=100 {
            chare::balance();
            chare::quiescence().await;
            if round % 25 == 1 {
                assert_eq!(nomads.at(5).ask().await.0, (first + round) % chare::pes());
            }
        }
    });
}

/// Splits into two, which join again.
#[derive(Serialize, Deserialize)]
struct Region {
    parts: u64,
    joined: u32,
    has_moved: bool,
    top: Callback<u64>,
}

#[chare(array, migrate)]
impl Region {
    #[entry]
    fn new(top: Callback<u64>) -> Self {
        Self { parts: 0, joined: 0, has_moved: false, top }
    }

    #[entry]
    fn split(&mut self, depth: u32) {
        if !std::mem::replace(&mut self.has_moved, true) {
            self.migrate_to(somewhere());
            return self.this_chare().split(depth);
        }
        let (index, regions) = (self.this_index(), self.this_collection());
        if depth == 0 {
            self.parts = 1;
            return self.rise();
        }
        for child in [2 * index, 2 * index + 1] {
            regions.at(child).insert_on(somewhere(), self.top);
            regions.at(child).split(depth - 1);
        }
        chare::destroy();
    }

    #[entry]
    fn join(&mut self, parts: u64) {
        self.parts += parts;
        self.joined += 1;
        if self.joined == 2 {
            self.rise();
        } else {
            self.migrate_to(somewhere());
        }
    }
}

impl Region {
    fn rise(&mut self) {
        let index = self.this_index();
        if index == 1 {
            self.top.send(self.parts);
        } else {
            let parent = self.this_collection().at(index / 2);
            if index.is_multiple_of(2) {
                parent.insert_on(somewhere(), self.top);
            }
            parent.join(self.parts);
        }
        chare::destroy();
    }
}

async fn split_and_join() {
    let regions = RegionProxy::create(ArrayOptions::empty().dynamic(), Callback::ignore());
    for depth in 1..=4 {
        let (parts, top) = chare::future();
        regions.at(1).insert_on(somewhere(), top);
        regions.at(1).split(depth);
        assert_eq!(parts.await, 1 << depth);
    }
    regions.done_inserting();
}

#[test]
fn elements_split_and_join_on_any_pe() {
    on_every_path(&SHAPES, split_and_join);
}

/// The successor took the leave of an element that had ended: it said that it stayed, or went.
#[cfg(feature = "sim")]
#[test]
fn leave_to_go_is_for_one_element_and_not_for_the_next_of_its_index() {
    let job = chare::Simulation::new(2, 2).seed(10).chance(chare::Chance::ALL).audited();
    assert_eq!(job.run(split_and_join).code().unwrap(), 0);
}

/// Wishes to move when it comes to a sync.
#[derive(Serialize, Deserialize)]
struct Hasty {
    syncs: u32,
    done: Callback<u64>,
}

#[chare(array, migrate, sync)]
impl Hasty {
    #[entry]
    fn new(done: Callback<u64>) -> Self {
        Self { syncs: 0, done }
    }

    #[entry]
    fn step(&mut self) {
        if self.syncs == 5 {
            return self.contribute(sum(1), self.done);
        }
        self.syncs += 1;
        if self.syncs.is_multiple_of(2) {
            self.migrate_to(somewhere());
            self.sync_then(self.this_chare().step_callback());
        } else {
            self.sync_then(self.this_chare().step_callback());
            self.migrate_to(somewhere());
        }
    }
}

#[test]
fn a_wish_to_move_beside_a_sync_loses_nobody() {
    for balancer in ["rotate", "random"] {
        balanced(balancer, || async {
            let (ended, done) = chare::future();
            HastyProxy::create(6, done).step();
            assert_eq!(ended.await, 6);
        });
    }
}
