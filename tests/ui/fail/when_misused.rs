#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn step(&mut self, iteration: u32) {}

    #[entry(awaited)]
    fn ghost(#[reference] iteration: u32, row: Vec<f64>);

    #[entry]
    async fn awaits_what_runs(this: This<Self>) {
        this.when(Self::step).await;
    }

    #[entry]
    async fn asks_for_no_number(this: This<Self>) {
        this.when(Self::ghost).reference("three").await;
    }

    #[entry]
    async fn takes_less(this: This<Self>) {
        let (iteration, row, side) = this.when(Self::ghost).await;
    }
}

fn main() {}
