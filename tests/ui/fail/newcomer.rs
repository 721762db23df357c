//! Mistakes of the first hour.

#![allow(unused)]

mod forgets_to_mark_an_entry {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        fn step(&mut self, iteration: u32) {}

        fn value(&self) -> f64 {
            1.0
        }
    }

    async fn call(cells: CellProxy) {
        cells.step(1);
        cells.at(3).step(1);
        let value = cells.at(3).value().await;
    }
}

mod awaits_the_answer_of_all {
    use chare::prelude::*;

    struct Cell;

    #[chare(group)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn value(&self, scale: f64) -> f64 {
            scale
        }
    }

    async fn call(cells: CellProxy) {
        let one: f64 = cells.local().value(1.0).await;
        let all: f64 = cells.value(1.0).await;
    }
}

mod takes_fields_of_this {
    use chare::prelude::*;

    struct Cell {
        n: u32,
        rows: Vec<f64>,
    }

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { n: 0, rows: Vec::new() }
        }

        #[entry]
        async fn run(this: This<Self>, rounds: u32) {
            this.n += rounds;
            this.rows.push(1.0);
        }

        // Nothing is said where the name may mean something else.
        #[entry]
        async fn walk(this: This<Self>) {
            this.with(|this| this.n += 1);
        }
    }
}

mod counts_by_usize {
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
    }

    fn call(cells: CellProxy) {
        for index in 0..vec![1.0].len() {
            cells.at(index).step();
        }
    }
}

fn main() {}
