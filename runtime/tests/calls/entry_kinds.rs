//! Kinds of entries: those that are called in other ways than by a queued message, and those that others must not disturb.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{Job, JobError};
use std::rc::Rc;

const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 2), (3, 1)];

/// Keeps what cannot travel.
struct Shelf {
    items: Vec<Rc<str>>,
}

#[chare(group)]
impl Shelf {
    #[entry]
    fn new() -> Self {
        Self { items: Vec::new() }
    }

    #[entry(local)]
    fn put(&mut self, item: &Rc<str>) -> usize {
        self.items.push(Rc::clone(item));
        self.items.len()
    }

    /// In its entries the chare is the one that runs.
    #[entry(local)]
    fn places(&self, offset: u32) -> (PeId, Vec<PeId>) {
        let me = self.this_index();
        (PeId(me as u32 + offset), self.items.iter().map(|_| chare::my_pe()).collect())
    }

    #[entry]
    fn reach(&mut self, other: PeId) {
        self.this_collection().on(other).put(&"far".into());
    }

    #[entry]
    fn reach_itself(&mut self) {
        self.this_chare().put(&"mine".into());
    }
}

/// Puts things on the shelf of its PE.
struct Visitor;

#[chare(group)]
impl Visitor {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn visit(&mut self, shelves: ShelfProxy, done: Callback<u64>) {
        let shelf = shelves.local();
        let item: Rc<str> = "near".into();
        for count in 1..=3 {
            assert_eq!(shelf.put(&item), count);
        }
        assert_eq!(Rc::strong_count(&item), 4, "nothing was copied");
        assert_eq!(shelf.places(0), (chare::my_pe(), vec![chare::my_pe(); 3]));
        self.contribute(sum(1), done);
    }
}

#[test]
fn a_local_entry_is_a_function_call_of_a_neighbour() {
    on_every_path(&SHAPES, || async {
        let (visited, done) = chare::future();
        // Before the visitors, whose calls wait for them alone.
        let shelves = ShelfProxy::create();
        VisitorProxy::create().visit(shelves, done);
        assert_eq!(visited.await, u64::from(chare::pes()));
    });
}

#[track_caller]
fn assert_panics(body: impl Fn(ShelfProxy) + Send + Clone + 'static, parts: [&str; 2]) {
    let error = Job::in_process(1, 2)
        .run(move || async move {
            body(ShelfProxy::create());
            chare::quiescence().await;
        })
        .unwrap_err();
    let JobError::Panic { what, cause, .. } = error else { panic!("{error}") };
    assert!(what.contains(parts[0]) && cause.contains(parts[1]), "{what}: {cause}");
}

#[test]
fn a_local_entry_of_a_chare_elsewhere_ends_the_job_and_names_it() {
    assert_panics(
        |shelves| shelves.on(PeId(0)).reach(PeId(1)),
        ["Shelf::reach of member 0", "Shelf::put is a local entry, and member 1 of"],
    );
    assert_panics(
        |shelves| shelves.on(PeId(0)).reach_itself(),
        ["Shelf::put of member 0", "borrowed already"],
    );
}

struct Log {
    seen: Vec<u32>,
}

#[chare(group)]
impl Log {
    #[entry]
    fn new() -> Self {
        Self { seen: Vec::new() }
    }

    #[entry]
    fn note(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry(expedited)]
    fn note_soon(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry(immediate)]
    fn note_at_once(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry]
    fn fill(&mut self, to: PeId) {
        let log = self.this_collection().on(to);
        log.note(5);
        log.note_soon(3);
        log.note_at_once(1);
        log.note_soon(4);
        log.with(chare::CallOptions::new().immediate()).note(2);
        log.note_callback().send(6);
    }

    #[entry]
    fn read(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.seen)
    }
}

#[test]
fn immediate_calls_overtake_expedited_ones() {
    // To itself: all is queued before anything runs.
    let code = Job::in_process(1, 1).run(|| async {
        let log = LogProxy::create().on(PeId(0));
        log.fill(PeId(0));
        chare::quiescence().await;
        assert_eq!(log.read().await, [1, 2, 3, 4, 5, 6]);
    });
    assert_eq!(code.unwrap(), 0);
    // To others: they come one by one, and all of them.
    on_every_path(&SHAPES, || async {
        let log = LogProxy::create();
        let last = PeId(chare::pes() - 1);
        log.on(PeId(0)).fill(last);
        chare::quiescence().await;
        let mut seen = log.on(last).read().await;
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    });
}

/// One for all PEs of a node; every entry that is not `async` is exclusive.
struct Account {
    balance: u64,
    visits: u64,
}

#[chare(nodegroup)]
impl Account {
    #[entry]
    fn new() -> Self {
        Self { balance: 0, visits: 0 }
    }

    /// Would lose updates if another entry ran meanwhile, on whichever PE.
    #[entry]
    fn deposit(&mut self, amount: u64) {
        let before = self.balance;
        self.visits += 1;
        std::thread::yield_now();
        self.balance = before + amount;
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(sum(vec![self.balance, self.visits]), done);
    }
}

struct Customer;

#[chare(group)]
impl Customer {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn pay(&mut self, accounts: AccountProxy, times: u64) {
        (1..=times).for_each(|amount| accounts.local().deposit(amount));
    }
}

/// Passes a call on, by its own index.
struct Neighbour;

#[chare(group)]
impl Neighbour {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn pass(&mut self, seen: Vec<u64>, to: Callback<Vec<u64>>) {
        let (all, me) = (self.this_collection(), self.this_index());
        assert_eq!(PeId::from(me), chare::my_pe());
        let seen: Vec<_> = seen.into_iter().chain([me]).collect();
        match seen.len() as u64 == u64::from(chare::pes()) {
            true => to.send(seen),
            false => all.on(me + 1).pass(seen, to),
        }
    }

    #[entry]
    fn count(&mut self, done: Callback<u64>, section: NeighbourSectionProxy) {
        self.contribute_to(&section, sum(1), done);
    }
}

#[test]
fn members_of_groups_are_called_by_their_own_index() {
    on_every_path(&SHAPES, || async {
        let neighbours = NeighbourProxy::create();
        let (seen, to) = chare::future();
        neighbours.on(0).pass(Vec::new(), to);
        let seen = seen.await;
        assert_eq!(seen, (0..u64::from(chare::pes())).collect::<Vec<_>>());
        let section = neighbours.section(seen);
        let (counted, done) = chare::future();
        section.count(done, section.clone());
        assert_eq!(counted.await, u64::from(chare::pes()));
        section.dissolve();
        let accounts = AccountProxy::create();
        let last = u64::from(chare::nodes()) - 1;
        assert_eq!(accounts.on(last), accounts.on(NodeId(last as u32)));
    });
}

#[test]
fn entries_of_a_nodegroup_exclude_each_other() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create();
        CustomerProxy::create().pay(accounts.clone(), 100);
        chare::quiescence().await;
        let (total, done) = chare::future();
        accounts.report(done);
        let pes = u64::from(chare::pes());
        assert_eq!(total.await, [pes * 5050, pes * 100]);
    });
}

/// One of a chain: each calls the next like a function.
struct Link;

#[chare(array)]
impl Link {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(inline)]
    fn pass(&mut self, left: u64, passed: u64, done: Callback<u64>) {
        if left == 0 {
            done.send(passed);
        } else {
            let next = self.this_collection().at(self.this_index() + 1);
            next.pass(left - 1, passed + 1, done);
        }
    }
}

/// Their frames would be some hundred megabytes.
#[test]
fn a_long_chain_of_inline_calls_overflows_no_stack() {
    const LINKS: u64 = 200_000;
    let code = Job::in_process(1, 1).run(|| async {
        let links = LinkProxy::create(LINKS);
        let (passed, done) = chare::future();
        links.at(0).pass(LINKS - 1, 0, done);
        assert_eq!(passed.await, LINKS - 1);
    });
    assert_eq!(code.expect("the job runs"), 0);
}
