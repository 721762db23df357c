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
    fn at(&mut self) {}

    #[entry]
    fn clone(&mut self) {}
}

fn main() {}
