//! Conditional methods and blocks: what is generated for them is conditional too.
#![deny(warnings)]

use chare::prelude::*;

struct Cell;

#[chare(array)]
#[cfg(not(any()))]
impl Cell {
    #[entry]
    fn new() -> Self {
        Cell
    }

    #[cfg(any())]
    #[entry]
    fn never(&mut self, argument: NoSuchType) {}

    #[entry]
    #[cfg(not(any()))]
    fn either(&mut self, argument: u8) {
        let _ = argument;
    }

    #[entry]
    #[cfg(any())]
    fn either(&mut self, argument: u16) {
        let _ = argument;
    }

    #[cfg(any())]
    #[entry]
    fn posted(&mut self, #[nocopy(post)] argument: Posted<u8>) {}

    #[cfg(any())]
    #[post(posted)]
    fn post(&mut self, argument: Post<u8>) {}

    #[entry]
    fn last(&mut self) {}

    #[entry]
    #[deprecated]
    fn old(&mut self) {}
}

struct Never;

#[chare]
#[cfg(any())]
impl Never {
    #[entry]
    fn new() -> Self {
        NoSuchValue
    }
}

fn use_proxies() {
    let cells = CellProxy::create(1);
    cells.either(1_u8);
    cells.last();
}
