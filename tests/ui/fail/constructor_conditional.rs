#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    #[cfg(unix)]
    fn new() -> Self {
        Self
    }
}

fn main() {}
