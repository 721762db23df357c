//! The program whose landings are to disturb nobody: node 0 sends 64 MiB to the last PE, again and again, and calls meanwhile.
//!
//! It prints, for each way of landing, `WAY: TICKS ticks, CALLS calls`: how often the landing PE ran an entry between its post method and
//! the landing's entry (posted landings alone have such a beginning), and how many calls of PE 0 another PE of that node, or the landing PE
//! if there is no other, answered before the landing was over.

use chare::prelude::*;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements of a landing: 64 MiB.
const LEN: usize = 8 << 20;

/// Landings of each way.
const ROUNDS: u32 = 4;

/// Whether the landing of this process is over. Its PEs share it, as no chare of theirs could.
static LANDED: AtomicBool = AtomicBool::new(false);

struct Lander {
    ticks: u64,
}

#[chare(group)]
impl Lander {
    #[entry]
    fn new() -> Self {
        Self { ticks: 0 }
    }

    #[entry]
    fn begin(&mut self, begun: Callback<()>) {
        LANDED.store(false, Ordering::SeqCst);
        begun.send(());
    }

    /// Runs again and again until the landing is over.
    #[entry]
    fn tick(&mut self) {
        if !LANDED.load(Ordering::SeqCst) {
            self.ticks += 1;
            self.this_collection().on(chare::my_pe()).tick();
        }
    }

    #[entry]
    fn is_over(&mut self, answer: Callback<bool>) {
        answer.send(LANDED.load(Ordering::SeqCst));
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<u64>, landed: Callback<u64>) {
        self.end(&values, landed);
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<u64>, _landed: &Callback<u64>) {
        self.this_collection().on(chare::my_pe()).tick();
        values.post(vec![0; LEN]).expect("it is as long");
    }

    #[entry]
    fn receive(&mut self, #[nocopy] values: Received<u64>, landed: Callback<u64>) {
        self.end(&values, landed);
    }

    fn end(&mut self, values: &[u64], landed: Callback<u64>) {
        LANDED.store(true, Ordering::SeqCst);
        assert_eq!(values.len(), LEN);
        assert!(values.iter().zip(0..).all(|(value, number)| *value == number), "it landed whole");
        landed.send(std::mem::take(&mut self.ticks));
    }
}

/// One landing; returns the ticks of the landing PE, and the calls that were answered meanwhile.
async fn land(landers: &LanderProxy, is_posted: bool, buffer: Buffer<u64>) -> (u64, u64) {
    let last = PeId(chare::pes() - 1);
    let pes_per_node = chare::pes() / chare::nodes();
    let other = landers.on(if pes_per_node > 1 { PeId(last.0 - 1) } else { last });
    let (begun, to_begin) = chare::future();
    other.begin(to_begin);
    begun.await;
    let (landed, to_land) = chare::future();
    if is_posted {
        landers.on(last).land(buffer, to_land);
    } else {
        landers.on(last).receive(buffer, to_land);
    }
    let mut calls = 0;
    loop {
        let (is_over, answer) = chare::future();
        other.is_over(answer);
        if is_over.await {
            return (landed.await, calls);
        }
        calls += 1;
    }
}

fn main() -> ExitCode {
    chare::run(|_| async {
        let landers = LanderProxy::create();
        let plain: Buffer<u64> = (0..LEN as u64).collect::<Vec<_>>().into();
        let shareable = BufferMut::from_fn(LEN, |place| place as u64).freeze();
        let ways = [
            ("posted", true, &plain),
            ("posted, from shareable memory", true, &shareable),
            ("received", false, &plain),
        ];
        for (way, is_posted, buffer) in ways {
            let (mut ticks, mut calls) = (0, 0);
            for _ in 0..ROUNDS {
                let (more_ticks, more_calls) = land(&landers, is_posted, buffer.clone()).await;
                (ticks, calls) = (ticks + more_ticks, calls + more_calls);
            }
            println!("{way}: {ticks} ticks, {calls} calls");
        }
        chare::exit(0);
    })
}
