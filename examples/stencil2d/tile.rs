//! A tile of the field, on the device of its PE.

use crate::field::{Problem, Way};
use crate::kernel::{DeviceParts, Kernel};
use chare::devices::Stream;
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, SendDeviceBuffer};

pub(crate) struct Tile {
    problem: Problem,
    /// Both are taken by the loop.
    kernel: Option<Kernel>,
    field: Option<DeviceBuffer<f64>>,
}

/// What a device buffer holds, when the stream is past it.
async fn read(buffer: &DeviceBuffer<f64>, on: &Stream) -> Vec<f64> {
    let mut landed = buffer.read(on).expect("there is room for staging");
    on.passed().expect("the device is there").await.expect("the device is not lost");
    landed.elements().expect("the device is not lost").expect("the stream is past it").to_vec()
}

#[chare(array, index = (u32, u32))]
impl Tile {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let kernel = Kernel::new(problem.tile).unwrap_or_else(|error| panic!("{error}"));
        let points = problem.first(chare::this_index());
        let device = chare::devices::mine().expect("the kernel is for it");
        let mut field = DeviceBufferMut::new(&device, points.len()).expect("the device has memory");
        field.write(kernel.stream(), &points).expect("there is room for staging");
        Self { problem, kernel: Some(kernel), field: Some(field.freeze()) }
    }

    /// The edge or corner of a neighbour, from this way, in a step.
    #[entry(awaited)]
    fn halo(#[reference] step: u32, from: Way, #[nocopy] edge: DeviceReceived<f64>);

    #[entry]
    pub(crate) async fn run(this: This<Self>, done: Callback<u64>) {
        let (problem, kernel, field) =
            this.with(|tile| (tile.problem, tile.kernel.take(), tile.field.take()));
        let (kernel, mut field) = kernel.zip(field).expect("one loop at a time");
        let neighbours: Vec<(Way, (u32, u32))> =
            Way::all().filter_map(|way| Some((way, way.from(this.index(), problem.tiles)?))).collect();
        for step in 0..problem.steps {
            for (way, neighbour) in &neighbours {
                let edge = SendDeviceBuffer::from(field.clone()).only(&way.edge(problem.tile));
                this.collection().at(*neighbour).halo(step, way.back(), edge);
            }
            let mut parts = DeviceParts::default();
            for _ in &neighbours {
                let (_, from, edge) = this.when(Self::halo).reference(step).await;
                parts[from.place()] = Some(edge.into_buffer());
            }
            parts[Way::STAY.place()] = Some(field);
            field = kernel.sweep(&parts).unwrap_or_else(|error| panic!("a sweep: {error}"));
        }
        let wrong = if problem.is_verified {
            problem.count_wrong(this.index(), &read(&field, kernel.stream()).await)
        } else {
            0
        };
        this.contribute(sum(wrong), done);
    }
}
