//! Moves on the wire, as honest nodes send them: wishes and states of elements, what waits and comes after them, syncs, and the ends of
//! elements and arrays.

use chare::prelude::*;
use chare::{ArrayOptions, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};

/// An index that is short enough to stand for itself, or longer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Spot(i32, String);

impl chare::ArrayIndex for Spot {}

#[derive(Serialize, Deserialize)]
struct Rambler {
    letters: Vec<String>,
    done: Option<Callback<u64>>,
    come: Option<Callback<u32>>,
}

#[chare(array, migrate, sync, index = Spot)]
impl Rambler {
    #[entry]
    fn new() -> Self {
        Self { letters: Vec::new(), done: None, come: None }
    }

    #[entry]
    fn go(&mut self, to: u32, come: Callback<u32>) {
        self.come = Some(come);
        self.migrate_to(PeId(to));
    }

    #[moved]
    fn tell(&mut self, _from: PeId) {
        if let Some(come) = self.come.take() {
            come.send(chare::my_pe().0);
        }
    }

    /// Waits with its element, and goes along.
    #[entry(awaited)]
    fn letter(text: String);

    #[entry]
    async fn read(this: This<Self>, done: Callback<u64>) {
        let text = this.when(Self::letter).await;
        this.with(|rambler| rambler.letters.push(text));
        this.contribute(sum(1), done);
    }

    #[entry]
    fn step(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.sync_then(self.this_chare().stepped_callback());
    }

    #[entry]
    fn stepped(&mut self) {
        if let Some(done) = self.done.take() {
            self.contribute(sum(1), done);
        }
    }

    #[entry]
    fn leave(&mut self, done: Callback<u64>) {
        self.contribute(sum(1), done);
        chare::destroy();
    }
}

/// Goes where its rambler goes.
#[derive(Serialize, Deserialize)]
struct Companion {
    visits: u64,
}

#[chare(array, migrate, index = Spot)]
impl Companion {
    #[entry]
    fn new() -> Self {
        Self { visits: 0 }
    }

    #[moved]
    fn count(&mut self, _from: PeId) {
        self.visits += 1;
    }

    #[entry]
    fn leave(&mut self, done: Callback<u64>) {
        done.send(self.visits);
        chare::destroy();
    }
}

async fn go(rambler: &RamblerElementProxy, to: u32) {
    let (come, done) = chare::future();
    rambler.go(to, done);
    assert_eq!(come.await, to);
}

pub(super) async fn say() {
    // With homes on both nodes, and names that are digests or stand for themselves.
    let names = ["", "a", "b", "long enough to be a digest"];
    let spots = names.map(|name| Spot(9, name.to_owned()));
    let ramblers = RamblerProxy::create_empty(ArrayOptions::empty());
    for spot in &spots {
        ramblers.at(spot.clone()).insert_on(PeId(0));
    }
    ramblers.done_inserting();
    let companions = CompanionProxy::create_empty(ArrayOptions::empty().bind_to(&ramblers));
    let companion = companions.at(spots[1].clone());
    companion.insert();
    companions.done_inserting();
    for spot in &spots {
        let rambler = ramblers.at(spot.clone());
        rambler.letter("hello".to_owned());
        go(&rambler, 1).await;
    }
    let all = spots.len() as u64;
    let (read, done) = chare::future();
    ramblers.read(done);
    assert_eq!(read.await, all);
    // Each moves at each sync, here and there.
    for _ in 0..2 {
        let (stepped, done) = chare::future();
        ramblers.step(done);
        assert_eq!(stepped.await, all);
    }
    go(&ramblers.at(spots[0].clone()), 0).await;
    go(&ramblers.at(spots[0].clone()), 1).await;
    let (visits, done) = chare::future();
    companion.leave(done);
    assert!(visits.await > 0);
    let (left, done) = chare::future();
    ramblers.leave(done);
    assert_eq!(left.await, all);
}
