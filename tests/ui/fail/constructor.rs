//! Constructors: each chare has one, without options.

#![allow(unused)]

mod constructor_async {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        async fn new() -> Self {
            Self
        }
    }
}

mod conditional {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        #[cfg(unix)]
        fn new() -> Self {
            Self
        }
    }
}

mod missing {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn step(&mut self) {}
    }
}

mod nocopy {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new(#[nocopy] row: Received<f64>) -> Self {
            let _ = row;
            Self
        }
    }
}

mod options {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry(expedited)]
        fn new() -> Self {
            Self
        }
    }
}

mod returns_another {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Option<Self> {
            Some(Self)
        }
    }
}

mod twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn with_seed(seed: u64) -> Self {
            let _ = seed;
            Self
        }
    }
}

mod unmarked {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

fn main() {}
