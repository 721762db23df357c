//! Creation: the callback when it is over, and the chares that constructors reach.

use crate::every_path::on_every_path;
use crate::{AccountProxy, SHAPES, total};
use chare::ArrayOptions;
use chare::prelude::*;

#[test]
fn creation_calls_back_when_every_element_exists() {
    on_every_path(&SHAPES, || async {
        for len in [0, 1, 100] {
            let (created, done) = chare::future();
            let accounts = AccountProxy::create(ArrayOptions::new((len, 1)).created(done), 5);
            created.await;
            if len > 0 {
                assert_eq!(total(&accounts).await, 5 * i64::from(len));
            }
        }
    });
}

struct Base {
    value: u64,
}

#[chare(group)]
impl Base {
    #[entry]
    fn new(below: Option<BaseProxy>) -> Self {
        let value = below.map_or(0, |below| {
            let value = below.local().local(|below| below.value);
            value.expect("what was created before is here before") + 1
        });
        Self { value }
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(set(self.value), done);
    }

    /// Creates another group, after a group that this PE has not created.
    #[entry]
    fn create_another(&mut self, below: BaseProxy, done: Callback<Vec<u64>>) {
        BaseProxy::create_after(&below, Some(below.clone())).report(done);
    }
}

#[test]
fn constructors_reach_what_was_created_before() {
    on_every_path(&SHAPES, || async {
        let mut groups = vec![BaseProxy::create(None)];
        for _ in 0..20 {
            groups.push(BaseProxy::create(groups.last().cloned()));
        }
        for (value, group) in (0..).zip(&groups) {
            let (values, done) = chare::future();
            group.report(done);
            assert_eq!(values.await, vec![value; chare::pes() as usize]);
        }
        let late = BaseProxy::create(groups.last().cloned());
        let (values, done) = chare::future();
        groups[0].on(PeId(chare::pes() - 1)).create_another(late, done);
        assert_eq!(values.await, vec![22; chare::pes() as usize]);
        let accounts = AccountProxy::create(ArrayOptions::new((2, 2)).after(&groups[3]), 5);
        assert_eq!(total(&accounts).await, 20);
    });
}
