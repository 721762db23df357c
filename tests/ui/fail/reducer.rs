//! Reducers and balancers.

#![allow(unused)]

mod reducers {
    use chare::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Serialize, Deserialize)]
    struct Longest(String);

    #[reducer]
    impl Longest {}

    #[derive(Clone, Serialize, Deserialize)]
    struct Pair<T>(T, T);

    #[reducer]
    impl<T: chare::Message> Reducer for Pair<T> {
        fn fold(&mut self, other: Self) {}
    }

    #[reducer]
    struct Shortest(String);

    #[derive(Clone, Serialize, Deserialize)]
    struct Unmarked;

    impl Reducer for Unmarked {
        fn fold(&mut self, other: Self) {}
    }
}

mod balancers {
    use chare::{Loads, Moves};

    #[chare::balancer]
    struct Spread;

    #[chare::balancer(needs = positions, edges)]
    async unsafe fn everything<T>(loads: &Loads) -> u32 {
        0
    }

    #[chare::balancer(needs = edges, needs = edges)]
    fn twice(loads: &Loads, moves: &mut Moves) {}

    #[chare::balancer(=)]
    fn nothing(loads: &Loads, moves: &mut Moves) {}

    #[chare::balancer]
    fn exchanged(moves: &mut Moves, loads: &Loads) {}
}

fn main() {}
