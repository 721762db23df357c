//! Chares that are to move and cannot, and their hooks.

#![allow(unused)]

mod again_in_other_forms {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Cell;

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn plain(this: Again<Self>) {}

        #[entry]
        async fn read(this: Again<Self>, #[nocopy] values: Received<f64>) {}

        #[entry(aggregate)]
        async fn add(this: Again<Self>, value: f64) {}

        #[entry(inline)]
        async fn inside(this: Again<Self>) {}
    }
}

mod again_of_one_that_stays {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn run(this: Again<Self>) {}
    }

    #[entries]
    trait Runs {
        #[entry]
        async fn run(this: Again<Self>);
    }
}

mod again_without_sync {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Cell;

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn run(this: Again<Self>) {
            this.sync().await;
        }

        #[entry]
        async fn once(this: This<Self>) {
            this.sync().await;
        }
    }
}

mod bound_of_one_that_stays {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }
    }

    fn moves<C: chare::Migrates>() {}

    fn misuse() {
        moves::<Cell>();
    }
}

mod hooks_in_other_forms {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Cell;

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[about_to_move]
        async fn pack(&mut self) {}

        #[moved]
        fn unpack(&mut self) {}

        #[moved]
        fn unpack_more(&mut self, from: PeId) {}

        #[load(measured)]
        fn work(&self) -> f64 {
            1.0
        }

        #[position]
        fn place(&self) -> (f64, f64) {
            (0.0, 1.0)
        }

        #[load]
        const WORK: f64 = 1.0;
    }
}

mod hooks_of_one_that_stays {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[load]
        fn work(&self) -> f64 {
            1.0
        }
    }
}

mod hooks_outside {
    struct Cell;

    impl Cell {
        #[chare::about_to_move]
        fn pack(&mut self) {}

        #[chare::moved]
        fn unpack(&mut self, from: chare::PeId) {}

        #[chare::load]
        fn work(&self) -> f64 {
            1.0
        }

        #[chare::position]
        fn place(&self) -> [f64; 1] {
            [0.0]
        }
    }
}

mod of_a_group {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Cell;

    #[chare(group, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }
    }
}

mod of_one {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Cell;

    #[chare(migrate, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }
    }
}

mod state_not_serializable {
    use chare::prelude::*;

    struct Cell {
        row: Vec<f64>,
    }

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: Vec::new() }
        }
    }
}

mod state_of_a_pe {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};
    use std::rc::Rc;

    #[derive(Serialize, Deserialize)]
    struct Cell {
        #[serde(skip)]
        row: Rc<Vec<f64>>,
        #[serde(skip, default = "awaited")]
        sum: chare::Future<f64>,
    }

    fn awaited() -> chare::Future<f64> {
        chare::future().0
    }

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: Rc::default(), sum: awaited() }
        }
    }
}

fn main() {}
