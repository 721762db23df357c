//! The peers: other libraries that do the same, and the least work that does it.

use crate::ours::{BROOD, Pause};
use chare_benches::{Batches, processor, take_seat};
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

/// Runs what waits on tokio's scheduler of one thread.
fn on_tokio(batches: Batches, batch: impl AsyncFnMut(u64) -> Duration) {
    take_seat(processor(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime of one thread");
    runtime.block_on(batches.run_async(batch));
}

/// As many empty tasks at once as there are chares at once.
pub(crate) fn tokio_spawn(batches: Batches) {
    on_tokio(batches, async |tasks| {
        let began = Instant::now();
        for _ in 0..tasks / BROOD {
            let mut last = None;
            for _ in 0..BROOD {
                last = Some(tokio::spawn(async {}));
            }
            if let Some(last) = last {
                last.await.expect("it does nothing");
            }
        }
        began.elapsed()
    });
}

/// A task that yields.
pub(crate) fn tokio_yield(batches: Batches) {
    on_tokio(batches, async |times| {
        let task = tokio::spawn(async move {
            let began = Instant::now();
            for _ in 0..times {
                Pause(false).await;
            }
            began.elapsed()
        });
        task.await.expect("it does not fail")
    });
}

/// Something that is made and called once.
trait Newborn {
    fn live(self: Box<Self>);
}

struct Nothing(u64);

impl Newborn for Nothing {
    fn live(self: Box<Self>) {
        black_box(self.0);
    }
}

/// As many boxes at once as there are chares at once, called through a virtual table.
pub(crate) fn boxes(batches: Batches) {
    take_seat(processor(0));
    let mut queue: VecDeque<Box<dyn Newborn>> = VecDeque::with_capacity(BROOD as usize);
    batches.run(|boxes| {
        let began = Instant::now();
        for _ in 0..boxes / BROOD {
            for number in 0..BROOD {
                queue.push_back(black_box(Box::new(Nothing(number))));
            }
            while let Some(newborn) = queue.pop_front() {
                newborn.live();
            }
        }
        began.elapsed()
    });
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// One boxed future, polled as often as it is woken.
pub(crate) fn local_future(batches: Batches) {
    take_seat(processor(0));
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&flag));
    batches.run(|times| {
        let mut body: std::pin::Pin<Box<dyn Future<Output = ()>>> = black_box(Box::pin(async move {
            for _ in 0..times {
                Pause(false).await;
            }
        }));
        let began = Instant::now();
        flag.0.store(true, Ordering::Release);
        while flag.0.swap(false, Ordering::Acquire) {
            if body.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                break;
            }
        }
        began.elapsed()
    });
}
