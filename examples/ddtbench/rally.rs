//! The rally: what is played, how far a player is in it, and both players from outside. All players have one, wherever their arrays are.
//!
//! 1. `prepare` gives both players the arrays of a kernel: sources, and targets of zeros.
//! 2. Player 0 `begin`s; each player answers what it has received, the way it came, with its own sources; player 0 takes the time from its
//!    play to the answer.
//! 3. The message-driven loop is the measurement, as in `pingpong`. Transfers that are checked, before it and after it, are not timed.

use chare::ArrayOptions;
use chare::prelude::*;
use chare_examples::ddtbench::{Kernel, Sizes};
use chare_examples::partner;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use std::time::Instant;

/// All kernels in all sizes, the same in each process.
pub(crate) static KERNELS: LazyLock<Vec<(Sizes, Kernel)>> = LazyLock::new(|| {
    let sized = |sizes: Sizes| sizes.kernels().into_iter().map(move |kernel| (sizes, kernel));
    Sizes::ALL.into_iter().flat_map(sized).collect()
});

/// A kernel by its number.
pub(crate) fn numbered(number: usize) -> &'static Kernel {
    &KERNELS[number].1
}

/// Round trips that are checked, each time: the first finds targets of zeros or of those before, the second zeros.
const CHECKED: u32 = 2;

/// A way of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// All arrays by layouts, to where layouts say.
    Layout,
    /// A buffer packed and unpacked by hand.
    Manual,
    /// Nothing.
    Call,
    /// The whole first array, where it lies.
    Shown,
}

/// What is played.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Its number.
    pub(crate) kernel: usize,
    /// Round trips that count, of each way.
    pub(crate) repeats: u32,
    /// Whether to compare all arrays before and after.
    pub(crate) verify: bool,
}

/// A player's part.
pub(crate) struct Rally {
    /// Whether all arrays are compared after each transfer.
    pub(crate) is_checked: bool,
    /// Round trips to go, at player 0.
    left: u32,
    begun: Instant,
    round_trips_ns: Vec<u64>,
    done: Callback<Vec<u64>>,
}

impl Rally {
    pub(crate) fn new() -> Self {
        let (begun, done) = (chare::now(), Callback::ignore());
        Self { is_checked: false, left: 0, begun, round_trips_ns: Vec::new(), done }
    }

    /// So many round trips are played; `done` receives their times.
    pub(crate) fn begin(&mut self, round_trips: u32, done: Callback<Vec<u64>>) {
        (self.left, self.done) = (round_trips, done);
    }

    /// This player plays now.
    pub(crate) fn play(&mut self) {
        self.begun = chare::now();
    }

    /// All that this player was sent has come.
    pub(crate) fn receive(&mut self, player: u64) {
        if player == 0 {
            self.round_trips_ns.push((chare::now() - self.begun).as_nanos() as u64);
            self.left -= 1;
        }
    }

    /// Whether this player plays on; whoever waits for the times has them then.
    pub(crate) fn goes_on(&mut self, player: u64) -> bool {
        let is_over = player == 0 && self.left == 0;
        if is_over {
            self.done.send(std::mem::take(&mut self.round_trips_ns));
        }
        !is_over
    }
}

/// What both players are told.
pub(crate) trait Players {
    /// Makes the arrays of a kernel; `ready` learns when both players can begin.
    fn prepare(&self, plan: Plan, ready: Callback<()>);

    /// Whether to compare from now on; `ready` learns when both players know.
    fn check(&self, is_checked: bool, ready: Callback<()>);

    /// Plays so many round trips; `done` receives their times.
    fn begin(&self, way: Way, round_trips: u32, done: Callback<Vec<u64>>);
}

/// Where players are: player 0 on PE 0, player 1 on its partner.
pub(crate) fn apart() -> ArrayOptions<u64> {
    let partner = partner();
    ArrayOptions::new(2).place_by(move |index| if index == 0 { PeId(0) } else { partner })
}

/// Plays a kernel both ways: the medians of one-way times, in microseconds, by layouts and by hand.
pub(crate) async fn conduct(players: &impl Players, plan: Plan) -> [f64; 2] {
    both(|ready| players.prepare(plan, ready)).await;
    let mut medians = [0.0; 2];
    for (way, median) in [Way::Layout, Way::Manual].into_iter().zip(&mut medians) {
        verify(players, plan, way).await;
        *median = one_way_us(players, plan, way).await;
        verify(players, plan, way).await;
    }
    medians
}

/// The median of one-way times of what is prepared, after a tenth as many to warm up.
pub(crate) async fn one_way_us(players: &impl Players, plan: Plan, way: Way) -> f64 {
    let warm_up = plan.repeats / 10 + 1;
    let times = round_trips(players, way, warm_up + plan.repeats).await;
    median_us(&times[warm_up as usize..]) / 2.0
}

async fn verify(players: &impl Players, plan: Plan, way: Way) {
    if plan.verify {
        both(|ready| players.check(true, ready)).await;
        round_trips(players, way, CHECKED).await;
        both(|ready| players.check(false, ready)).await;
    }
}

async fn round_trips(players: &impl Players, way: Way, count: u32) -> Vec<u64> {
    let (times, done) = chare::future();
    players.begin(way, count, done);
    times.await
}

/// Tells both players something, and waits until they know.
pub(crate) async fn both(tell: impl FnOnce(Callback<()>)) {
    let (both_ready, ready) = chare::future();
    tell(ready);
    both_ready.await;
}

/// The median of times.
pub(crate) fn median_us(times_ns: &[u64]) -> f64 {
    let mut sorted = times_ns.to_vec();
    sorted.sort_unstable();
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    (below + above) as f64 / 2.0 / 1000.0
}
