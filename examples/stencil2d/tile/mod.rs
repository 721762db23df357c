//! A tile of the field, on the device of its PE.

pub(crate) mod exchange;

use crate::field::{Problem, Way};
use crate::kernel::{DeviceParts, Kernel};
use crate::sweep::Real;
use chare::devices::Stream;
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, Instantiated};
use chare_examples::devices::{passed, read};
use exchange::{Among, Around, Exchange};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Tile<R: Real> {
    problem: Problem,
    /// Made anew on each PE, for that PE's device.
    #[serde(skip)]
    kernel: Option<Kernel<R>>,
    field: DeviceBuffer<R>,
    /// Sweeps so far.
    step: u32,
}

impl<R: Real> Tile<R> {
    fn kernel(&self) -> &Kernel<R> {
        self.kernel.as_ref().expect("it is made where the tile arrives")
    }

    fn stream(&self) -> Stream {
        self.kernel().stream().clone()
    }

    fn sweep(&mut self, mut parts: DeviceParts<R>) {
        parts[Way::STAY.place()] = Some(self.field.clone());
        self.field = self.kernel().sweep(&parts).unwrap_or_else(|error| panic!("a sweep: {error}"));
        self.step += 1;
    }
}

fn kernel<R: Real>(problem: &Problem) -> Kernel<R> {
    Kernel::new(problem.tile).unwrap_or_else(|error| panic!("{error}"))
}

/// Where a tile has neighbours.
fn neighbours(tile: (u32, u32), problem: &Problem) -> Vec<(Way, (u32, u32))> {
    Way::all().filter_map(|way| Some((way, way.from(tile, problem.tiles)?))).collect()
}

chare::instantiate!(Tile<f32>, Tile<f64>);

#[chare(array, index = (u32, u32), migrate, sync)]
impl<R: Real> Tile<R> {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let kernel = kernel(&problem);
        let points = problem.first(chare::this_index());
        let device = chare::devices::mine().expect("the kernel is for it");
        let mut field = DeviceBufferMut::new(&device, points.len()).expect("the device has memory");
        field.write(kernel.stream(), &points).expect("there is room for staging");
        Self { problem, kernel: Some(kernel), field: field.freeze(), step: 0 }
    }

    /// The field stays on its device, or comes to that of this PE.
    #[moved]
    fn moved(&mut self, _from: PeId) {
        let kernel = kernel(&self.problem);
        self.field = kernel.bring(&self.field).unwrap_or_else(|error| panic!("a field that moves: {error}"));
        self.kernel = Some(kernel);
    }

    /// The edge or corner of a neighbour, from this way, in a step.
    #[entry(awaited)]
    pub(crate) fn halo(#[reference] step: u32, from: Way, #[nocopy] edge: DeviceReceived<R>);

    /// The same on the host.
    #[entry(awaited)]
    pub(crate) fn halo_on_host(#[reference] step: u32, from: Way, points: Vec<R>);

    /// How long exchanges by hand and by nocopy arguments take on average, in nanoseconds, [among](Among::EACH) all neighbours and some: each for
    /// the tile whose are slowest.
    #[entry]
    pub(crate) async fn compare(this: This<Self>, steps: u32, done: Callback<Vec<u64>>) {
        let (problem, field) = this.with(|tile| (tile.problem, tile.field.clone()));
        let (all, stream) = (neighbours(this.this_index(), &problem), this.with(|tile| tile.stream()));
        let mut times_ns = Vec::new();
        // A neighbour may have come farther: no two exchanges have one number.
        for (among, first) in Among::EACH.into_iter().zip((0..).step_by(steps as usize + 1)) {
            let neighbours: Vec<_> = all.iter().filter(|(way, _)| among.has(*way)).copied().collect();
            let around = || Around {
                tile: &this,
                problem: &problem,
                neighbours: &neighbours,
                field: &field,
                stream: &stream,
            };
            times_ns.extend(measure(around, first..=first + steps).await);
        }
        this.contribute(max(times_ns), done);
    }

    /// Begins anew where the tile has moved in a sync: what it has come to stands in the tile.
    #[entry]
    pub(crate) async fn run(this: Again<Self>, done: Callback<u64>) {
        let problem = this.with(|tile| tile.problem);
        let neighbours = neighbours(this.this_index(), &problem);
        loop {
            let step = this.with(|tile| tile.step);
            if step == problem.steps {
                break;
            }
            let parts = {
                let (field, stream) = this.with(|tile| (tile.field.clone(), tile.stream()));
                let around = Around {
                    tile: &this,
                    problem: &problem,
                    neighbours: &neighbours,
                    field: &field,
                    stream: &stream,
                };
                Exchange::Nocopy.run(around, step).await
            };
            this.with(|tile| tile.sweep(parts));
            if (step + 1).is_multiple_of(problem.every) {
                this.sync().await;
            }
        }
        let wrong = if problem.is_verified {
            let (field, stream) = this.with(|tile| (tile.field.clone(), tile.stream()));
            problem.count_wrong(this.this_index(), &read(&field, &stream).await)
        } else {
            0
        };
        this.contribute(sum(wrong), done);
    }
}

/// How long exchanges take on average, by hand and by nocopy arguments: each begins when the device has nothing else to do, and ends when the
/// edges are there. The first of each is not counted; both have to bring the same.
async fn measure<'a, R: Real>(around: impl Fn() -> Around<'a, R>, numbers: RangeInclusive<u32>) -> [u64; 2]
where
    Tile<R>: Instantiated,
{
    let (first, counted) = (*numbers.start(), u64::from(numbers.end() - numbers.start()));
    let (mut times_ns, stream) = ([0; 2], around().stream);
    for number in numbers {
        let mut brought = Vec::new();
        for (time_ns, exchange) in times_ns.iter_mut().zip(Exchange::ALL) {
            let begun = chare::now();
            let parts = exchange.run(around(), number).await;
            passed(stream).await;
            let took = chare::now() - begun;
            if number > first {
                *time_ns += took.as_nanos() as u64;
                continue;
            }
            let mut points = Vec::new();
            for part in parts.iter().flatten() {
                points.push(read(part, stream).await);
            }
            brought.push(points);
        }
        assert!(brought.windows(2).all(|both| both[0] == both[1]), "exchanges differ");
    }
    times_ns.map(|time_ns| time_ns / counted.max(1))
}
