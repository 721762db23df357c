#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_home, create_here)]
    fn step(&mut self) {}
}

fn main() {}
