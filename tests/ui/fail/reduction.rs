//! Contributions that do not fold.

#![allow(unused)]

use chare::prelude::*;

fn contribute() {
    let _ = sum("text".to_owned());
    let _ = sum(true);
    let _ = chare::bit_or(1.5);
    let _ = chare::logical_and(1);
}

fn main() {}
