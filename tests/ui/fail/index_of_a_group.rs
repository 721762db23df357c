#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(group, index = u32)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
