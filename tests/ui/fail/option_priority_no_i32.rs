#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(priority = "high")]
    fn step(&mut self) {}

    #[entry(priority = 2147483648)]
    fn stop(&mut self) {}

    #[entry(priority = 1_u8)]
    fn start(&mut self) {}

    #[entry(priority(5))]
    fn turn(&mut self) {}
}

fn main() {}
