#![allow(unused)]

use chare::prelude::*;

mod cells {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Serialize, Deserialize)]
    struct Secret;

    pub struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        pub fn new(number: u32, secret: Secret) -> Self {
            Self
        }

        #[entry]
        fn take(&mut self, secret: Secret) {}
    }
}

fn main() {
    let _ = cells::Cell;
}
