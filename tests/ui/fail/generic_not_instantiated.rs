#![allow(unused)]

use chare::prelude::*;

struct Cell<T>(T);

#[chare]
impl<T: chare::Message> Cell<T> {
    #[entry]
    fn new(value: T) -> Self {
        Self(value)
    }

    #[entry]
    fn keep_value(&mut self, value: T) {}
}

chare::instantiate!(Cell<u8>);

fn misuse(cell: CellProxy<u16>) {
    CellProxy::<u8>::create(3).keep_value(4);
    cell.keep_value(4);
}

fn main() {}
