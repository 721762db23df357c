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
    fn step(&mut self, name: &str, names: Vec<&'static str>) {}

    #[entry]
    fn stop(&mut self, name: std::borrow::Cow<'_, str>) {}
}

fn main() {}
