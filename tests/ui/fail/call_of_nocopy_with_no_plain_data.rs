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
    fn step(&mut self, iteration: u32) {
        let _ = iteration;
    }

    #[entry]
    fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
        let _ = (side, row);
    }
}

fn call(cells: CellProxy) {
    #[derive(Clone)]
    struct NotPod(f64);
    cells.ghost(1, vec![NotPod(0.0)]);
    cells.at(0).ghost(1, vec![1_u32]);
}

fn main() {
    let _ = call;
}
