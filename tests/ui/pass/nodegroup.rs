//! One chare for each node.
#![deny(warnings)]

use chare::prelude::*;

struct Table;

#[chare(nodegroup)]
impl Table {
    #[entry]
    fn new() -> Self {
        Table
    }

    #[entry]
    fn insert(&mut self, key: u64, value: String) {
        let _ = (key, value);
    }
}

fn use_proxies() {
    let tables = TableProxy::create();
    tables.insert(1, "one".to_owned());
    tables.local().insert(2, "two".to_owned());
    let there: TableElementProxy = tables.on(NodeId(1));
    there.insert(3, "three".to_owned());
}
