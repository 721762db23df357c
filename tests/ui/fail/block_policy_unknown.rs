#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array, on_panic = ignore)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
