#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    fn step(&mut self, #[nocopy] row: Received<f64>) {}

    #[entry]
    fn stop(#[nocopy] &mut self) {}
}

fn main() {}
