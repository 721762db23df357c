//! Calls that do not fit their entries or their chares, and contributions that do not fold.

#![allow(unused)]

mod creates_with_wrong_type {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        let _ = CellProxy::create("three");
    }
}

mod of_all_that_returns {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn value(&self) -> f64 {
            0.0
        }
    }

    fn call(cells: CellProxy) {
        cells.at(1).value();
        cells.value();
    }
}

mod of_unknown_entry {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        cells.stop();
        cells.at(0).stop();
    }
}

mod with_wrong_number {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        cells.step();
        cells.at(0).ghost(1);
    }
}

mod with_wrong_type {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        cells.step("one");
        cells.at(0).step(1_u64);
    }
}

mod callback_of_wrong_type {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        let callback: Callback<String> = cells.step_callback();
        let _ = callback;
    }
}

mod private_called {
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

    async fn misuse() {
        let cells = cells::CellProxy::create(1);
        cells.tell(1);
        cells.at(0).ask().await;
    }
}

mod when_misused {
    use chare::prelude::*;

    struct Cell;

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {}

        #[entry(awaited)]
        fn ghost(#[reference] iteration: u32, row: Vec<f64>);

        #[entry]
        async fn awaits_what_runs(this: This<Self>) {
            this.when(Self::step).await;
        }

        #[entry]
        async fn asks_for_no_number(this: This<Self>) {
            this.when(Self::ghost).reference("three").await;
        }

        #[entry]
        async fn takes_less(this: This<Self>) {
            let (iteration, row, side) = this.when(Self::ghost).await;
        }
    }
}

mod generic_not_instantiated {
    use chare::prelude::*;

    struct Cell<T>(T);

    #[chare]
    impl<T: chare::Message> Cell<T> {
        #[entry]
        fn new(value: T) -> Self {
            Self(value)
        }

        #[entry]
        fn keep_value(&mut self, value: T) {}
    }

    chare::instantiate!(Cell<u8>);

    fn misuse(cell: CellProxy<u16>) {
        CellProxy::<u8>::create(3).keep_value(4);
        cell.keep_value(4);
    }
}

mod contributes_what_does_not_fold {
    use chare::prelude::*;

    fn contribute() {
        let _ = sum("text".to_owned());
        let _ = sum(true);
        let _ = chare::bit_or(1.5);
        let _ = chare::logical_and(1);
    }
}

mod of_a_trait_that_is_not_the_chares {
    use chare::prelude::*;

    #[entries]
    trait Shape {
        #[entry]
        fn area(&self) -> f64;
    }

    struct Square(f64);

    #[chare]
    impl Square {
        #[entry]
        fn new(side: f64) -> Self {
            Self(side)
        }
    }

    impl Shape for Square {
        fn area(&self) -> f64 {
            self.0
        }
    }

    struct Circle(f64);

    #[chare]
    impl Circle {
        #[entry]
        fn new(radius: f64) -> Self {
            Self(radius)
        }
    }

    fn misuse(circle: CircleProxy) {
        ShapeProxy::of(&circle).area();
    }
}

fn main() {}
