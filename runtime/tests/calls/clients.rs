//! Clients of one array that know nothing of each other: each calls all elements, which contribute to the callback that came with the call,
//! and awaits its own result. Whatever the order of events, each client gets the sum over what its own calls brought.

use chare::prelude::*;
use chare::{ArrayOptions, Job, NameError};
use serde::{Deserialize, Serialize};

/// Nodes and PEs per node.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 2), (1, 4), (2, 1), (3, 2)];

/// How an element contributes to what a call begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Way {
    /// In the entry that the call runs.
    AtOnce,
    /// In an entry that it calls of itself.
    Later,
    /// In an entry that another element calls.
    FromAnother,
}

const WAYS: [Way; 3] = [Way::AtOnce, Way::Later, Way::FromAnother];

/// Runs a program in a job of each shape, under several orders of events.
fn in_every_job<Fut: Future<Output = ()> + 'static>(main: impl Fn() -> Fut + Send + Clone + 'static) {
    for (nodes, pes) in SHAPES {
        for seed in 0..4 {
            let job = Job::in_process(nodes, pes).shuffled(seed).run(main.clone());
            assert_eq!(job.unwrap_or_else(|error| panic!("{nodes} x {pes}, seed {seed}: {error}")), 0);
        }
    }
}

struct Cell {
    cells: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new(cells: u64) -> Self {
        Self { cells }
    }

    #[entry]
    fn step(&mut self, factor: u64, way: Way, done: Callback<u64>) {
        let next = (self.this_index() + 1) % self.cells;
        match way {
            Way::AtOnce => self.add(factor, done),
            Way::Later => self.this_chare().add(factor, done),
            Way::FromAnother => self.this_collection().at(next).add(factor, done),
        }
    }

    #[entry]
    fn add(&mut self, factor: u64, done: Callback<u64>) {
        self.contribute(sum(factor * (1 + self.this_index())), done);
    }
}

/// The sum over all cells.
fn expected(cells: u64, factor: u64) -> u64 {
    factor * cells * (cells + 1) / 2
}

/// On each PE: calls all cells again and again, each time when it has its result.
struct Client {
    array: CellProxy,
    cells: u64,
    way: Way,
    rounds: u64,
    over: Callback<()>,
}

#[chare(group)]
impl Client {
    #[entry]
    fn new(array: CellProxy, cells: u64, way: Way, over: Callback<()>) -> Self {
        Self { array, cells, way, rounds: 5, over }
    }

    #[entry]
    fn go(&mut self) {
        let factor = 10 * self.this_index() + self.rounds;
        self.array.step(factor, self.way, self.this_chare().result_callback());
    }

    #[entry]
    fn result(&mut self, result: u64) {
        let factor = 10 * self.this_index() + self.rounds;
        assert_eq!(result, expected(self.cells, factor));
        self.rounds -= 1;
        match self.rounds {
            0 => self.contribute(barrier(), self.over),
            _ => self.go(),
        }
    }
}

async fn serve_clients(cells: u64, make: impl Fn(u64) -> CellProxy) {
    for way in WAYS {
        let array = make(cells);
        let (over, all) = chare::future();
        ClientProxy::create(array.clone(), cells, way, all).go();
        for _ in 0..3 {
            let results: Vec<_> = (0..4)
                .map(|client| {
                    let (result, done) = chare::future();
                    array.step(1000 + client, way, done);
                    result
                })
                .collect();
            for (client, result) in (0..).zip(results) {
                assert_eq!(result.await, expected(cells, 1000 + client), "{way:?}");
            }
        }
        over.await;
    }
}

#[test]
fn clients_of_an_array_each_get_their_own_results() {
    in_every_job(|| serve_clients(7, |cells| CellProxy::create(cells, cells)));
}

#[test]
fn clients_of_an_array_that_may_grow_each_get_their_own_results() {
    in_every_job(|| serve_clients(7, |cells| CellProxy::create(ArrayOptions::new(cells).dynamic(), cells)));
}

struct Guest {
    heard: Callback<(u64, u64)>,
}

#[chare(array)]
impl Guest {
    #[entry]
    fn new(heard: Callback<(u64, u64)>) -> Self {
        Self { heard }
    }

    #[entry]
    fn step(&mut self, call: u64, later: bool, done: Callback<u64>) {
        self.heard.send((call, 1 << self.this_index()));
        match later {
            false => self.add(done),
            true => self.this_chare().add(done),
        }
    }

    #[entry]
    fn add(&mut self, done: Callback<u64>) {
        self.contribute(sum(1u64 << self.this_index()), done);
    }

    #[entry]
    fn leave(&mut self) {
        chare::destroy();
    }
}

/// Calls of several clients beside births and deaths: each result is the sum over who heard the call.
#[test]
fn clients_of_an_array_get_the_sum_over_who_hears_the_call_while_elements_come_and_go() {
    in_every_job(|| async {
        let heard = std::rc::Rc::new(std::cell::RefCell::new([0; 64]));
        let note = std::rc::Rc::clone(&heard);
        let hear = Callback::each(move |(call, bit): (u64, u64)| note.borrow_mut()[call as usize] += bit);
        let guests = GuestProxy::create(ArrayOptions::new(3).dynamic(), hear);
        let mut results = Vec::new();
        for round in 0..16 {
            for client in 0..3 {
                let (result, done) = chare::future();
                guests.step(results.len() as u64, (round + client) % 2 == 0, done);
                results.push(result);
                guests
                    .at(3 + 3 * round + client)
                    .insert_on(PeId((round * 5 + client) as u32 % chare::pes()), hear);
            }
        }
        let mut sums = Vec::new();
        for result in results {
            sums.push(result.await);
        }
        chare::quiescence().await;
        assert_eq!(heard.borrow()[..sums.len()], sums);
    });
}

/// Encodes, and refuses to be decoded.
#[derive(Clone, Serialize)]
struct OneWay;

impl<'de> Deserialize<'de> for OneWay {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("it leads nowhere"))
    }
}

/// Finds all names from its PE.
struct Finder;

#[chare(group)]
impl Finder {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn find(this: This<Self>, names: Vec<String>, done: Callback<u64>) {
        for (number, name) in names.iter().enumerate() {
            let found = chare::named::<FinderElementProxy>(name).await.expect("it is registered");
            let expected = this.this_collection().on(PeId(number as u32 % chare::pes()));
            assert_eq!(found, expected, "{name}");
            let unknown = chare::named::<FinderElementProxy>(&format!("{name}?")).await;
            assert_eq!(unknown, Err(NameError::Unknown { name: format!("{name}?") }));
        }
        this.with(|finder| finder.contribute(sum(1), done));
    }

    /// Tries to have the name.
    #[entry]
    async fn claim(this: This<Self>, name: String, done: Callback<u64>) {
        let claimed = chare::register(&name, &this.this_chare()).await;
        if let Err(error) = &claimed {
            let what = std::any::type_name::<FinderElementProxy>().to_owned();
            assert_eq!(*error, NameError::Taken { name, what });
        }
        this.with(|finder| finder.contribute(sum(u64::from(claimed.is_ok())), done));
    }
}

#[test]
fn names_are_found_from_everywhere_and_one_of_many_gets_each() {
    in_every_job(|| async {
        let finders = FinderProxy::create();
        let names: Vec<String> = (0..8).map(|number| format!("finder {number}")).collect();
        for (number, name) in names.iter().enumerate() {
            let finder = finders.on(PeId(number as u32 % chare::pes()));
            chare::register(name, &finder).await.expect("the name is free");
        }
        let (found, done) = chare::future();
        finders.find(names.clone(), done);
        assert_eq!(found.await, u64::from(chare::pes()));
        let (claimed, done) = chare::future();
        finders.claim("contended".to_owned(), done);
        assert_eq!(claimed.await, 1);
        let error = chare::named::<FinderProxy>(&names[0]).await.expect_err("it is one of the group");
        let words = error.to_string();
        assert!(words.contains("FinderElementProxy") && words.contains("FinderProxy`"), "{words}");
        chare::register("a door", &OneWay).await.expect("the name is free");
        let error = chare::named::<OneWay>("a door").await.map(|_| ()).expect_err("it cannot be decoded");
        let words = error.to_string();
        assert!(words.contains("OneWay`, but it refuses") && words.ends_with("it leads nowhere"), "{words}");
        let long = "n".repeat(300);
        assert_eq!(chare::register(&long, &1_u64).await, Err(NameError::NoRoom { name: long }));
    });
}
