#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[derive(Clone)]
struct Plain;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self, iteration: u32, plain: Plain) {}

    #[entry]
    fn stop(&mut self, plain: Plain) {}
}

fn main() {}
