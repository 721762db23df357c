//! Post methods: whose they are, and their parameters.

#![allow(unused)]

mod post_async {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        async fn give(&mut self, side: &u8, row: Post<f64>) {}
    }
}

mod lacks_a_parameter {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(&mut self, row: Post<f64>) {}
    }
}

mod missing {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy] old: Received<u8>, #[nocopy(post)] row: Posted<f64>) {}
    }
}

mod of_nothing {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[post]
        fn give(&mut self) {}
    }
}

mod of_plain_entry {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[nocopy] row: Received<f64>) {}

        #[post(step)]
        fn give(&mut self, row: Post<f64>) {}
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

        #[post(hallo)]
        fn give(&mut self, row: Post<f64>) {}
    }
}

mod returns_a_value {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(&mut self, side: &u8, row: Post<f64>) -> bool {
            true
        }
    }
}

mod takes_a_value {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(&mut self, side: u8, row: Post<f64>) {}
    }
}

mod takes_the_posted {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(&mut self, side: &u8, row: Posted<f64>) {}
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
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(&mut self, side: &u8, row: Post<f64>) {}

        #[post(halo)]
        fn give_again(&mut self, side: &u8, row: Post<f64>) {}
    }
}

mod without_receiver {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn halo(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}

        #[post(halo)]
        fn give(side: &u8, row: Post<f64>) {}
    }
}

fn main() {}
