//! Arguments, results, indices and reference numbers that are no messages.

#![allow(unused)]

mod argument_not_serializable {
    use chare::prelude::*;

    struct Cell;

    #[derive(Clone)]
    struct Plain;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32, plain: Plain) {}

        #[entry]
        fn stop(&mut self, plain: Plain) {}
    }
}

mod returns_no_message {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn place(&self) -> *const u8 {
            std::ptr::null()
        }
    }
}

mod index_no_index {
    use chare::prelude::*;

    struct Cell;

    #[chare(array, index = f64)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod reference_no_key {
    use chare::prelude::*;

    struct Cell;

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(awaited)]
        fn ghost(#[reference] place: f64, value: f64);
    }
}

fn main() {}
