#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(expedite)]
    fn step(&mut self, value: &str) -> u8 {
        value.len() as u8
    }

    #[entry]
    async fn run(&mut self, rounds: u32) {
        let _ = rounds;
    }

    #[entry]
    fn sound(&mut self, iteration: u32) {
        let _ = iteration;
    }

    #[entry]
    fn ghost(&mut self, #[nocopy] row: Vec<f64>) {
        let _ = row;
    }
}

// The sound rest of the block is there: no error here.
fn call(cells: CellProxy) {
    cells.sound(1);
    let _ = Cell::new().step("three");
}

fn main() {
    let _ = call;
}
