#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(group, on_panic = answer, on_panic = renew)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self) {}
}

fn main() {}
