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
    fn step(&mut self, #[nocopy] row: Vec<f64>) {}

    #[entry]
    fn stop(&mut self, #[nocopy] row: Posted<f64>) {}
}

fn main() {}
