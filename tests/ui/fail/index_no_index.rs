#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array, index = f64)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
