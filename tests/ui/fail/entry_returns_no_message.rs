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
    fn place(&self) -> *const u8 {
        std::ptr::null()
    }
}

fn main() {}
