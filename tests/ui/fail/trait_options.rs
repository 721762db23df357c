//! Options of traits of entries: there is one.

use chare::prelude::*;

#[entries]
trait Shape {
    #[entry]
    fn scale(&mut self, by: f64);
}

#[entries(extend = Shape)]
trait Solid: Shape {}

#[entries(extends)]
trait Liquid: Shape {}

struct Square;

#[chare]
impl Square {
    #[entry]
    fn new() -> Self {
        Self
    }
}

#[entries(extends = Solid)]
impl Shape for Square {
    fn scale(&mut self, _by: f64) {}
}

fn main() {}
