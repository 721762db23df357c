//! Layouts of fields.

#![allow(unused)]

use chare::Layout;

#[derive(Layout)]
struct Nothing {
    id: u64,
    x: [f64; 3],
}

#[derive(Layout)]
#[layout]
#[layout()]
#[layout(x, id)]
#[layout(place = id)]
struct Malformed {
    id: u64,
    x: [f64; 3],
}

#[derive(Layout)]
#[layout(place(x, charge), nothing(), twice(x, x))]
#[layout(number(id))]
#[layout(number(x))]
struct Names {
    id: u64,
    #[layout(position)]
    x: [f64; 3],
}

#[derive(Layout)]
#[layout(first(0))]
struct Tuple(u64);

#[derive(Layout)]
#[layout(first(a))]
enum Either {
    A { a: u64 },
}

#[derive(Layout)]
#[layout(value(value))]
struct Generic<T> {
    value: T,
}

fn main() {
    // What is sound of a struct is there.
    let _ = Names::number().len();
}
