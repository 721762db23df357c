#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(expedited, priority = 1)]
    fn step(&mut self) {}
}

fn main() {}
