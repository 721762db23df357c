//! Entries whose calls travel together: with every setting, kind, visibility and condition.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

/// Counts.
pub struct Table<T> {
    counted: Vec<T>,
}

#[chare(array, index = (u32, u32))]
impl<T: chare::Message> Table<T> {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self { counted: Vec::new() }
    }

    /// With nothing said.
    #[entry(aggregate)]
    pub fn count(&mut self, number: T) {
        self.counted.push(number);
    }

    /// With everything said.
    #[entry(aggregate(buffer_bytes = 4_096, dimensions = 3, flush_after_us = 0), priority = -2)]
    pub fn r#move(&mut self, pe: T, collection: Vec<String>, index: Option<u8>) {
        let _ = (collection, index);
        self.counted.push(pe);
    }

    /// Without arguments.
    #[entry(expedited, aggregate(dimensions = 2,))]
    fn tick(&self) {}

    /// Waits.
    #[entry(aggregate())]
    async fn later(this: This<Self>, number: T) {
        this.with(|table| table.counted.push(number));
    }

    /// Here, or not.
    #[cfg(any())]
    #[entry(aggregate)]
    fn nowhere(&self) {}

    /// How many there are.
    #[entry]
    fn len(&self) -> usize {
        self.counted.len()
    }
}

chare::instantiate!(Table<u8>);

#[test]
fn it_runs() {
    let code = chare::Job::in_process(2, 2).run(|| async {
        let tables = TableProxy::<u8>::create((2, 3));
        let table = tables.at((1, 2));
        table.count(1);
        table.r#move(2, vec!["x".to_owned()], None);
        table.tick();
        table.later(3);
        table.count_callback().send(4);
        tables.count(5);
        chare::quiescence().await;
        assert_eq!(table.len().await, 5);
    });
    assert_eq!(code.unwrap(), 0);
}
