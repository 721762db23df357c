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
    fn step(&mut self, #[nocopy(post)] row: Received<f64>) {}

    #[post(step)]
    fn step_post(&mut self, row: Post<f64>) {}
}

fn main() {}
