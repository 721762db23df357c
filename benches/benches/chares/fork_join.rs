//! Fork and join: both sides compute a Fibonacci number by divide and conquer in the same way. One of two halves is left for an
//! idle thread, the other is done at once; below a cut-off, recursion computes a half.

use chare::prelude::*;
use chare_benches::{Batches, processor, take_seat};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

const NUMBER: u32 = 30;

/// Numbers below this one are not forked for.
const CUT_OFF: u32 = 15;

/// The right answer for `NUMBER`.
const RESULT: u64 = 832_040;

fn by_recursion(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { by_recursion(n - 1) + by_recursion(n - 2) }
}

/// One half.
struct Half;

#[chare]
impl Half {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn compute(_this: This<Self>, n: u32) -> u64 {
        let result = fork(n).await;
        chare::destroy();
        result
    }
}

async fn fork(n: u32) -> u64 {
    if n < CUT_OFF {
        return by_recursion(n);
    }
    let left = HalfProxy::create().compute(n - 1);
    let right = Box::pin(fork(n - 2)).await;
    left.await + right
}

/// Measures with chares, each half on a PE that `+seeds` chooses.
pub(crate) fn chares(batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let batch = async |times| {
            let began = Instant::now();
            for _ in 0..times {
                assert_eq!(fork(black_box(NUMBER)).await, RESULT);
            }
            began.elapsed()
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

fn join(n: u32) -> u64 {
    if n < CUT_OFF {
        return by_recursion(n);
    }
    let (left, right) = rayon::join(|| join(n - 1), || join(n - 2));
    left + right
}

/// Measures with rayon on so many threads.
pub(crate) fn rayon(batches: Batches, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(|thread| take_seat(processor(thread)))
        .build()
        .expect("a pool of threads");
    batches.run(|times| {
        pool.install(|| {
            let began = Instant::now();
            (0..times).for_each(|_| assert_eq!(join(black_box(NUMBER)), RESULT));
            began.elapsed()
        })
    });
}
