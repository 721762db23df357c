//! Constructors that are less visible than their chares.

#![allow(unused)]

mod argument_less_visible_than_its_chare {
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
}

mod less_visible_than_its_chare {
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
}

fn main() {}
