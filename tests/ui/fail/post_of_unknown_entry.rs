#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[post(hallo)]
    fn give(&mut self, row: Post<f64>) {}
}

fn main() {}
