//! Traits of entries and their options, and local entries.

#![allow(unused)]

mod entries_misused {
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
}

mod trait_options {
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
}

mod local_entries {
    use chare::prelude::*;

    struct Cell {
        row: Vec<f64>,
    }

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: Vec::new() }
        }

        #[entry(local)]
        fn borrows(&self) -> &[f64] {
            &self.row
        }

        #[entry(local)]
        async fn waits(this: This<Self>) {}

        #[entry(local, expedited)]
        fn overtakes(&mut self) {}

        #[entry(local)]
        fn has_no_receiver() -> u8 {
            0
        }

        #[entry(local)]
        fn receives(&mut self, #[nocopy] row: Received<f64>) {}

        #[entry(local)]
        fn at(&mut self, (x, y): (u8, u8)) {}
    }
}

fn main() {}
