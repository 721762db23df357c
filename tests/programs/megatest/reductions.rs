//! Reductions that follow each other without waiting.

use chare::prelude::*;
use chare::{ArrayOptions, Statistics};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Hears results, in the order in which they have to come.
struct Listener {
    heard: Vec<u64>,
    expected: usize,
    done: Callback<Vec<u64>>,
}

#[chare]
impl Listener {
    #[entry]
    fn new(expected: u64, done: Callback<Vec<u64>>) -> Self {
        Self { heard: Vec::new(), expected: expected as usize, done }
    }

    #[entry]
    fn hear(&mut self, result: u64) {
        self.heard.push(result);
        if self.heard.len() == self.expected {
            self.done.send(std::mem::take(&mut self.heard));
        }
    }
}

const ELEMENTS: u64 = 5;

struct Element;

#[chare(array)]
impl Element {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn contribute_twice(&mut self, first: Callback<u64>, second: Callback<u64>) {
        self.contribute(sum(1), first);
        self.contribute(sum(self.this_index()), second);
    }
}

struct Member;

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn contribute_twice(&mut self, first: Callback<u64>, second: Callback<u64>) {
        self.contribute(sum(1), first);
        self.contribute(sum(self.this_index()), second);
    }
}

pub(crate) async fn in_order() {
    let pes = u64::from(chare::pes());
    let arrays = [0, 1].map(|_| ElementProxy::create(ArrayOptions::new(ELEMENTS)));
    let group = MemberProxy::create();
    let listen = || {
        let (heard, done) = chare::future();
        (heard, ListenerProxy::create(2, done).hear_callback())
    };
    let ((heard_of_array, array), (heard_of_group, of_group)) = (listen(), listen());
    let (closures, first) = chare::future();
    let (second_closure, second) = chare::future();
    arrays[0].contribute_twice(array, array);
    // A function of this PE hears as well as an entry does.
    arrays[1].contribute_twice(
        Callback::once(move |sum| first.send(sum)),
        Callback::once(move |sum| second.send(sum)),
    );
    group.contribute_twice(of_group, of_group);
    assert_eq!(sorted(heard_of_array.await), [ELEMENTS, ELEMENTS * (ELEMENTS - 1) / 2]);
    assert_eq!((closures.await, second_closure.await), (ELEMENTS, ELEMENTS * (ELEMENTS - 1) / 2));
    let (ones, indices) = (pes, pes * pes.saturating_sub(1) / 2);
    assert_eq!(sorted(heard_of_group.await), sorted(vec![ones, indices]));
}

/// Two results on their way to one listener may overtake each other where messages run in random order.
fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

const DRAWN: u64 = 10_000;

struct Gambler;

#[chare(array)]
impl Gambler {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn draw(&mut self, done: Callback<(Statistics, f64, f64)>) {
        let drawn: f64 = SmallRng::seed_from_u64(self.this_index()).random();
        self.contribute(tuple((chare::statistics(drawn), min(drawn), max(drawn))), done);
    }
}

pub(crate) async fn statistics() {
    let gamblers = GamblerProxy::create(ArrayOptions::new(DRAWN));
    let (drawn, done) = chare::future();
    gamblers.draw(done);
    let (all, least, most) = drawn.await;
    assert_eq!(all.count, DRAWN);
    assert!((0.4..0.6).contains(&all.mean), "{all:?}");
    assert!((0.2..0.4).contains(&all.variance().sqrt()), "{all:?}");
    assert!(least < 0.1 && most > 0.9, "{least}, {most}");
    gamblers.destroy();
}
