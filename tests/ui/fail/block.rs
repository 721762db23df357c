//! What stands at the head of a block: kinds, indices, policies; and of a struct that has layouts.

#![allow(unused)]

mod generic {
    use chare::prelude::*;

    struct Cell<'a>(&'a str);

    #[chare(array)]
    impl<'a> Cell<'a> {
        #[entry]
        fn new() -> Self {
            Self("")
        }
    }

    struct Row<T>(T);

    #[chare(array)]
    impl Row<f64> {
        #[entry]
        fn new(value: f64) -> Self {
            Self(value)
        }
    }
}

mod malformed_kind {
    use chare::prelude::*;

    struct Cell;

    #[chare("array")]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod not_an_impl {
    use chare::prelude::*;

    #[chare(array)]
    struct Cell;
}

mod of_a_trait {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Default for Cell {
        #[entry]
        fn default() -> Self {
            Self
        }
    }
}

mod policy_text {
    use chare::prelude::*;

    struct Cell;

    #[chare(on_panic = "answer")]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod policy_twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(group, on_panic = answer, on_panic = renew)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod policy_unknown {
    use chare::prelude::*;

    struct Cell;

    #[chare(array, on_panic = ignore)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod two_kinds {
    use chare::prelude::*;

    struct Cell;

    #[chare(array, group)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod unknown_kind {
    use chare::prelude::*;

    struct Cell;

    #[chare(aray)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod unknown_kind_value {
    use chare::prelude::*;

    struct Cell;

    #[chare(array = 3)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod index_of_a_group {
    use chare::prelude::*;

    struct Cell;

    #[chare(group, index = u32)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod index_twice {
    use chare::prelude::*;

    struct Cell;

    #[chare(array, index = u32, index = (u32, u32))]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self) {}
    }
}

mod layouts_of_fields {
    use chare::Layout;

    #[derive(Layout)]
    struct Nothing {
        id: u64,
        x: [f64; 3],
    }

    #[derive(Layout)]
    #[layout]
    #[layout()]
    #[layout(x, id)]
    #[layout(place = id)]
    struct Malformed {
        id: u64,
        x: [f64; 3],
    }

    #[derive(Layout)]
    #[layout(place(x, charge), nothing(), twice(x, x))]
    #[layout(number(id))]
    #[layout(number(x))]
    struct Names {
        id: u64,
        #[layout(position)]
        x: [f64; 3],
    }

    #[derive(Layout)]
    #[layout(first(0))]
    struct Tuple(u64);

    #[derive(Layout)]
    #[layout(first(a))]
    enum Either {
        A { a: u64 },
    }

    #[derive(Layout)]
    #[layout(value(value))]
    struct Generic<T> {
        value: T,
    }

    fn names() {
        // What is sound of a struct is there.
        let _ = Names::number().len();
    }
}

fn main() {}
