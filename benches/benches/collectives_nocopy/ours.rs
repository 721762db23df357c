//! Our side: a member of a nodegroup in each process.

use crate::dealing;
use chare::prelude::*;
use chare::{Exchange, Gather, Partition};
use chare_benches::{Batches, Ends};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How a broadcast reaches the members.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Way {
    /// All hear a word.
    Word,
    /// All read it where it lies.
    View,
    /// All have a copy.
    Copies,
    /// All but the one that broadcasts have a copy.
    Elsewhere,
}

struct Member {
    ends: Ends,
    exchange: Exchange<f64>,
    dealt: Partition<f64>,
    placed: Partition<f64>,
}

#[chare(nodegroup)]
impl Member {
    #[entry]
    fn new(bytes: usize, run: usize, is_transposed: bool, exchange: Exchange<f64>) -> Self {
        let [dealt, placed] = dealing::of_slabs(chare::nodes() as usize, bytes, is_transposed);
        let ends = if run > 0 { Ends::in_runs(bytes, run) } else { Ends::whole(bytes) };
        Self { ends, exchange, dealt, placed }
    }

    /// Writes new contents.
    #[entry]
    fn prepare(&mut self, number: f64, prepared: Callback<()>) {
        self.ends.refill(number);
        self.contribute(barrier(), prepared);
    }

    /// Broadcasts its own; `done` hears when all have it.
    #[entry]
    fn broadcast(&mut self, way: Way, done: Callback<()>) {
        let all = self.this_collection();
        match way {
            Way::Word => all.hear(0.0, done),
            Way::View => all.see(self.ends.source(), done),
            Way::Copies => all.land(self.ends.sent(), done),
            Way::Elsewhere => {
                let me = self.this_index();
                let others = (0..chare::nodes()).map(NodeId).filter(|node| u64::from(node.0) != me);
                others.for_each(|node| all.on(node).land(self.ends.sent(), done));
                self.contribute(barrier(), done);
            }
        }
    }

    #[entry]
    fn hear(&mut self, _word: f64, done: Callback<()>) {
        self.contribute(barrier(), done);
    }

    #[entry]
    fn see(&mut self, #[nocopy] _values: Received<f64>, done: Callback<()>) {
        self.contribute(barrier(), done);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<f64>, done: Callback<()>) {
        self.ends.land(values.into_buffer());
        self.contribute(barrier(), done);
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<f64>, _done: &Callback<()>) {
        self.ends.post(values);
    }

    #[entry]
    fn give(&mut self, all: Gather<f64>) {
        all.put(self.this_index(), self.ends.sent());
    }

    #[entry]
    fn exchange(&mut self, done: Callback<()>) {
        let landing = self.ends.landing();
        let landed = self.this_chare().exchanged_callback().carrying(done);
        let (me, source) = (self.this_index(), self.ends.source());
        self.exchange.all_to_all(me, (source, &self.dealt), (landing, &self.placed), landed);
    }

    #[entry]
    fn exchanged(&mut self, landing: BufferMut<f64>, done: Callback<()>) {
        self.ends.land(landing);
        self.contribute(barrier(), done);
    }
}

pub(crate) fn play(what: &str, batches: Batches, bytes: usize, run: usize) -> ExitCode {
    let what = what.to_owned();
    chare::run(move |_| async move {
        let count = chare::nodes() as usize;
        let exchange = Exchange::create(count as u64);
        let members = MemberProxy::create(bytes, run, what == "transposition", exchange);
        let parts = dealing::of_gathered(count, bytes, run);
        let (mut whole, mut number) = (Some(BufferMut::zeroed(parts.elements())), 0.0);
        let batch = async |operations| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..operations {
                number += 1.0;
                // Until then somebody may still read what was sent before.
                chare::quiescence().await;
                let (prepared, to_prepare) = chare::future();
                members.prepare(number, to_prepare);
                prepared.await;
                let began = Instant::now();
                if what == "gather" {
                    let (filled, done) = chare::future();
                    let target = whole.take().expect("one gather at a time");
                    members.give(Gather::into(target, &parts, done));
                    let filled = whole.insert(filled.await);
                    elapsed += began.elapsed();
                    assert!(filled.first() == Some(&number) && filled.last() == Some(&number), "all parts");
                    continue;
                }
                let (over, done) = chare::future();
                match &*what {
                    "word" => members.local().broadcast(Way::Word, done),
                    "view" => members.local().broadcast(Way::View, done),
                    "copies" => members.local().broadcast(Way::Copies, done),
                    "elsewhere" => members.local().broadcast(Way::Elsewhere, done),
                    _ => members.exchange(done),
                }
                over.await;
                elapsed += began.elapsed();
            }
            elapsed
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
