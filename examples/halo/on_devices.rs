//! A block on the device of its PE, and what its neighbours have for it, on the same device.

use crate::problem::{Exchange, Place, Problem, Seen, Way};
use chare::devices::{self, Method, Stream};
use chare::layout::Plan;
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, SendDeviceBuffer};
use chare_examples::devices::{passed, read, written};
use std::sync::Arc;

/// What has come from the neighbour on a way.
type Ghosts = (Way, DeviceBuffer<f64>);

pub(crate) struct Block {
    problem: Problem,
    stream: Stream,
    points: DeviceBuffer<f64>,
}

#[chare(array, index = Place)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let stream = devices::stream().unwrap_or_else(|error| panic!("{error}"));
        let points: Vec<f64> = problem.points(chare::this_index()).collect();
        let points = on_device(&stream, &points);
        Self { problem, stream, points }
    }

    /// What the neighbour on this way has for this block.
    #[entry(awaited)]
    fn receive(#[reference] exchange: u32, from: Way, #[nocopy] points: DeviceReceived<f64>);

    /// The same on the host, packed by hand.
    #[entry(awaited)]
    fn receive_on_host(#[reference] exchange: u32, from: Way, points: Vec<f64>);

    /// An exchange is over when all ghosts are on the device, whatever uses them.
    #[entry]
    pub(crate) async fn run(this: This<Self>, by: Exchange, done: Callback<Seen>) {
        let (problem, stream) = this.with(|block| (block.problem, block.stream.clone()));
        let (mut wrong, mut begun, mut took) = (0, chare::now(), 0);
        for exchange in 0..problem.all_exchanges() {
            if exchange == 1 {
                begun = chare::now();
            }
            let ghosts = match by {
                Exchange::Layouts => by_layouts(&this, exchange).await,
                Exchange::ByHand => by_hand(&this, exchange).await,
            };
            passed(&stream).await;
            if exchange == problem.exchanges {
                took = (chare::now() - begun).as_nanos() as u64;
            }
            if problem.is_checked(exchange) {
                assert_eq!(ghosts.len(), 26, "one of each neighbour");
                for (from, ghosts) in &ghosts {
                    let expected = problem.around(this.this_index(), *from);
                    let points = read(ghosts, &stream).await;
                    wrong += points
                        .into_iter()
                        .zip(expected)
                        .filter(|(point, expected)| point != expected)
                        .count();
                }
            }
        }
        this.contribute(tuple((sum(wrong as u64), max(took))), done);
    }

    fn neighbours(&self) -> impl Iterator<Item = (Way, BlockElementProxy)> {
        let (problem, here, blocks) = (self.problem, self.this_index(), self.this_collection());
        Way::all().map(move |way| (way, blocks.at(problem.beside(here, way))))
    }
}

async fn by_layouts(this: &This<Block>, exchange: u32) -> Vec<Ghosts> {
    this.with(|block| {
        for (way, neighbour) in block.neighbours() {
            let edge = SendDeviceBuffer::from(block.points.clone()).only(&block.problem.edge(way, 0));
            neighbour.receive(exchange, way.back(), edge);
        }
    });
    let mut ghosts = Vec::new();
    for _ in Way::all() {
        let (_, from, points) = this.when(Block::receive).reference(exchange).await;
        ghosts.push((from, points.into_buffer()));
    }
    ghosts
}

/// Each edge is copied to the host by a copy of two dimensions, sent from there, and copied to the neighbour's device.
async fn by_hand(this: &This<Block>, exchange: u32) -> Vec<Ghosts> {
    let stream = this.with(|block| block.stream.clone());
    let mut staged = this.with(|block| {
        let points = block.points.clone().into_bytes();
        let stage = |(way, neighbour)| {
            let plan = Plan::pack(block.problem.edge(way, 0).raw()).expect("an edge is a layout");
            let edge = points.stage_by(Method::Rows, &block.stream, &Arc::new(plan));
            (way, neighbour, edge.expect("there is room for staging"))
        };
        block.neighbours().map(stage).collect::<Vec<_>>()
    });
    passed(&stream).await;
    for (way, neighbour, edge) in &mut staged {
        let bytes = edge.elements().expect("the device is not lost").expect("the stream is past it");
        let points =
            bytes.chunks_exact(8).map(|point| f64::from_ne_bytes(point.try_into().expect("8 bytes")));
        neighbour.receive_on_host(exchange, way.back(), points.collect());
    }
    let mut ghosts = Vec::new();
    for _ in Way::all() {
        let (_, from, points) = this.when(Block::receive_on_host).reference(exchange).await;
        ghosts.push((from, on_device(&stream, &points)));
    }
    ghosts
}

fn on_device(stream: &Stream, points: &[f64]) -> DeviceBuffer<f64> {
    let device = devices::mine().unwrap_or_else(|error| panic!("{error}"));
    let buffer = DeviceBufferMut::new(&device, points.len()).expect("the device has memory");
    written(buffer, stream, points).freeze()
}
