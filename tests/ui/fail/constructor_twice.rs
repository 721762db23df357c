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
    fn with_seed(seed: u64) -> Self {
        let _ = seed;
        Self
    }
}

fn main() {}
