#![allow(unused)]

use chare::prelude::*;

#[chare(array)]
struct Cell;

fn main() {}
