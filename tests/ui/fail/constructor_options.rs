#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry(expedited)]
    fn new() -> Self {
        Self
    }
}

fn main() {}
