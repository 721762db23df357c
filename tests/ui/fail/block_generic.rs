#![allow(unused)]

use chare::prelude::*;

struct Cell<T>(T);

#[chare(array)]
impl<T> Cell<T> {
    #[entry]
    fn new(value: T) -> Self {
        Self(value)
    }
}

struct Row<T>(T);

#[chare(array)]
impl Row<f64> {
    #[entry]
    fn new(value: f64) -> Self {
        Self(value)
    }
}

fn main() {}
