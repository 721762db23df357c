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
    fn step(self: std::rc::Rc<Self>) {}

    #[entry]
    fn stop(self: &mut Self) {}
}

fn main() {}
