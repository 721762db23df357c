#![allow(unused)]

use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceLanding, DevicePosted, DeviceReceived};

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn unmarked(&mut self, row: DeviceReceived<f64>) {}

    #[entry]
    fn posted_unmarked(&mut self, row: DevicePosted<f64>) {}

    #[entry]
    fn bare(&mut self, #[nocopy] row: DeviceBuffer<f64>) {}

    #[entry]
    fn unposted(&mut self, #[nocopy] row: DevicePosted<f64>) {}

    #[entry]
    fn land(&mut self, #[nocopy(post)] row: DeviceReceived<f64>) {}

    #[post(land)]
    fn post_land(&mut self, row: Post<f64>) {}
}

fn main() {}
