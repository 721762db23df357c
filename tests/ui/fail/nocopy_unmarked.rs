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
    fn step(&mut self, row: Received<f64>) {}

    #[entry]
    fn stop(&mut self, row: Posted<f64>) {}
}

fn main() {}
