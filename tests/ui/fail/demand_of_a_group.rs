#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(group)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_home)]
    fn step(&mut self) {}
}

fn main() {}
