//! Entries whose calls travel together.

#![allow(unused)]

use chare::prelude::*;

struct Table {
    counts: Vec<u64>,
}

#[chare(array)]
impl Table {
    #[entry]
    fn new() -> Self {
        Self { counts: Vec::new() }
    }

    #[entry(aggregate)]
    fn receives(&mut self, #[nocopy] row: Received<f64>) {}

    #[entry(aggregate)]
    fn answers(&mut self, key: u64) -> u64 {
        key
    }

    #[entry(aggregate, inline)]
    fn is_two_things(&mut self, key: u64) {}

    #[entry(create_home, aggregate)]
    fn makes_its_element(&mut self, key: u64) {}

    #[entry(aggregate, aggregate)]
    fn is_marked_twice(&mut self, key: u64) {}

    #[entry(aggregate(dimensions = 4))]
    fn has_no_such_grid(&mut self, key: u64) {}

    #[entry(aggregate(buffer_bytes = 0))]
    fn has_no_room(&mut self, key: u64) {}

    #[entry(aggregate(items = 100))]
    fn has_no_such_option(&mut self, key: u64) {}

    #[entry(aggregate = 100)]
    fn has_no_name_for_it(&mut self, key: u64) {}

    #[entry(aggregate(dimensions = 1, dimensions = 2))]
    fn has_two_grids(&mut self, key: u64) {}
}

struct Alone;

#[chare]
impl Alone {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(aggregate)]
    fn has_no_neighbours(&mut self, key: u64) {}
}

#[entries]
trait Described {
    #[entry(aggregate)]
    fn describe(&mut self, key: u64);
}

fn main() {}
