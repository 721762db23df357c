#![allow(unused)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn has_a_body(iteration: u32) {}

    #[entry(awaited)]
    fn has_a_receiver(&mut self, iteration: u32);

    #[entry(awaited)]
    async fn waits(iteration: u32);

    #[entry(awaited)]
    fn is_sound(iteration: u32);
}

fn main() {}
