#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited, inline)]
    fn is_inline(iteration: u32);

    #[entry(awaited, when_idle)]
    fn is_idle() -> bool;
}

fn main() {}
