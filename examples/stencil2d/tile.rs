//! A tile of the field, on the device of its PE.

use crate::field::{Framed, Problem, Way};
use chare::devices::{self, Stream};
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, SendDeviceBuffer, SentDevice};

pub(crate) struct Tile {
    problem: Problem,
    stream: Stream,
    /// Taken while a loop has it.
    field: Option<DeviceBufferMut<f64>>,
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
        let (device, stream) = match (devices::mine(), devices::stream()) {
            (Ok(device), Ok(stream)) => (device, stream),
            (Err(error), _) | (_, Err(error)) => panic!("{error}"),
        };
        let points = problem.first(chare::this_index());
        let mut field = DeviceBufferMut::new(&device, points.len()).expect("the device has memory");
        field.write(&stream, &points).expect("there is room for staging");
        Self { problem, stream, field: Some(field) }
    }

    /// The edge or corner of a neighbour, from this way, in a step.
    #[entry(awaited)]
    fn halo(#[reference] step: u32, from: Way, #[nocopy] edge: DeviceReceived<f64>);

    #[entry]
    pub(crate) async fn run(this: This<Self>, done: Callback<u64>) {
        let (problem, stream) = this.with(|tile| (tile.problem, tile.stream.clone()));
        let neighbours: Vec<(Way, (u32, u32))> =
            Way::all().filter_map(|way| Some((way, way.from(this.index(), problem.tiles)?))).collect();
        let mut field = this.with(|tile| tile.field.take()).expect("one loop at a time");
        for step in 0..problem.steps {
            let shared = field.freeze();
            let mut backs = Vec::new();
            for (way, neighbour) in &neighbours {
                let (back, on_sent) = chare::future::<SentDevice<f64>>();
                let edge =
                    SendDeviceBuffer::from(shared.clone()).only(&way.edge(problem.tile)).on_sent(on_sent);
                this.collection().at(*neighbour).halo(step, way.back(), edge);
                backs.push(back);
            }
            let mut framed = Framed::new(problem.tile, &read(&shared, &stream).await);
            for _ in &neighbours {
                let (_, from, edge) = this.when(Self::halo).reference(step).await;
                framed.set_frame(from, &read(&edge, &stream).await);
            }
            drop(chare::wait_all(backs).await);
            field = shared.try_into_mut().expect("all edges have been taken");
            field.write(&stream, &framed.swept()).expect("there is room for staging");
        }
        let wrong = if problem.is_verified {
            let points = read(&field.freeze(), &stream).await;
            problem.count_wrong(this.index(), &points)
        } else {
            0
        };
        this.contribute(sum(wrong), done);
    }
}
