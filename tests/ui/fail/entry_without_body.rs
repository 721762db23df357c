#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self, iteration: u32);
}

fn main() {}
