#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new(_width: u32) -> Self {
        Self
    }

    #[entry(create_here)]
    fn step(&mut self) {}
}

fn main() {}
