#![allow(unused)]

use chare::prelude::*;

struct Cell;

impl Cell {
    #[entry]
    fn step(&mut self) {}

    #[post(step)]
    fn step_post(&mut self) {}
}

fn main() {}
