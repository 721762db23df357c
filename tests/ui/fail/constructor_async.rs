#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    async fn new() -> Self {
        Self
    }
}

fn main() {}
