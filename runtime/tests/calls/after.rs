//! What comes after a collection: creations and calls that wait for a group's member, and members that their creator wants at once.

use crate::every_path::on_every_path;
use chare::CallOptions;
use chare::prelude::*;

const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (4, 1), (2, 2)];

/// What others are to find on their PE.
struct Table {
    value: u64,
}

#[chare(group)]
impl Table {
    #[entry]
    fn new(value: u64) -> Self {
        Self { value }
    }

    #[entry(inline)]
    fn put(&mut self, value: u64) {
        self.value = value;
    }
}

fn look(table: &TableProxy) -> u64 {
    table.local().local(|table| table.value).expect("the member of this PE is there")
}

/// Before everything else that waits, but for the table.
fn at_once_after(table: &TableProxy) -> CallOptions {
    CallOptions::new().immediate().after(table)
}

/// Looks at a table when it is born, and when it is asked to.
struct Reader {
    seen: u64,
}

#[chare]
impl Reader {
    #[entry]
    fn new(table: Option<TableProxy>) -> Self {
        Self { seen: table.as_ref().map_or(0, look) }
    }

    #[entry]
    fn seen(&self) -> u64 {
        self.seen
    }

    #[entry]
    fn read(&mut self, table: TableProxy, to: Callback<u64>) {
        to.send(look(&table));
    }

    #[entry(inline)]
    fn read_inline(&mut self, table: TableProxy, to: Callback<u64>) {
        to.send(look(&table));
    }
}

/// Looks at a table.
struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn read(&mut self, table: TableProxy, to: Callback<u64>) {
        to.send(look(&table));
    }

    #[entry]
    fn read_all(&mut self, table: TableProxy, done: Callback<u64>) {
        self.contribute(sum(look(&table)), done);
    }
}

#[test]
fn a_singleton_is_created_after_a_group() {
    on_every_path(&SHAPES, || async {
        let table = TableProxy::create(5);
        let create = |pe| ReaderProxy::create_on_with(PeId(pe), at_once_after(&table), Some(table.clone()));
        let readers: Vec<_> = (0..chare::pes()).map(create).collect();
        let seen = readers.iter().map(|reader| reader.seen());
        assert_eq!(chare::wait_all(seen).await, vec![5; readers.len()]);
    });
}

#[test]
fn calls_of_chares_and_elements_come_after_two_groups() {
    on_every_path(&SHAPES, || async {
        let pes = u64::from(chare::pes());
        let readers: Vec<_> = (0..chare::pes()).map(|pe| ReaderProxy::create_on(PeId(pe), None)).collect();
        let cells = CellProxy::create(2 * pes);
        chare::quiescence().await;
        let (one, two) = (TableProxy::create(1), TableProxy::create(2));
        let options = || at_once_after(&one).after(&two);
        let mut answers = Vec::new();
        let mut answer = || {
            let (value, to) = chare::future();
            answers.push(value);
            to
        };
        for reader in &readers {
            reader.with(options()).read_inline(two.clone(), answer());
            reader.with(options()).read(one.clone(), answer());
        }
        for index in 0..2 * pes {
            cells.at(index).with(options()).read(two.clone(), answer());
        }
        let (total, done) = chare::future();
        cells.with(options()).read_all(two, done);
        assert_eq!(chare::wait_all(answers).await.iter().sum::<u64>(), 3 * pes + 4 * pes);
        assert_eq!(total.await, 4 * pes);
    });
}

/// Creates collections and uses its own members of them.
struct Creator;

/// Has a neighbour of the same creator.
struct Neighbour {
    value: u64,
}

#[chare(group)]
impl Neighbour {
    #[entry]
    fn new(table: TableProxy) -> Self {
        let inner = TableProxy::create(100);
        Self { value: look(&table) + look(&inner) }
    }
}

#[chare]
impl Creator {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn make(&mut self) -> (u64, TableProxy) {
        let cells = CellProxy::create(u64::from(chare::pes()));
        let table = TableProxy::create(3);
        table.local().put(8);
        let neighbour = NeighbourProxy::create(table.clone());
        chare::destroy();
        let value = neighbour.local().local(|neighbour| neighbour.value).expect("it was constructed now");
        let index = u64::from(chare::my_pe().0);
        assert!(cells.at(index).local(|_| ()).is_some() || chare::pes() > 1);
        assert_eq!(look(&table), 3, "a call is a message, which waits");
        (value, table)
    }
}

#[test]
fn a_creator_reaches_its_member_at_once() {
    on_every_path(&SHAPES, || async {
        let table = TableProxy::create(1);
        assert_eq!(look(&table), 1);
        for pe in 0..chare::pes() {
            let (value, table) = CreatorProxy::create_on(PeId(pe)).make().await;
            assert_eq!(value, 103);
            chare::quiescence().await;
            let reader = ReaderProxy::create_on(PeId(pe), Some(table));
            assert_eq!(reader.seen().await, 8, "the call came after the construction");
        }
        chare::quiescence().await;
        assert_eq!(look(&table), 1);
    });
}
