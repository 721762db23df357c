//! Copies at once: what the program's own processor does, as a blocking collective of its process would at best, and then it computes; and
//! which collectives an operation makes, among how many.

use crate::computing::compute;
use chare::prelude::*;
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Members of a collective.
pub(crate) const MEMBERS: usize = 2;

/// What an operation does beside computing.
#[derive(Clone, Copy)]
pub(crate) struct Collectives {
    /// One buffer is copied to each member.
    pub(crate) broadcasts: bool,
    /// A buffer of each member is copied to its part of one.
    pub(crate) gathers: bool,
}

pub(crate) fn play(collectives: Collectives, bytes: usize, steps: u64, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        // Of the same memory as the runtime's buffers.
        let zeroed = |members: usize| BufferMut::<f64>::zeroed(members * bytes / 8);
        let [mut source, mut whole] = [1, MEMBERS].map(zeroed);
        let [mut sources, mut landings] = [(); 2].map(|()| [1; MEMBERS].map(zeroed));
        let mut number = 0.0;
        batches.run(|operations| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..operations {
                number += 1.0;
                sources.iter_mut().chain([&mut source]).for_each(|source| source.fill(number));
                let began = Instant::now();
                if collectives.broadcasts {
                    landings.iter_mut().for_each(|landing| landing.copy_from_slice(&source));
                }
                if collectives.gathers {
                    let parts = whole.chunks_exact_mut(bytes / 8).zip(&sources);
                    parts.for_each(|(part, source)| part.copy_from_slice(source));
                }
                compute(steps);
                elapsed += began.elapsed();
            }
            elapsed
        });
        chare::exit(0);
    })
}
