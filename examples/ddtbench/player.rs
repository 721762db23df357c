//! Players: two chares that send to each other what a kernel selects, in place or packed by hand.

use crate::rally::{Plan, Players, Rally, Way, apart, numbered};
use crate::verified::{check_and_clear, number, packed_by, shared, slices};
use chare::prelude::*;
use chare::{Instantiated, Landing, Layout, Several, SeveralMut};
use chare_examples::ddtbench::{End, Kernel, Number};

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
        let kernel = numbered(plan.kernel);
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
    rally: Rally,
}

chare::instantiate!(Player<f32>, Player<f64>);

#[chare(array)]
impl<T: Number> Player<T> {
    #[entry]
    pub(crate) fn new() -> Self {
        Self { arrays: None, rally: Rally::new() }
    }

    #[entry]
    fn prepare(&mut self, plan: Plan, ready: Callback<()>) {
        // Those of the kernel before go first: the largest need not be there twice.
        self.arrays = None;
        self.arrays = Some(Arrays::prepare(self.this_index(), plan));
        self.contribute(barrier(), ready);
    }

    #[entry]
    fn check(&mut self, is_checked: bool, ready: Callback<()>) {
        self.rally.is_checked = is_checked;
        self.contribute(barrier(), ready);
    }

    #[entry]
    fn begin(&mut self, way: Way, round_trips: u32, done: Callback<Vec<u64>>) {
        self.rally.begin(round_trips, done);
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

    /// Nothing comes with it.
    #[entry]
    fn call(&mut self) {
        self.go_on(Way::Call);
    }

    /// The other player's array, perhaps its own memory.
    #[entry]
    fn look(&mut self, #[nocopy] shown: Received<T>) {
        drop(shown);
        self.go_on(Way::Shown);
    }

    fn go_on(&mut self, way: Way) {
        let player = self.this_index();
        self.rally.receive(player);
        if self.rally.is_checked
            && let Err(difference) = self.arrays.as_mut().expect("prepared").check()
        {
            eprintln!("{way:?}: {difference}");
            chare::exit(1);
            return;
        }
        if self.rally.goes_on(player) {
            self.play(way);
        }
    }

    fn play(&mut self, way: Way) {
        self.rally.play();
        let other = self.this_collection().at(1 - self.this_index());
        let arrays = self.arrays.as_mut().expect("prepared");
        match way {
            Way::Manual => other.unpack(arrays.pack()),
            Way::Call => other.call(),
            Way::Shown => other.look(arrays.sources[0].clone()),
            Way::Layout => arrays.land_at(&other),
        }
    }
}

impl<T: Number> Arrays<T>
where
    Player<T>: Instantiated,
{
    /// Sends what layouts select.
    fn land_at(&self, other: &PlayerElementProxy<T>) {
        let selected = self.sources.iter().zip(&self.source_layouts);
        let mut pieces = selected.map(|(source, layout)| SendBuffer::from(source.clone()).only(layout));
        let first = pieces.next().expect("a kernel has an array");
        match pieces.next() {
            None => other.land(first),
            Some(second) => other.land(pieces.fold(Several::of(first).and(second), Several::and)),
        }
    }
}

/// Both players, from outside.
pub(crate) struct HostPlayers<T: Number>(PlayerProxy<T>);

impl<T: Number> HostPlayers<T>
where
    Player<T>: Instantiated,
{
    pub(crate) fn create() -> Self {
        Self(PlayerProxy::create(apart()))
    }
}

impl<T: Number> Players for HostPlayers<T>
where
    Player<T>: Instantiated,
{
    fn prepare(&self, plan: Plan, ready: Callback<()>) {
        self.0.prepare(plan, ready);
    }

    fn check(&self, is_checked: bool, ready: Callback<()>) {
        self.0.check(is_checked, ready);
    }

    fn begin(&self, way: Way, round_trips: u32, done: Callback<Vec<u64>>) {
        self.0.at(0).begin(way, round_trips, done);
    }
}
