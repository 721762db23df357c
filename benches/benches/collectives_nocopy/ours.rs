//! Our side: a member of a nodegroup in each process.

use crate::{COUNT, side_of};
use chare::prelude::*;
use chare::{Exchange, Gather, Layout, Partition};
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::{Duration, Instant};

struct Member {
    /// What this member has for others.
    source: Buffer<f64>,
    /// What it gets.
    landing: BufferMut<f64>,
    exchange: Exchange<f64>,
    dealt: Partition<f64>,
    placed: Partition<f64>,
}

/// How a slab is dealt out, and where parts land in one: the matrix is transposed, or its columns are exchanged as they are.
fn partitions(bytes: usize, is_transposed: bool) -> [Partition<f64>; 2] {
    let width = side_of(bytes);
    let height = width / COUNT;
    if !is_transposed {
        let blocks = Partition::rows([height, width], COUNT).expect("blocks");
        return [blocks.clone(), blocks];
    }
    let first = Layout::strided(&[height, height], &[1, width as isize]).expect("columns");
    let columns = [0, 1].map(|slab| first.shifted(slab * height as i64).expect("columns"));
    let dealt = Partition::table(height * width, &columns).expect("columns share nothing");
    [dealt, Partition::columns([height, width], COUNT).expect("blocks")]
}

#[chare(nodegroup)]
impl Member {
    #[entry]
    fn new(bytes: usize, is_transposed: bool, exchange: Exchange<f64>) -> Self {
        let [dealt, placed] = partitions(bytes, is_transposed);
        let zeroed = || BufferMut::zeroed(bytes / 8);
        Self { source: zeroed().freeze(), landing: zeroed(), exchange, dealt, placed }
    }

    /// Writes new contents.
    #[entry]
    fn prepare(&mut self, number: f64, prepared: Callback<()>) {
        let source = std::mem::replace(&mut self.source, Vec::new().into());
        let mut source = source.try_into_mut().expect("nobody reads it any more");
        source.fill(number);
        self.source = source.freeze();
        self.contribute(barrier(), prepared);
    }

    /// Broadcasts its own; `done` hears when all have it.
    #[entry]
    fn broadcast(&mut self, is_view: bool, done: Callback<()>) {
        let all = self.this_collection();
        if is_view {
            all.see(self.source.clone(), done);
        } else {
            all.land(self.source.clone(), done);
        }
    }

    #[entry]
    fn see(&mut self, #[nocopy] _values: Received<f64>, done: Callback<()>) {
        self.contribute(barrier(), done);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<f64>, done: Callback<()>) {
        self.landing = values.into_buffer();
        self.contribute(barrier(), done);
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<f64>, _done: &Callback<()>) {
        let landing = std::mem::replace(&mut self.landing, Vec::new().into());
        values.post(landing).expect("it is as long");
    }

    #[entry]
    fn give(&mut self, all: Gather<f64>) {
        all.put(self.this_index(), self.source.clone());
    }

    #[entry]
    fn exchange(&mut self, done: Callback<()>) {
        let landing = std::mem::replace(&mut self.landing, Vec::new().into());
        let landed = self.this_chare().exchanged_callback().carrying(done);
        let (me, source) = (self.this_index(), self.source.clone());
        self.exchange.all_to_all(me, (source, &self.dealt), (landing, &self.placed), landed);
    }

    #[entry]
    fn exchanged(&mut self, landing: BufferMut<f64>, done: Callback<()>) {
        self.landing = landing;
        self.contribute(barrier(), done);
    }
}

pub(crate) fn play(what: &str, batches: Batches, bytes: usize) -> ExitCode {
    let what = what.to_owned();
    chare::run(move |_| async move {
        let exchange = Exchange::create(COUNT as u64);
        let members = MemberProxy::create(bytes, what == "transposition", exchange);
        let parts = Partition::rows([COUNT, bytes / 8], COUNT).expect("a part for each");
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
                    "view" => members.local().broadcast(true, done),
                    "copies" => members.local().broadcast(false, done),
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
