#![allow(unused)]

use chare::prelude::*;

#[entries]
struct Shape;

#[entries]
trait Generic<T> {
    #[entry]
    fn step(&mut self, value: T);
}

#[entries]
trait Sound {
    #[entry]
    fn step(&mut self, value: u32);

    #[entry(awaited)]
    fn waits(value: u32);

    #[entry(inline)]
    fn is_inline(&mut self);

    #[entry]
    fn lands(&mut self, #[nocopy(post)] row: Posted<f64>);

    #[entry]
    fn takes_its_like(&mut self, other: Vec<Self>);

    #[entry]
    fn of(&mut self);

    #[entry]
    fn at(&mut self, place: u64);

    #[entry]
    fn has_no_receiver();

    #[entry]
    fn borrows(&mut self, row: &[f64]);
}

struct Cell;

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }
}

#[entries]
impl Cell {
    fn step(&mut self) {}
}

fn main() {}
