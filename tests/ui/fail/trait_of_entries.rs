//! Traits of entries that a chare does not implement.

#![allow(unused)]

use chare::prelude::*;

#[entries]
trait Shape {
    #[entry]
    fn area(&self) -> f64;
}

struct Square(f64);

#[chare]
impl Square {
    #[entry]
    fn new(side: f64) -> Self {
        Self(side)
    }
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0
    }
}

struct Circle(f64);

#[chare]
impl Circle {
    #[entry]
    fn new(radius: f64) -> Self {
        Self(radius)
    }
}

fn misuse(circle: CircleProxy) {
    ShapeProxy::of(&circle).area();
}

fn main() {}
