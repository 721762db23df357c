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
    fn step<T>(&mut self, value: T) {}

    #[entry]
    fn stop<'a>(&mut self, value: u8) {}

    #[entry]
    fn turn(&mut self, value: u8)
    where
        u8: Copy,
    {
    }
}

fn main() {}
