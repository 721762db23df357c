#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(on_panic = "answer")]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
