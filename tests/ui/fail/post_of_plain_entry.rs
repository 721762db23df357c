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
    fn step(&mut self, #[nocopy] row: Received<f64>) {}

    #[post(step)]
    fn give(&mut self, row: Post<f64>) {}
}

fn main() {}
