//! Names that generated code might get wrong: the user's own stay the user's own.
#![deny(warnings)]

use chare::prelude::*;

mod support {
    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub struct Into;
}

mod cells {
    pub struct Cell(pub u8);
}

#[allow(non_camel_case_types)]
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct step;

#[chare(array)]
impl cells::Cell {
    pub const SIDES: usize = 4;

    #[entry]
    pub fn create_cell(options: u8, pe: u16) -> Self {
        cells::Cell(options + pe as u8)
    }

    #[entry]
    pub fn step(
        &mut self,
        step: step,
        arguments: support::Into,
        nocopy: u8,
        this: u8,
        chare: u8,
        support: u8,
    ) {
        let _ = (step, arguments, nocopy + this + chare + support);
    }

    #[entry]
    pub fn r#match(&mut self, r#type: [u8; Self::SIDES]) {
        let _ = r#type;
    }

    #[entry]
    pub fn sides(&mut self, sides: Vec<[CellProxy; Self::SIDES]>) {
        let _ = sides;
    }

    #[entry]
    #[allow(clippy::too_many_arguments)]
    pub fn most(
        &mut self,
        a: u8,
        b: u8,
        c: u8,
        d: u8,
        e: u8,
        f: u8,
        g: u8,
        h: u8,
        i: u8,
        j: u8,
        k: u8,
        l: u8,
        #[nocopy] m: chare::prelude::Received<u8>,
    ) {
        let _ = ([a, b, c, d, e, f, g, h, i, j, k, l], m);
    }
}

/// A chare inside a function.
fn local() {
    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    struct Local;

    #[chare]
    impl Local {
        #[entry]
        fn new() -> Self {
            Local
        }

        #[entry]
        fn receive(&mut self, other: Self, proxy: LocalProxy) {
            let _ = (other, proxy);
        }
    }

    let local = LocalProxy::create();
    local.receive(Local, local.clone());
}

fn use_proxies() {
    let cell = CellProxy::create(3, 1, 2).at(0);
    cell.step(step, support::Into, 0, 0, 0, 0);
    cell.r#match([0; 4]);
    let callback: Callback<[u8; 4]> = cell.match_callback();
    let _ = callback;
    cell.most(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, vec![0]);
}

/// Methods that a program gives proxies by itself, called as methods of the chare are that no message calls.
mod own_methods {
    use chare::prelude::*;

    pub struct Counter<T>(T);

    #[chare(array)]
    impl<T: chare::Message + Clone> Counter<T> {
        #[entry]
        pub fn new(value: T) -> Self {
            Self(value)
        }

        #[entry]
        pub fn set(&mut self, value: T) {
            self.0 = value;
            self.reset();
        }

        #[entry]
        pub fn value(&self) -> T {
            self.0.clone()
        }

        fn reset(&mut self) {}

        fn twice(&self) -> (T, T) {
            (self.0.clone(), self.0.clone())
        }
    }

    chare::instantiate!(Counter<u8>);

    impl CounterProxy<u8> {
        pub fn reset(&self, value: u8) {
            self.set(value);
        }

        pub fn value(&self) -> u8 {
            unreachable!("a way of its own to ask all")
        }
    }

    pub trait Twice {
        fn twice(&self, value: u8);
    }

    impl Twice for CounterElementProxy<u8> {
        fn twice(&self, value: u8) {
            self.set(value);
            self.set(value);
        }
    }

    fn use_them(counters: CounterProxy<u8>) {
        counters.reset(1);
        counters.at(0).twice(2);
        let _: u8 = counters.value();
    }
}
