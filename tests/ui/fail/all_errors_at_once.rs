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

    #[entry]
    fn land(&mut self, #[nocopy(post)] row: Posted<f64>) -> u64 {
        0
    }
}

// The sound rest of the block is there, and calls of the others are no further errors.
async fn call(cells: CellProxy) {
    cells.sound(1);
    let _ = Cell::new().step("three");
    let cell = cells.at(1);
    let _ = cell.step("three").await.max(3_u8);
    cells.run(3);
    cell.ghost(vec![1.0]);
    let _ = cell.land(vec![1.0]).await.max(3_u64);
}

fn main() {
    let _ = call;
}
