#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new(#[nocopy] row: Received<f64>) -> Self {
        let _ = row;
        Self
    }
}

fn main() {}
