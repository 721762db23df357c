#![allow(unused)]

use chare::prelude::*;

mod cells {
    use chare::prelude::*;

    pub struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        pub fn new() -> Self {
            Self
        }

        #[entry]
        fn tell(&mut self, number: u32) {}

        #[entry]
        fn ask(&mut self) -> u32 {
            1
        }
    }
}

fn main() {
    chare::run(|_arguments| async {
        let cells = cells::CellProxy::create(1);
        cells.tell(1);
        cells.at(0).ask().await;
    });
}
