//! Successors under one index: whoever is born where another has ended hears each broadcast that is made from then on once, and none twice,
//! although broadcasts for the one before are still on their way.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, ThisMigrant};
use serde::{Deserialize, Serialize};

const INDICES: u64 = 8;

/// Broadcasts to each generation.
const CALLS: u64 = 4;

const GENERATIONS: u64 = 8;

#[derive(Serialize, Deserialize)]
struct Listener {
    /// The first broadcast that was made after its birth.
    first: u64,
    heard: Vec<u64>,
}

#[chare(array, migrate)]
impl Listener {
    #[entry]
    fn new(first: u64, born: Callback<u64>) -> Self {
        born.send(first);
        Self { first, heard: Vec::new() }
    }

    #[entry]
    fn hear(&mut self, number: u64) {
        assert!(!self.heard.contains(&number), "{number} comes twice, after {:?}", self.heard);
        self.heard.push(number);
        self.go();
    }

    #[entry]
    fn go(&mut self) {
        self.migrate_to(somewhere());
    }

    #[entry]
    fn end(&mut self, done: Callback<u64>) {
        done.send(self.this_index());
        chare::destroy();
    }

    /// Ends when no broadcast is on its way.
    #[entry]
    fn end_in_peace(&mut self, last: u64, done: Callback<u64>) {
        self.heard.sort_unstable();
        let heard = self.heard.iter().filter(|number| **number >= self.first);
        assert!(heard.copied().eq(self.first..last), "from {} to {last}: {:?}", self.first, self.heard);
        self.end(done);
    }
}

/// Waits for as many values as there are indices.
async fn wait_for_each(say: impl Fn(ListenerProxy, u64, Callback<u64>), listeners: &ListenerProxy) {
    let (said, callbacks): (Vec<_>, Vec<_>) = (0..INDICES).map(|_| chare::future()).unzip();
    (0..).zip(callbacks).for_each(|(index, done)| say(listeners.clone(), index, done));
    chare::wait_all(said).await;
}

#[test]
fn who_succeeds_another_hears_what_is_called_after_its_birth_and_not_what_the_other_one_missed() {
    on_every_path(&SHAPES, || async {
        let listeners = ListenerProxy::create(ArrayOptions::empty().dynamic(), 0, Callback::ignore());
        let mut next = 0;
        for generation in 0..GENERATIONS {
            wait_for_each(|all, index, born| all.at(index).insert_on(somewhere(), next, born), &listeners)
                .await;
            for _ in 0..CALLS {
                listeners.hear(next);
                next += 1;
            }
            listeners.go();
            if generation % 2 == 1 {
                chare::quiescence().await;
                wait_for_each(|all, index, done| all.at(index).end_in_peace(next, done), &listeners).await;
            } else {
                wait_for_each(|all, index, done| all.at(index).end(done), &listeners).await;
            }
        }
        listeners.done_inserting();
    });
}
