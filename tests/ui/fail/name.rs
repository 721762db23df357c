//! Names of entries that proxies have already.

#![allow(unused)]

mod named_like_a_callback {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}

        #[entry]
        fn step_callback(&mut self) {}
    }
}

mod named_like_a_proxy_method {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn at(&mut self) {}

        #[entry]
        fn clone(&mut self) {}
    }
}

fn main() {}
