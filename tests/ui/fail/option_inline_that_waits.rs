#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(inline)]
    async fn run(this: This<Self>) {}

    #[entry(inline)]
    fn take(&mut self, #[nocopy] row: Received<f64>) {}
}

fn main() {}
