#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array, index = u32, index = (u32, u32))]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
