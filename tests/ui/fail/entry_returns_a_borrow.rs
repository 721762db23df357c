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
    fn name(&self) -> &'static str {
        "cell"
    }

    #[entry]
    fn names(&self) -> Option<impl Iterator<Item = String>> {
        Some(std::iter::empty())
    }
}

fn main() {}
