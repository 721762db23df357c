//! Attributes of entries and post methods: where they stand, and their options.

#![allow(unused)]

mod entry_and_post {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        #[post(step)]
        fn step(&mut self) {}
    }
}

mod entry_twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        #[entry(expedited)]
        fn step(&mut self) {}
    }
}

mod on_a_constant {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        const WIDTH: usize = 3;
    }
}

mod outside {
    use chare::prelude::*;

    struct Cell;

    impl Cell {
        #[entry]
        fn step(&mut self) {}

        #[post(step)]
        fn step_post(&mut self) {}
    }
}

mod option_expedited_with_value {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(expedited = true)]
        fn step(&mut self) {}
    }
}

mod option_inline_that_waits {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(inline)]
        async fn run(this: This<Self>) {}

        #[entry(inline)]
        fn take(&mut self, #[nocopy] row: Received<f64>) {}
    }
}

mod option_priority_no_i32 {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(priority = "high")]
        fn step(&mut self) {}

        #[entry(priority = 2147483648)]
        fn stop(&mut self) {}

        #[entry(priority = 1_u8)]
        fn start(&mut self) {}

        #[entry(priority(5))]
        fn turn(&mut self) {}
    }
}

mod option_priority_of_expedited {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(expedited, priority = 1)]
        fn step(&mut self) {}
    }
}

mod option_twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(expedited, expedited)]
        fn step(&mut self) {}

        #[entry(priority = 1, priority = 2)]
        fn stop(&mut self) {}
    }
}

mod option_unknown {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(expedite)]
        fn step(&mut self) {}

        #[entry = "expedited"]
        fn stop(&mut self) {}
    }
}

mod option_when_idle_without_an_answer {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(when_idle)]
        fn rest(&mut self) {}

        #[entry(when_idle)]
        fn wait(&mut self, rounds: u32) -> bool {
            false
        }

        #[entry(when_idle, priority = 3)]
        fn dream(&mut self) -> bool {
            false
        }
    }
}

mod demand_of_a_group {
    use chare::prelude::*;

    struct Cell;

    #[chare(group)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(create_home)]
        fn step(&mut self) {}
    }
}

mod demand_twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(create_home, create_here)]
        fn step(&mut self) {}
    }
}

mod demand_with_arguments {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new(_width: u32) -> Self {
            Self
        }

        #[entry(create_here)]
        fn step(&mut self) {}
    }
}

mod aggregated {
    use chare::prelude::*;

    struct Table {
        counts: Vec<u64>,
    }

    #[chare(array)]
    impl Table {
        #[entry]
        fn new() -> Self {
            Self { counts: Vec::new() }
        }

        #[entry(aggregate)]
        fn receives(&mut self, #[nocopy] row: Received<f64>) {}

        #[entry(aggregate)]
        fn answers(&mut self, key: u64) -> u64 {
            key
        }

        #[entry(aggregate, inline)]
        fn is_two_things(&mut self, key: u64) {}

        #[entry(create_home, aggregate)]
        fn makes_its_element(&mut self, key: u64) {}

        #[entry(aggregate, aggregate)]
        fn is_marked_twice(&mut self, key: u64) {}

        #[entry(aggregate(dimensions = 4))]
        fn has_no_such_grid(&mut self, key: u64) {}

        #[entry(aggregate(buffer_bytes = 0))]
        fn has_no_room(&mut self, key: u64) {}

        #[entry(aggregate(items = 100))]
        fn has_no_such_option(&mut self, key: u64) {}

        #[entry(aggregate = 100)]
        fn has_no_name_for_it(&mut self, key: u64) {}

        #[entry(aggregate(dimensions = 1, dimensions = 2))]
        fn has_two_grids(&mut self, key: u64) {}
    }

    struct Alone;

    #[chare]
    impl Alone {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry(aggregate)]
        fn has_no_neighbours(&mut self, key: u64) {}
    }

    #[entries]
    trait Described {
        #[entry(aggregate)]
        fn describe(&mut self, key: u64);
    }
}

fn main() {}
