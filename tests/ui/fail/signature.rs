//! Receivers, parameters, results and names of entries.

#![allow(unused)]

mod async_takes_self {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn run(&mut self, rounds: u32) {}
    }
}

mod async_without_this {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn run(rounds: u32) {}
    }
}

mod borrowed_argument {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, name: &str, names: Vec<&'static str>) {}

        #[entry]
        fn stop(&mut self, name: std::borrow::Cow<'_, str>) {}
    }
}

mod conditional_parameter {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[cfg(unix)] value: u8) {}
    }
}

mod generic {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step<T>(&mut self, value: T) {}

        #[entry]
        fn stop<'a>(&mut self, value: u8) {}

        #[entry]
        fn turn(&mut self, value: u8)
        where
            u8: Copy,
        {
        }
    }
}

mod impl_trait_argument {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, value: impl Into<u32>, values: Vec<impl Copy>) {}
    }
}

mod pattern_parameter {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, (x, y): (u32, u32)) {}

        #[entry]
        fn stop(&mut self, _: u8) {}
    }
}

mod plain_takes_this {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn run(this: This<Self>, rounds: u32) {}
    }
}

mod qualified {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        unsafe fn step(&mut self) {}

        #[entry]
        extern "C" fn stop(&mut self) {}

        #[entry]
        const fn turn(&mut self) {}
    }
}

mod returns_a_borrow {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn name(&self) -> &'static str {
            "cell"
        }

        #[entry]
        fn names(&self) -> Option<impl Iterator<Item = String>> {
            Some(std::iter::empty())
        }
    }
}

mod takes_a_typed_self {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(self: std::rc::Rc<Self>) {}

        #[entry]
        fn stop(self: &mut Self) {}
    }
}

mod takes_self_by_value {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(self) {}

        #[entry]
        fn stop(mut self) {}
    }
}

mod takes_this_as_argument {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn run(&mut self, this: This<Self>) {}
    }
}

mod takes_this_of_another {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn run(this: This<u8>, rounds: u32) {}
    }
}

mod too_many_arguments {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8) {}
    }
}

mod without_body {
    use chare::prelude::*;

    struct Cell;

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32);
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
        fn step(iteration: u32) {}
    }
}

mod named_like_a_callback {
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

        #[entry]
        fn step_callback(&mut self) {}
    }
}

mod named_like_a_proxy_method {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn at(&mut self) {}

        #[entry]
        fn clone(&mut self) {}
    }
}

fn main() {}
