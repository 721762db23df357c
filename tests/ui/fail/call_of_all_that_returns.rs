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
    fn value(&self) -> f64 {
        0.0
    }
}

fn call(cells: CellProxy) {
    cells.at(1).value();
    cells.value();
}

fn main() {}
