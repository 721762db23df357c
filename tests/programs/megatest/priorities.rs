//! Messages with priorities.

use chare::prelude::*;
use chare::{CallOptions, Priority};

const MESSAGES: i32 = 100;

struct Taker {
    taken: Vec<i32>,
    done: Callback<Vec<i32>>,
}

#[chare]
impl Taker {
    #[entry]
    fn new(done: Callback<Vec<i32>>) -> Self {
        Self { taken: Vec::new(), done }
    }

    /// Queues messages of ever higher priority; none can run before this returns.
    #[entry]
    fn start(&mut self) {
        let me = self.this_chare();
        for late in (0..MESSAGES).rev() {
            me.with(CallOptions::new().priority(Priority::integer(late / 2))).take(late / 2);
        }
    }

    #[entry]
    fn take(&mut self, late: i32) {
        self.taken.push(late);
        if self.taken.len() == MESSAGES as usize {
            self.done.send(std::mem::take(&mut self.taken));
        }
    }
}

pub(crate) async fn order() {
    let (taken, done) = chare::future();
    TakerProxy::create(done).start();
    let taken = taken.await;
    assert!(taken.is_sorted(), "{taken:?}");
}

struct Mirror;

#[chare]
impl Mirror {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn reflect(&mut self, payload: Vec<u32>, done: Callback<Vec<u32>>) {
        done.send_with(CallOptions::new().priority(Priority::bits(&payload)), payload);
    }
}

pub(crate) async fn payload() {
    let payload: Vec<u32> = (0..20).collect();
    let (reflected, done) = chare::future();
    let mirror = MirrorProxy::create();
    mirror.with(CallOptions::new().priority(Priority::integer(-7))).reflect(payload.clone(), done);
    assert_eq!(reflected.await, payload);
}
