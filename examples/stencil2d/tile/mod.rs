//! A tile of the field, on the device of its PE.

pub(crate) mod exchange;

use crate::field::{Problem, Way};
use crate::kernel::Kernel;
use chare::devices::Stream;
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived};
use exchange::{Around, Exchange};

pub(crate) struct Tile {
    problem: Problem,
    /// Both are taken by the loop.
    kernel: Option<Kernel>,
    field: Option<DeviceBuffer<f64>>,
}

impl Tile {
    fn stream(&self) -> Stream {
        self.kernel.as_ref().expect("no loop has it").stream().clone()
    }
}

/// Where a tile has neighbours.
fn neighbours(tile: (u32, u32), problem: &Problem) -> Vec<(Way, (u32, u32))> {
    Way::all().filter_map(|way| Some((way, way.from(tile, problem.tiles)?))).collect()
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
    pub(crate) fn halo(#[reference] step: u32, from: Way, #[nocopy] edge: DeviceReceived<f64>);

    /// The same on the host.
    #[entry(awaited)]
    pub(crate) fn halo_on_host(#[reference] step: u32, from: Way, points: Vec<f64>);

    /// How long exchanges by hand and by nocopy arguments take on average, in nanoseconds, each for the tile whose are slowest: everybody
    /// begins when the device has nothing else to do, and ends when the edges are there.
    #[entry]
    pub(crate) async fn compare(this: This<Self>, steps: u32, done: Callback<(u64, u64)>) {
        let (problem, field) = this.with(|tile| (tile.problem, tile.field.clone()));
        let field = field.expect("no loop has it");
        let (neighbours, stream) = (neighbours(this.this_index(), &problem), this.with(|tile| tile.stream()));
        let mut times_ns = [0; 2];
        // The first exchange of each is not counted; both have to bring the same.
        for step in 0..=steps {
            let mut brought = Vec::new();
            for (time_ns, exchange) in times_ns.iter_mut().zip(Exchange::ALL) {
                let begun = chare::now();
                let around = Around {
                    tile: &this,
                    problem: &problem,
                    neighbours: &neighbours,
                    field: &field,
                    stream: &stream,
                };
                let parts = exchange.run(around, step).await;
                stream.passed().expect("the device is there").await.expect("the device is not lost");
                let took = chare::now() - begun;
                if step > 0 {
                    *time_ns += took.as_nanos() as u64;
                    continue;
                }
                let mut points = Vec::new();
                for part in parts.iter().flatten() {
                    points.push(read(part, &stream).await);
                }
                brought.push(points);
            }
            assert!(brought.windows(2).all(|both| both[0] == both[1]), "exchanges differ");
        }
        let [by_hand, nocopy] = times_ns.map(|time_ns| time_ns / u64::from(steps.max(1)));
        this.contribute(tuple((max(by_hand), max(nocopy))), done);
    }

    #[entry]
    pub(crate) async fn run(this: This<Self>, done: Callback<u64>) {
        let (problem, kernel, field) =
            this.with(|tile| (tile.problem, tile.kernel.take(), tile.field.take()));
        let (kernel, mut field) = kernel.zip(field).expect("one loop at a time");
        let neighbours = neighbours(this.this_index(), &problem);
        for step in 0..problem.steps {
            let around = Around {
                tile: &this,
                problem: &problem,
                neighbours: &neighbours,
                field: &field,
                stream: kernel.stream(),
            };
            let mut parts = Exchange::Nocopy.run(around, step).await;
            parts[Way::STAY.place()] = Some(field);
            field = kernel.sweep(&parts).unwrap_or_else(|error| panic!("a sweep: {error}"));
        }
        let wrong = if problem.is_verified {
            problem.count_wrong(this.this_index(), &read(&field, kernel.stream()).await)
        } else {
            0
        };
        this.contribute(sum(wrong), done);
    }
}
