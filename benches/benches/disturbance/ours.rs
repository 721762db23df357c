//! Our side: PE 0 calls, and has 64 MiB land in the last PE with an odd number.

use chare::prelude::*;
use chare_benches::{Batches, tell};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Elements of a landing.
const LEN: usize = 8 << 20;

/// Time for which landings and calls go on before any is measured.
const WARM_UP: Duration = Duration::from_secs(1);

/// The PE of the landing node that has nothing to do, where there is one.
const OTHER: PeId = PeId(2);

/// Where the bytes land.
fn landing_pe() -> PeId {
    PeId(chare::pes() / 2 * 2 - 1)
}

/// How the bytes land.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landing {
    /// From memory that both processes map, where the receiver has posted.
    Mapped,
    /// From memory of the sender's process alone, where the receiver has posted.
    Private,
    /// From there into memory of the runtime.
    Fetched,
}

/// Which PE is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// One of the node that has nothing to do.
    Other,
    /// Where the bytes land.
    Landing,
}

/// Takes landings and calls.
struct Lander {
    posted: Option<BufferMut<u64>>,
    is_over: bool,
}

#[chare(group)]
impl Lander {
    #[entry]
    fn new() -> Self {
        // Memory that nobody writes would be put together to huge pages all the same, beside the calls.
        let posted = (chare::my_pe() == landing_pe()).then(|| BufferMut::zeroed(LEN));
        Self { posted, is_over: false }
    }

    #[entry]
    fn call(&mut self, number: u64, answer: Callback<u64>) {
        answer.send(number);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<u64>, landed: Callback<()>) {
        self.posted = Some(values.into_buffer());
        landed.send(());
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<u64>, _landed: &Callback<()>) {
        values.post(self.posted.take().expect("one landing at a time")).expect("it is as long");
    }

    #[entry]
    fn fetch(&mut self, #[nocopy] _values: Received<u64>, landed: Callback<()>) {
        landed.send(());
    }

    /// Has one landing after the other, until `stop`.
    #[entry]
    async fn have_landings(this: This<Self>, is_fetched: bool, is_mapped: bool, first: Callback<()>) {
        let buffer: Buffer<u64> =
            if is_mapped { BufferMut::from_fn(LEN, |_| 7).freeze() } else { vec![7; LEN].into() };
        let target = this.this_collection().on(landing_pe());
        let mut first = Some(first);
        while !this.with(|lander| lander.is_over) {
            let (landed, done) = chare::future();
            if is_fetched {
                target.fetch(buffer.clone(), done);
            } else {
                target.land(buffer.clone(), done);
            }
            landed.await;
            if let Some(first) = first.take() {
                first.send(());
            }
        }
        chare::exit(0);
    }

    #[entry]
    fn stop(&mut self) {
        self.is_over = true;
    }
}

/// Tells of each batch the time that all but 1% of its calls stay below.
pub(crate) fn calls(batches: Batches, landing: Option<Landing>, called: Called) -> ExitCode {
    chare::run(move |_| async move {
        let landers = LanderProxy::create();
        let target = landers.on(if called == Called::Landing { landing_pe() } else { OTHER });
        if let Some(landing) = landing {
            let (landed, first) = chare::future();
            let feeder = landers.on(PeId(0));
            feeder.have_landings(landing == Landing::Fetched, landing == Landing::Mapped, first);
            landed.await;
        }
        // Those batches that begin in the first moments warm up: pages are being put together.
        let (began, mut told) = (Instant::now(), 0);
        while told < batches.count {
            let is_warm = began.elapsed() >= WARM_UP;
            let mut times_ns = Vec::new();
            for number in 0..batches.operations {
                let began = Instant::now();
                let (answered, answer) = chare::future();
                target.call(number, answer);
                assert_eq!(answered.await, number);
                times_ns.push(began.elapsed().as_nanos() as f64);
            }
            times_ns.sort_by(f64::total_cmp);
            if is_warm {
                tell(times_ns[times_ns.len() * 99 / 100]);
                told += 1;
            }
        }
        match landing {
            Some(_) => landers.on(PeId(0)).stop(),
            None => chare::exit(0),
        }
        // The feeder ends the job.
        chare::future::<()>().0.await;
    })
}
