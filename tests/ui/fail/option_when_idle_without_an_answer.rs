#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(when_idle)]
    fn rest(&mut self) {}

    #[entry(when_idle)]
    fn wait(&mut self, rounds: u32) -> bool {
        false
    }

    #[entry(when_idle, priority = 3)]
    fn dream(&mut self) -> bool {
        false
    }
}

fn main() {}
