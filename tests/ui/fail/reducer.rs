//! Reducers.

#![allow(unused)]

use chare::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Longest(String);

#[reducer]
impl Longest {}

#[derive(Clone, Serialize, Deserialize)]
struct Pair<T>(T, T);

#[reducer]
impl<T: chare::Message> Reducer for Pair<T> {
    fn fold(&mut self, other: Self) {}
}

#[reducer]
struct Shortest(String);

#[derive(Clone, Serialize, Deserialize)]
struct Unmarked;

impl Reducer for Unmarked {
    fn fold(&mut self, other: Self) {}
}

fn main() {}
