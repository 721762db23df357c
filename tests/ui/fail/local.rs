//! Local entries.

#![allow(unused)]

use chare::prelude::*;

struct Cell {
    row: Vec<f64>,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { row: Vec::new() }
    }

    #[entry(local)]
    fn borrows(&self) -> &[f64] {
        &self.row
    }

    #[entry(local)]
    async fn waits(this: This<Self>) {}

    #[entry(local, expedited)]
    fn overtakes(&mut self) {}

    #[entry(local)]
    fn has_no_receiver() -> u8 {
        0
    }

    #[entry(local)]
    fn receives(&mut self, #[nocopy] row: Received<f64>) {}

    #[entry(local)]
    fn at(&mut self, (x, y): (u8, u8)) {}
}

fn main() {}
