//! Creation: the callback when it is over, and the chares that constructors reach; and the end of what was created.

use crate::every_path::on_every_path;
use crate::{AccountProxy, SHAPES, total};
use chare::prelude::*;
use chare::{ArrayOptions, CallOptions};

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

/// Contributes and goes when it is called, or goes at once.
struct Mayfly {
    sums: Callback<u64>,
}

#[chare(array)]
impl Mayfly {
    #[entry]
    fn new(goes: bool, sums: Callback<u64>) -> Self {
        if goes {
            chare::destroy();
        }
        Self { sums }
    }

    #[entry]
    fn go(&mut self) {
        self.contribute(sum(1 + self.this_index()), self.sums);
        chare::destroy();
    }

    #[entry]
    fn hear(&mut self) {}
}

#[test]
fn what_was_under_way_when_an_array_ends_arrives_and_nobody_is_there_any_more() {
    on_every_path(&SHAPES, || async {
        for round in 0..6 {
            let (total, sums) = chare::future();
            let flies = MayflyProxy::create(5, false, sums);
            match round % 2 {
                0 => flies.go(),
                _ => (0..5).for_each(|index| flies.at(index).go()),
            }
            assert_eq!(total.await, 15);
            let (created, done) = chare::future();
            let gone = MayflyProxy::create(ArrayOptions::new(5).created(done), true, Callback::ignore());
            created.await;
            if round < 3 {
                chare::quiescence().await;
            }
            for ended in [&flies, &gone] {
                let (heard, hear) = chare::future();
                ended.with(CallOptions::new().heard(hear)).hear();
                assert_eq!(heard.await, 0);
                let (formed, done) = chare::future();
                let section = ended.section([0, 3]);
                section.formed(done);
                formed.await;
                section.hear();
                section.dissolve();
                ended.done_inserting();
                ended.destroy();
            }
            // Insertions end before the elements, or after them.
            let open = MayflyProxy::create(ArrayOptions::new(5).dynamic(), false, Callback::ignore());
            let pes = (0..).map(PeId).take(chare::pes() as usize);
            (9..).zip(pes).for_each(|(index, pe)| open.at(index).insert_on(pe, round % 3 == 0, sums));
            if round % 2 == 0 {
                open.done_inserting();
                open.hear();
                open.destroy();
            } else {
                open.destroy();
                open.done_inserting();
            }
            let later = MayflyProxy::create(ArrayOptions::new(2).after(&gone), false, Callback::ignore());
            let (heard, hear) = chare::future();
            later.with(CallOptions::new().after(&gone).heard(hear)).hear();
            assert_eq!(heard.await, 2);
            later.destroy();
            chare::quiescence().await;
        }
    });
}

#[test]
fn a_group_ends_when_it_is_destroyed_and_others_go_on() {
    on_every_path(&SHAPES, || async {
        let groups: Vec<_> = (0..4).map(|_| BaseProxy::create(None)).collect();
        for round in 0..2 {
            let (values, done) = chare::future();
            groups[1 + round].report(done);
            assert_eq!(values.await, vec![0; chare::pes() as usize]);
            groups[1 + round].destroy();
            if round == 0 {
                chare::quiescence().await;
            }
        }
        let late = BaseProxy::create_after(&groups[1], None);
        for group in [&groups[0], &groups[3], &late] {
            let (values, done) = chare::future();
            group.report(done);
            assert_eq!(values.await, vec![0; chare::pes() as usize]);
        }
    });
}
