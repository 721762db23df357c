#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(expedited, expedited)]
    fn step(&mut self) {}

    #[entry(priority = 1, priority = 2)]
    fn stop(&mut self) {}
}

fn main() {}
