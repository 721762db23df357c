//! The peer that costs nothing: threads that have a block of points each, and values in memory that all of them see.

use crate::graph::value;
use crate::job::Job;
use crate::kernel::compute;
use chare_benches::{processor, take_seat};
use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Measures the job on so many threads.
pub(crate) fn play(job: Job, workers: usize) {
    let graph = job.graph();
    let result = graph.result(job.steps);
    let barrier = Barrier::new(workers);
    for run in 0..Job::runs() {
        // By step and point; 0 as long as there is none.
        let values: Vec<AtomicU64> = (0..job.steps * job.width).map(|_| AtomicU64::new(0)).collect();
        let work = |worker: usize| {
            take_seat(processor(worker));
            let block = graph.block(worker, workers);
            barrier.wait();
            let began = Instant::now();
            for step in 0..job.steps {
                for point in block.clone() {
                    let mut sum = 0_u64;
                    for input in graph.inputs(step, point) {
                        let input = &values[(step - 1) * job.width + input];
                        let mut seen = input.load(Ordering::Acquire);
                        while seen == 0 {
                            spin_loop();
                            seen = input.load(Ordering::Acquire);
                        }
                        sum = sum.wrapping_add(seen);
                    }
                    compute(job.grain);
                    values[step * job.width + point].store(value(step, point, sum), Ordering::Release);
                }
            }
            barrier.wait();
            began.elapsed()
        };
        let work = &work;
        let elapsed = thread::scope(|scope| {
            (1..workers).for_each(|worker| {
                scope.spawn(move || work(worker));
            });
            work(0)
        });
        let last = &values[(job.steps - 1) * job.width..];
        let total = last.iter().map(|value| value.load(Ordering::Acquire)).fold(0, u64::wrapping_add);
        assert_eq!(total, result, "a value lacks, or came twice");
        job.tell(run, elapsed, workers);
    }
}
