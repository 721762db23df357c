//! Players with arrays on devices: two chares that send to each other what a kernel selects of them.
//!
//! In place, each array is an argument of its own, which lands where a layout of the other player's array says. By hand, as without
//! arguments of devices: a kernel packs each array on the device, a copy brings it to the host, and the other player's device unpacks a
//! copy of what was sent.

use crate::rally::{Plan, Players, Rally, Way, apart, numbered};
use crate::verified::{check_and_clear, number, packed_by};
use chare::devices::{self, Method, Stream};
use chare::layout::{Layout, Plan as Pieces};
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceLanding, DevicePosted, Instantiated, SendDeviceBuffer};
use chare_examples::ddtbench::{End, Kernel, Number};
use chare_examples::devices::{passed, written};
use std::sync::Arc;

/// One player's arrays of a kernel.
struct Arrays<T: Number> {
    kernel: &'static Kernel,
    source_layouts: Vec<Layout<T>>,
    target_layouts: Vec<Layout<T>>,
    sources: Vec<DeviceBuffer<T>>,
    /// Each is out while it is filled.
    targets: Vec<Option<DeviceBufferMut<T>>>,
    /// Targets that have landed, of one transfer.
    landed: usize,
    /// What the other player sends, if it is to be compared.
    expected: Vec<T>,
}

impl<T: Number> Arrays<T> {
    fn prepare(player: u64, plan: Plan) -> Self {
        let kernel = numbered(plan.kernel);
        let (device, stream) = here();
        let room = |len| DeviceBufferMut::new(&device, len).expect("the device has memory");
        let source = |(array, len)| {
            let numbers: Vec<T> = (0..len).map(|place| number(player, array, place)).collect();
            written(room(len), &stream, &numbers).freeze()
        };
        let target = |len| Some(written(room(len), &stream, &vec![T::zeroed(); len]));
        Self {
            kernel,
            source_layouts: kernel.layouts(End::Source),
            target_layouts: kernel.layouts(End::Target),
            sources: kernel.lens(End::Source).enumerate().map(source).collect(),
            targets: kernel.lens(End::Target).map(target).collect(),
            landed: 0,
            expected: if plan.verify { packed_by(1 - player, kernel) } else { Vec::new() },
        }
    }

    /// Compares all targets, and makes them zeros again. Waits for the device: nothing is timed meanwhile.
    fn check(&mut self) -> Result<(), String> {
        let (_, stream) = here();
        let targets: Vec<DeviceBuffer<T>> =
            self.take_targets().into_iter().map(DeviceBufferMut::freeze).collect();
        let read = |target: &DeviceBuffer<T>| target.to_vec(&stream).expect("there is room for staging");
        let mut on_host: Vec<Vec<T>> = targets.iter().map(read).collect();
        check_and_clear(self.kernel, &self.expected, &mut on_host)?;
        let cleared = |(target, zeros): (DeviceBuffer<T>, &Vec<T>)| {
            Some(written(target.try_into_mut().expect("nobody else has it"), &stream, zeros))
        };
        self.targets = targets.into_iter().zip(&on_host).map(cleared).collect();
        Ok(())
    }

    fn take_targets(&mut self) -> Vec<DeviceBufferMut<T>> {
        self.targets.iter_mut().map(|target| target.take().expect("nothing lands there now")).collect()
    }
}

/// The device and a stream of this PE.
fn here() -> (devices::Device, Stream) {
    let here = devices::mine().and_then(|device| Ok((device, devices::stream()?)));
    here.unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes of memory of this PE's device.
pub(crate) fn memory_bytes() -> u64 {
    here().0.info().memory_bytes
}

pub(crate) struct DevicePlayer<T: Number> {
    arrays: Option<Arrays<T>>,
    rally: Rally,
}

chare::instantiate!(DevicePlayer<f32>, DevicePlayer<f64>);

#[chare(array)]
impl<T: Number> DevicePlayer<T> {
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
    async fn begin(this: This<Self>, way: Way, round_trips: u32, done: Callback<Vec<u64>>) {
        this.with(|player| player.rally.begin(round_trips, done));
        play(&this, way).await;
    }

    /// One of the arrays has landed in its target.
    #[entry]
    async fn land(this: This<Self>, array: usize, #[nocopy(post)] landed: DevicePosted<T>) {
        let have_all_landed = this.with(|player| {
            let arrays = player.arrays();
            arrays.targets[array] = Some(landed.into_buffer());
            arrays.landed = (arrays.landed + 1) % arrays.targets.len();
            arrays.landed == 0
        });
        if have_all_landed {
            go_on(&this, Way::Layout).await;
        }
    }

    #[post(land)]
    fn post_land(&mut self, array: &usize, landed: Post<T>) {
        let arrays = self.arrays();
        let target = arrays.targets[*array].take().expect("one transfer at a time");
        let landing = DeviceLanding::at(&arrays.target_layouts[*array], target);
        landed.post_device(landing).expect("as much lands as is sent");
    }

    /// What the other player has packed, on the host.
    #[entry]
    async fn unpack(this: This<Self>, #[nocopy] packed: Received<T>) {
        let (device, stream) = here();
        this.with(|player| {
            let arrays = player.arrays();
            let mut rest: &[u8] = bytemuck::cast_slice(&packed);
            let targets = arrays.take_targets().into_iter().zip(&arrays.target_layouts);
            let unpack = |(target, layout): (DeviceBufferMut<T>, &Layout<T>)| {
                let pieces = Arc::new(Pieces::unpack(layout.raw()).expect("it is a layout of the array"));
                let (now, later) = rest.split_at(pieces.bytes() as usize);
                rest = later;
                let mut pinned = device.pinned(pieces.bytes()).expect("there is room for staging");
                pinned.bytes().expect("nobody else has it").copy_from_slice(now);
                let mut bytes = target.into_bytes();
                bytes.unstage_by(Method::Packed, &stream, &pieces, pinned).expect("the device takes it");
                Some(bytes.typed().expect("it is what it was"))
            };
            arrays.targets = targets.map(unpack).collect();
        });
        drop(packed);
        passed(&stream).await;
        go_on(&this, Way::Manual).await;
    }

    fn arrays(&mut self) -> &mut Arrays<T> {
        self.arrays.as_mut().expect("prepared")
    }
}

async fn go_on<T: Number>(this: &This<DevicePlayer<T>>, way: Way)
where
    DevicePlayer<T>: Instantiated,
{
    let player = this.this_index();
    let checked = this.with(|device_player| {
        device_player.rally.receive(player);
        if device_player.rally.is_checked { device_player.arrays().check() } else { Ok(()) }
    });
    if let Err(difference) = checked {
        eprintln!("{way:?}: {difference}");
        return chare::exit(1);
    }
    if this.with(|device_player| device_player.rally.goes_on(player)) {
        play(this, way).await;
    }
}

async fn play<T: Number>(this: &This<DevicePlayer<T>>, way: Way)
where
    DevicePlayer<T>: Instantiated,
{
    let other = this.this_collection().at(1 - this.this_index());
    if way == Way::Layout {
        return this.with(|player| {
            player.rally.play();
            let arrays = player.arrays();
            for (array, (source, layout)) in arrays.sources.iter().zip(&arrays.source_layouts).enumerate() {
                other.land(array, SendDeviceBuffer::from(source.clone()).only(layout));
            }
        });
    }
    let (_, stream) = here();
    let mut staged = this.with(|player| {
        player.rally.play();
        let arrays = player.arrays();
        let stage = |(source, layout): (&DeviceBuffer<T>, &Layout<T>)| {
            let pieces = Arc::new(Pieces::pack(layout.raw()).expect("it is a layout of the array"));
            let bytes = source.clone().into_bytes();
            bytes.stage_by(Method::Packed, &stream, &pieces).expect("there is room for staging")
        };
        arrays.sources.iter().zip(&arrays.source_layouts).map(stage).collect::<Vec<_>>()
    });
    passed(&stream).await;
    let mut packed = Vec::new();
    for piece in &mut staged {
        let bytes = piece.elements().expect("the device is not lost").expect("the stream is past it");
        packed.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>));
    }
    other.unpack(packed);
}

/// Both players, from outside.
pub(crate) struct DevicePlayers<T: Number>(DevicePlayerProxy<T>);

impl<T: Number> DevicePlayers<T>
where
    DevicePlayer<T>: Instantiated,
{
    pub(crate) fn create() -> Self {
        Self(DevicePlayerProxy::create(apart()))
    }
}

impl<T: Number> Players for DevicePlayers<T>
where
    DevicePlayer<T>: Instantiated,
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
