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
    fn runs(&mut self, #[reference] iteration: u32) {}

    fn helps(&mut self, #[reference] iteration: u32) {}

    #[entry(awaited)]
    fn has_two(#[reference] iteration: u32, #[reference] side: u8);

    #[entry(awaited)]
    fn has_a_value(#[reference(iteration)] iteration: u32);

    #[entry(awaited)]
    fn has_a_buffer(#[reference] #[nocopy] row: Received<f64>);
}

fn main() {}
