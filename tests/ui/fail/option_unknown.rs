#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(expedite)]
    fn step(&mut self) {}

    #[entry = "expedited"]
    fn stop(&mut self) {}
}

fn main() {}
