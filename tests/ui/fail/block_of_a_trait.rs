#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Default for Cell {
    #[entry]
    fn default() -> Self {
        Self
    }
}

fn main() {}
