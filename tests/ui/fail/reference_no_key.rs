#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn ghost(#[reference] place: f64, value: f64);
}

fn main() {}
