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
    unsafe fn step(&mut self) {}

    #[entry]
    extern "C" fn stop(&mut self) {}

    #[entry]
    const fn turn(&mut self) {}
}

fn main() {}
