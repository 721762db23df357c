#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

    #[post(halo)]
    async fn give(&mut self, side: &u8, row: Post<f64>) {}
}

fn main() {}
