//! Calls that return, calls that run at once, and chares of many types.

use chare::prelude::*;
use chare::{ArrayOptions, Message};

struct Counter {
    value: u64,
}

#[chare(group)]
impl Counter {
    #[entry]
    fn new() -> Self {
        Self { value: 0 }
    }

    #[entry(inline)]
    fn add(&mut self, value: u64) {
        self.value += value;
    }

    #[entry(inline)]
    fn read(&mut self) -> u64 {
        self.value
    }
}

/// Looks whether a call of its own PE has happened when it returns.
struct Looker;

#[chare(group)]
impl Looker {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn look(&mut self, counters: CounterProxy, done: Callback<u64>) {
        let counter = counters.local();
        for round in 1..=10 {
            counter.add(3);
            assert_eq!(counter.with_value(), round * 3);
        }
        self.contribute(sum(1), done);
    }
}

impl CounterElementProxy {
    fn with_value(&self) -> u64 {
        self.local(|counter| counter.value).expect("it is on this PE")
    }
}

pub(crate) async fn inline() {
    let (looked, done) = chare::future();
    LookerProxy::create().look(CounterProxy::create(), done);
    assert_eq!(looked.await, u64::from(chare::pes()));
}

const CHARES: u64 = 100;

struct Adder {
    own: u64,
}

#[chare]
impl Adder {
    #[entry]
    fn new(own: u64) -> Self {
        Self { own }
    }

    #[entry]
    fn add(&mut self, more: u64) -> u64 {
        self.own + more
    }
}

struct Element;

#[chare(array)]
impl Element {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn divide(&mut self, by: u64) -> Result<u64, String> {
        self.this_index().checked_div(by).ok_or_else(|| format!("{} divided by nothing", self.this_index()))
    }
}

pub(crate) async fn synchronous() {
    for number in 0..CHARES {
        assert_eq!(AdderProxy::create(number).add(7).await, number + 7);
    }
    let array = ElementProxy::create(ArrayOptions::new(CHARES));
    for number in 0..CHARES {
        assert_eq!(array.at(number).divide(2).await, Ok(number / 2));
    }
    assert_eq!(array.at(9).divide(0).await, Err("9 divided by nothing".to_owned()));
    array.destroy();
}

/// Keeps a value of any type.
struct Keeper<T> {
    value: T,
}

#[chare]
impl<T: Message + Clone> Keeper<T> {
    #[entry]
    fn new(value: T) -> Self {
        Self { value }
    }

    #[entry]
    fn replace(&mut self, value: T) -> T {
        std::mem::replace(&mut self.value, value)
    }
}

/// The same, on every PE.
struct Everywhere<T> {
    value: T,
}

#[chare(group)]
impl<T: Message + Clone> Everywhere<T> {
    #[entry]
    fn new(value: T) -> Self {
        Self { value }
    }

    #[entry]
    fn collect(&mut self, done: Callback<Vec<T>>) {
        self.contribute(set(self.value.clone()), done);
    }
}

chare::instantiate!(Keeper<i32>, Keeper<String>, Everywhere<(u8, String)>);

pub(crate) async fn generic() {
    let (number, text) = (KeeperProxy::create(5), KeeperProxy::create("five".to_owned()));
    assert_eq!(number.replace(6).await, 5);
    assert_eq!(number.replace(7).await, 6);
    assert_eq!(text.replace("six".to_owned()).await, "five");
    let (values, done) = chare::future();
    EverywhereProxy::create((3, "three".to_owned())).collect(done);
    assert_eq!(values.await, vec![(3, "three".to_owned()); chare::pes() as usize]);
}
