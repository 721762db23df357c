//! Transfers at once: gets and puts of one memory do not mix, and buffers that arrive together are let go of, each once, over every path.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{RegisteredTarget, TargetHandle, rget, rput};

const SHAPES: [(u32, u32); 4] = [(1, 2), (2, 1), (2, 2), (3, 1)];

/// Elements of the memory that all transfer: more than one frame of any path.
const LEN: usize = 9_000;

/// Gets and puts that each PE has under way at a time.
const TURNS: u64 = 6;

/// Calls with four buffers each that are on their way at a time.
const CALLS: u64 = 4;

#[derive(Default)]
struct Member {
    target: Option<RegisteredTarget<u64>>,
    read: u64,
    written: u64,
    answered: u64,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry]
    fn register(&mut self, to: Callback<TargetHandle<u64>>) {
        let target = RegisteredTarget::register(vec![0; LEN]);
        to.send(target.handle());
        self.target = Some(target);
    }

    /// Begins gets and puts of all of the memory before any of them is over.
    #[entry]
    fn begin_all(&mut self, target: TargetHandle<u64>) {
        for turn in 1..=TURNS {
            let number = u64::from(chare::my_pe().0) * TURNS + turn;
            rput(vec![number; LEN], &target, self.this_chare().hear_of_put_callback())
                .expect("it is as long");
            let into = vec![u64::MAX; LEN];
            rget(&target.as_source(), into, self.this_chare().hear_of_get_callback()).expect("it is as long");
        }
    }

    #[entry]
    fn hear_of_put(&mut self, _buffer: Buffer<u64>) {
        self.written += 1;
    }

    #[entry]
    fn hear_of_get(&mut self, buffer: BufferMut<u64>) {
        let first = buffer[0];
        let last_number = u64::from(chare::pes()) * TURNS;
        assert!(first <= last_number, "{first} was never put");
        assert!(buffer.iter().all(|element| *element == first), "a get has parts of two puts");
        self.read += 1;
    }

    #[entry]
    fn report(&self, done: Callback<Vec<u64>>) {
        self.contribute(sum(vec![self.read, self.written, self.answered]), done);
    }

    #[entry]
    fn send_all(&mut self, to: PeId, len: usize) {
        let all = || vec![len as u64; len];
        for _ in 0..CALLS {
            self.this_collection().on(to).take_four(all(), all(), all(), all(), chare::my_pe());
        }
    }

    #[entry]
    fn take_four(
        &mut self,
        #[nocopy] first: Received<u64>,
        #[nocopy] second: Received<u64>,
        #[nocopy] third: Received<u64>,
        #[nocopy] fourth: Received<u64>,
        from: PeId,
    ) {
        let answer = first.to_vec();
        for data in [first, second, third, fourth] {
            assert!(data.iter().all(|element| *element == data.len() as u64));
        }
        self.this_collection().on(from).hear_answer(answer);
    }

    #[entry]
    fn hear_answer(&mut self, #[nocopy] data: Received<u64>) {
        assert!(data.iter().all(|element| *element == data.len() as u64));
        self.answered += 1;
    }
}

fn far() -> PeId {
    PeId(chare::pes() - 1)
}

/// What all have read, written and been answered.
async fn report(members: &MemberProxy) -> Vec<u64> {
    let (reported, done) = chare::future();
    members.report(done);
    reported.await
}

#[test]
fn no_get_has_parts_of_two_puts() {
    on_every_path(&SHAPES, || async {
        let members = MemberProxy::create();
        let (handle, to) = chare::future();
        members.on(far()).register(to);
        members.begin_all(handle.await);
        chare::quiescence().await;
        let each = TURNS * u64::from(chare::pes());
        assert_eq!(report(&members).await, [each, each, 0]);
    });
}

#[test]
fn buffers_that_arrive_together_are_let_go_of_each_once() {
    on_every_path(&SHAPES, || async {
        let members = MemberProxy::create();
        // Of several frames, within one of its own, and inside a message.
        for (round, len) in (1..).zip([LEN, 1_500, 10]) {
            members.on(PeId(0)).send_all(far(), len);
            members.on(far()).send_all(PeId(0), len);
            chare::quiescence().await;
            assert_eq!(report(&members).await, [0, 0, round * 2 * CALLS], "{len} elements");
        }
    });
}
