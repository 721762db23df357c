#![allow(unused)]

use chare::prelude::*;

mod cells {
    use chare::prelude::*;

    pub struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }
    }
}

fn main() {
    let _ = cells::Cell;
}
