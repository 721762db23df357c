//! Players: two chares that send to each other what a kernel selects, in place or packed by hand.
//!
//! 1. `prepare` gives both players the arrays of a kernel: sources, and targets of zeros.
//! 2. Player 0 `begin`s; each player answers what it has received, the way it came, with its own sources; player 0 takes the time from its
//!    play to the answer.
//! 3. The message-driven loop is the measurement, as in `pingpong`. Transfers that are checked, before it and after it, are not timed.

use crate::verified::{check_and_clear, number, packed_by, shared, slices};
use chare::prelude::*;
use chare::{ArrayOptions, Instantiated, Landing, Layout, Several, SeveralMut};
use chare_examples::ddtbench::{End, Kernel, Number, kernels};
use chare_examples::pair::partner;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use std::time::Instant;

/// All kernels, the same in each process.
pub(crate) static KERNELS: LazyLock<Vec<Kernel>> = LazyLock::new(kernels);

/// Round trips that are checked, each time: the first finds targets of zeros or of those before, the second zeros.
const CHECKED: u32 = 2;

/// A way of sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// All arrays by layouts, to where layouts say.
    Layout,
    /// A buffer packed and unpacked by hand.
    Manual,
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

/// One player's arrays of a kernel.
struct Arrays<T: Number> {
    kernel: &'static Kernel,
    source_layouts: Vec<Layout<T>>,
    target_layouts: Vec<Layout<T>>,
    sources: Vec<Buffer<T>>,
    /// Out while the runtime fills them.
    targets: Vec<BufferMut<T>>,
    /// What was packed by hand last.
    packed: Buffer<T>,
    /// What the other player sends, if it is to be compared.
    expected: Vec<T>,
}

impl<T: Number> Arrays<T> {
    fn prepare(player: u64, plan: Plan) -> Self {
        let kernel = &KERNELS[plan.kernel];
        let source = |(array, len)| BufferMut::from_fn(len, |place| number(player, array, place)).freeze();
        let packed_len = kernel.bytes() / size_of::<T>();
        Self {
            kernel,
            source_layouts: kernel.layouts(End::Source),
            target_layouts: kernel.layouts(End::Target),
            sources: kernel.lens(End::Source).enumerate().map(source).collect(),
            targets: kernel.lens(End::Target).map(BufferMut::zeroed).collect(),
            packed: BufferMut::zeroed(packed_len).freeze(),
            expected: if plan.verify { packed_by(1 - player, kernel) } else { Vec::new() },
        }
    }

    /// Packs by hand, into the last buffer if the other player is done with it.
    fn pack(&mut self) -> Buffer<T> {
        let last = std::mem::replace(&mut self.packed, Vec::new().into());
        let mut packed = last.try_into_mut().unwrap_or_else(|last| BufferMut::zeroed(last.len()));
        self.kernel.pack(&shared(&self.sources), &mut packed);
        self.packed = packed.freeze();
        self.packed.clone()
    }

    fn check(&mut self) -> Result<(), String> {
        check_and_clear(self.kernel, &self.expected, &mut self.targets)
    }
}

pub(crate) struct Player<T: Number> {
    arrays: Option<Arrays<T>>,
    /// Whether all arrays are compared after each transfer.
    is_checked: bool,
    /// Round trips to go, at player 0.
    left: u32,
    begun: Instant,
    round_trips_ns: Vec<u64>,
    done: Callback<Vec<u64>>,
}

chare::instantiate!(Player<f32>, Player<f64>);

#[chare(array)]
impl<T: Number> Player<T> {
    #[entry]
    pub(crate) fn new() -> Self {
        let (begun, done) = (chare::now(), Callback::ignore());
        Self { arrays: None, is_checked: false, left: 0, begun, round_trips_ns: Vec::new(), done }
    }

    /// Makes the arrays of a kernel; a broadcast. `ready` learns when both players can begin.
    #[entry]
    fn prepare(&mut self, plan: Plan, ready: Callback<()>) {
        // Those of the kernel before go first: the largest need not be there twice.
        self.arrays = None;
        self.arrays = Some(Arrays::prepare(self.this_index(), plan));
        self.contribute(barrier(), ready);
    }

    /// Whether to compare from now on; a broadcast. `ready` learns when both players know.
    #[entry]
    fn check(&mut self, is_checked: bool, ready: Callback<()>) {
        self.is_checked = is_checked;
        self.contribute(barrier(), ready);
    }

    /// Plays so many round trips; `done` receives their times.
    #[entry]
    fn begin(&mut self, way: Way, round_trips: u32, done: Callback<Vec<u64>>) {
        (self.left, self.done) = (round_trips, done);
        self.play(way);
    }

    /// All arrays have landed in the targets.
    #[entry]
    fn land(&mut self, #[nocopy(post)] stream: Posted<T>) {
        let arrays = self.arrays.as_mut().expect("prepared");
        arrays.targets = match arrays.target_layouts.len() {
            1 => vec![stream.into_buffer()],
            several => {
                let mut landed = stream.into_several();
                (0..several).map(|_| landed.next_buffer()).collect()
            }
        };
        self.go_on(Way::Layout);
    }

    #[post(land)]
    fn post_land(&mut self, stream: Post<T>) {
        let arrays = self.arrays.as_mut().expect("prepared");
        let targets = std::mem::take(&mut arrays.targets).into_iter();
        let mut landings =
            arrays.target_layouts.iter().zip(targets).map(|(layout, target)| Landing::at(layout, target));
        let first = landings.next().expect("a kernel has an array");
        match landings.next() {
            None => stream.post(first).expect("as much lands as is sent"),
            Some(second) => {
                let all = landings.fold(SeveralMut::of(first).and(second), SeveralMut::and);
                stream.post_several(all).expect("as much lands as is sent");
            }
        }
    }

    /// What the other player has packed, perhaps its own memory.
    #[entry]
    fn unpack(&mut self, #[nocopy] packed: Received<T>) {
        let arrays = self.arrays.as_mut().expect("prepared");
        arrays.kernel.unpack(&packed, &mut slices(&mut arrays.targets));
        drop(packed);
        self.go_on(Way::Manual);
    }

    fn go_on(&mut self, way: Way) {
        let is_first = self.this_index() == 0;
        if is_first {
            self.round_trips_ns.push((chare::now() - self.begun).as_nanos() as u64);
            self.left -= 1;
        }
        if self.is_checked
            && let Err(difference) = self.arrays.as_mut().expect("prepared").check()
        {
            eprintln!("{way:?}: {difference}");
            chare::exit(1);
            return;
        }
        if is_first && self.left == 0 {
            self.done.send(std::mem::take(&mut self.round_trips_ns));
        } else {
            self.play(way);
        }
    }

    fn play(&mut self, way: Way) {
        self.begun = chare::now();
        let other = self.this_collection().at(1 - self.this_index());
        let arrays = self.arrays.as_mut().expect("prepared");
        if way == Way::Manual {
            other.unpack(arrays.pack());
            return;
        }
        let selected = arrays.sources.iter().zip(&arrays.source_layouts);
        let mut pieces = selected.map(|(source, layout)| SendBuffer::from(source.clone()).only(layout));
        let first = pieces.next().expect("a kernel has an array");
        match pieces.next() {
            None => other.land(first),
            Some(second) => other.land(pieces.fold(Several::of(first).and(second), Several::and)),
        }
    }
}

/// Both players, from outside.
pub(crate) struct Players<T: Number>(PlayerProxy<T>);

impl<T: Number> Players<T>
where
    Player<T>: Instantiated,
{
    /// Player 0 on PE 0, player 1 on its partner.
    pub(crate) fn create() -> Self {
        let partner = partner();
        let place = move |index| if index == 0 { PeId(0) } else { partner };
        Self(PlayerProxy::create(ArrayOptions::new(2).place_by(place)))
    }

    /// Plays a kernel both ways: the medians of one-way times, in microseconds, by layouts and by hand.
    pub(crate) async fn play(&self, plan: Plan) -> [f64; 2] {
        self.both(|ready| self.0.prepare(plan, ready)).await;
        let mut medians = [0.0; 2];
        for (way, median) in [Way::Layout, Way::Manual].into_iter().zip(&mut medians) {
            let warm_up = plan.repeats / 10 + 1;
            self.verify(plan, way).await;
            let times = self.round_trips(way, warm_up + plan.repeats).await;
            self.verify(plan, way).await;
            *median = median_us(&times[warm_up as usize..]);
        }
        medians
    }

    async fn verify(&self, plan: Plan, way: Way) {
        if plan.verify {
            self.both(|ready| self.0.check(true, ready)).await;
            self.round_trips(way, CHECKED).await;
            self.both(|ready| self.0.check(false, ready)).await;
        }
    }

    async fn round_trips(&self, way: Way, count: u32) -> Vec<u64> {
        let (times, done) = chare::future();
        self.0.at(0).begin(way, count, done);
        times.await
    }

    /// Tells both players something, and waits until they know.
    async fn both(&self, tell: impl FnOnce(Callback<()>)) {
        let (both_ready, ready) = chare::future();
        tell(ready);
        both_ready.await;
    }
}

/// Half of the median of round trips.
fn median_us(round_trips_ns: &[u64]) -> f64 {
    let mut sorted = round_trips_ns.to_vec();
    sorted.sort_unstable();
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    (below + above) as f64 / 4.0 / 1000.0
}
