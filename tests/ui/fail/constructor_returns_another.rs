#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Option<Self> {
        Some(Self)
    }
}

fn main() {}
