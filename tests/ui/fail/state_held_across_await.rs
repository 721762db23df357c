#![allow(unused)]

use chare::prelude::*;

struct Cell {
    row: Vec<f64>,
}

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { row: Vec::new() }
    }

    #[entry(awaited)]
    fn ghost(value: f64);

    #[entry]
    async fn takes_the_state_along(this: This<Self>) {
        let row = this.with(|cell| &mut cell.row);
        row.push(this.when(Self::ghost).await);
    }

    #[entry]
    async fn waits_inside(this: This<Self>) {
        this.with(|cell| cell.row.push(this.when(Self::ghost).await));
    }
}

fn main() {}
