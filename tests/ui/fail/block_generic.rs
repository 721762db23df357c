#![allow(unused)]

use chare::prelude::*;

struct Cell<'a>(&'a str);

#[chare(array)]
impl<'a> Cell<'a> {
    #[entry]
    fn new() -> Self {
        Self("")
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
