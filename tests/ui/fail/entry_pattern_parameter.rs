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
    fn step(&mut self, (x, y): (u32, u32)) {}

    #[entry]
    fn stop(&mut self, _: u8) {}
}

fn main() {}
