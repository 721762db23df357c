//! Parameters that are received without a copy; and post methods: whose they are, and their parameters.

#![allow(unused)]

mod of_another_type {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[nocopy] row: Vec<f64>) {}

        #[entry]
        fn stop(&mut self, #[nocopy] row: Posted<f64>) {}
    }
}

mod outside_an_entry {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        fn step(&mut self, #[nocopy] row: Received<f64>) {}

        #[entry]
        fn stop(#[nocopy] &mut self) {}
    }
}

mod post_of_another_type {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[nocopy(post)] row: Received<f64>) {}

        #[post(step)]
        fn step_post(&mut self, row: Post<f64>) {}
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
        fn step(&mut self, #[nocopy] #[nocopy] row: Received<f64>) {}
    }
}

mod unknown {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[nocopy(recv)] row: Received<f64>) {}
    }
}

mod unmarked {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, row: Received<f64>) {}

        #[entry]
        fn stop(&mut self, row: Posted<f64>) {}
    }
}

mod device_misused {
    use chare::prelude::*;
    use chare::{DeviceBuffer, DeviceBufferMut, DeviceLanding, DevicePosted, DeviceReceived};

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn unmarked(&mut self, row: DeviceReceived<f64>) {}

        #[entry]
        fn posted_unmarked(&mut self, row: DevicePosted<f64>) {}

        #[entry]
        fn bare(&mut self, #[nocopy] row: DeviceBuffer<f64>) {}

        #[entry]
        fn unposted(&mut self, #[nocopy] row: DevicePosted<f64>) {}

        #[entry]
        fn land(&mut self, #[nocopy(post)] row: DeviceReceived<f64>) {}

        #[post(land)]
        fn post_land(&mut self, row: Post<f64>) {}
    }
}

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

mod posted_twice {
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
