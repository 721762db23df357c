//! Fresh memory: a strided read of a neighbour's memory that lies in a new arena, beside a second one of the same memory.
//!
//! The reader reads in place, and answers when it has read: what its first look at each page costs, and what its caches keep, is in the time.

use crate::row::{side, word};
use crate::samples::BATCHES;
use crate::subject::UNTOUCHED;
use chare::prelude::*;
use chare_benches::{Comparison, tell};
use std::process::ExitCode;
use std::time::Instant;

/// Bytes of each buffer: an arena holds one and no second.
const BYTES: usize = 60 << 20;

/// Distances of the bytes that are read.
const STRIDES: [(usize, &str); 3] = [(64, "64 B"), (512, "512 B"), (4 << 10, "4 KiB")];

struct Reader;

#[chare(group)]
impl Reader {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn read(&mut self, stride: usize, done: Callback<u64>, #[nocopy] memory: Received<u8>) {
        done.send(memory.iter().step_by(stride).map(|byte| u64::from(*byte)).sum());
    }
}

pub(crate) fn all() -> Vec<Comparison> {
    STRIDES
        .map(|(stride, name)| Comparison {
            name: word(format!("fresh 60 MiB, a byte of {name}")),
            ours: side("fresh", "first", &format!("{stride} +n 2")),
            against: "a second time",
            peer: side("fresh", "again", &format!("{stride} +n 2")),
        })
        .into()
}

/// Measures the first read of each of some buffers, or a second one.
pub(crate) fn play(when: &str, stride: &str) -> Option<ExitCode> {
    let is_first = match when {
        "first" => true,
        "again" => false,
        _ => return None,
    };
    let stride = stride.parse().ok()?;
    Some(chare::run(move |_| async move {
        let reader = ReaderProxy::create().on(PeId(1));
        let mut kept = Vec::new();
        chare::quiescence().await;
        // What a first message costs is told in none.
        for number in 0..=BATCHES {
            let mut memory = BufferMut::<u8>::zeroed(BYTES);
            memory.fill(UNTOUCHED);
            let memory = memory.freeze();
            kept.push(memory.clone());
            for is_told in [is_first, !is_first] {
                let (sum, done) = chare::future();
                let began = Instant::now();
                reader.read(stride, done, memory.clone());
                let sum: u64 = sum.await;
                let elapsed = began.elapsed();
                assert_eq!(sum, (BYTES.div_ceil(stride) * usize::from(UNTOUCHED)) as u64);
                if is_told && number > 0 {
                    tell(elapsed.as_nanos() as f64);
                }
            }
        }
        chare::exit(0);
    }))
}
