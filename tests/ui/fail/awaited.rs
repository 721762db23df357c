//! Entries that are awaited, and their reference numbers.

#![allow(unused)]

mod awaited_with_a_body {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(awaited)]
        fn has_a_body(iteration: u32) {}

        #[entry(awaited)]
        fn has_a_receiver(&mut self, iteration: u32);

        #[entry(awaited)]
        async fn waits(iteration: u32);

        #[entry(awaited)]
        fn is_sound(iteration: u32);
    }
}

mod awaited_with_other_options {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(awaited, inline)]
        fn is_inline(iteration: u32);

        #[entry(awaited, when_idle)]
        fn is_idle() -> bool;
    }
}

mod reference_misused {
    use chare::prelude::*;

    struct Cell;

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn runs(&mut self, #[reference] iteration: u32) {}

        fn helps(&mut self, #[reference] iteration: u32) {}

        #[entry(awaited)]
        fn has_two(#[reference] iteration: u32, #[reference] side: u8);

        #[entry(awaited)]
        fn has_a_value(#[reference(iteration)] iteration: u32);

        #[entry(awaited)]
        fn has_a_buffer(#[reference] #[nocopy] row: Received<f64>);
    }
}

fn main() {}
