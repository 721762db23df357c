//! Our side: the members of the collectives and the program are chares of PE 0.

use crate::at_once::{Collectives, MEMBERS};
use crate::computing::{ENTRIES, compute};
use chare::prelude::*;
use chare::{ArrayOptions, Gather, Partition};
use chare_benches::{Batches, Ends, refilled};
use std::process::ExitCode;
use std::time::{Duration, Instant};

struct Member {
    ends: Ends,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new(bytes: usize) -> Self {
        Self { ends: Ends::whole(bytes) }
    }

    /// Writes new contents.
    #[entry]
    fn prepare(&mut self, number: f64, prepared: Callback<()>) {
        self.ends.refill(number);
        self.contribute(barrier(), prepared);
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
}

struct Program;

#[chare]
impl Program {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Computes in so many entries.
    #[entry]
    fn compute(&mut self, steps: u64, entries: u64, done: Callback<()>) {
        compute(steps / entries);
        if entries > 1 {
            self.this_chare().compute(steps - steps / entries, entries - 1, done);
        } else {
            done.send(());
        }
    }
}

pub(crate) fn play(collectives: Collectives, bytes: usize, steps: u64, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let count = MEMBERS as u64;
        let members = MemberProxy::create(ArrayOptions::new(count).place_by(|_| PeId(0)), bytes);
        let program = ProgramProxy::create_on(PeId(0));
        let parts = Partition::rows([MEMBERS, bytes / 8], MEMBERS).expect("a part for each");
        let mut source = Some(BufferMut::<f64>::zeroed(bytes / 8).freeze());
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
                let shown = refilled(source.take().expect("one operation at a time"), number);
                source = Some(shown.clone());
                let began = Instant::now();
                let landed = collectives.broadcasts.then(|| {
                    let (landed, done) = chare::future();
                    members.land(shown, done);
                    landed
                });
                let filled = collectives.gathers.then(|| {
                    let (filled, done) = chare::future();
                    let target = whole.take().expect("one gather at a time");
                    members.give(Gather::into(target, &parts, done));
                    filled
                });
                if steps > 0 {
                    let (computed, done) = chare::future();
                    program.compute(steps, ENTRIES, done);
                    computed.await;
                }
                if let Some(landed) = landed {
                    landed.await;
                }
                if let Some(filled) = filled {
                    whole = Some(filled.await);
                }
                elapsed += began.elapsed();
                let last = whole.as_ref().and_then(|whole| whole.last());
                assert!(!collectives.gathers || last == Some(&number), "all parts");
            }
            elapsed
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
