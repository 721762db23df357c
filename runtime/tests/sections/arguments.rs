//! Large arguments of sections: one memory for all members in each process, lent and given back.

use super::SHAPES;
use super::cell::{CellProxy, check, pattern, row};
use super::every_path::on_every_path;
use chare::prelude::*;
use std::sync::Arc;

#[test]
fn large_arguments_come_once_into_each_process() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section((0..4).map(|number| (number, 1)).chain(row(2)));
        let members = 8;
        for (seed, len) in (0..).zip([0, 1, 513, 50_000]) {
            for shareable in [false, true] {
                let data = pattern(seed, len);
                let data: Buffer<u32> = if shareable {
                    BufferMut::from_fn(len, |place| data[place]).freeze()
                } else {
                    data.into()
                };
                let ((seen, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
                section.take(section.clone(), seed, SendBuffer::from(data).on_sent(sent), done);
                let seen: Vec<(u32, u64)> = seen.await;
                assert_eq!(seen.len(), members);
                for node in 0..chare::nodes() {
                    let mut places = seen.iter().filter(|(at, _)| *at == node).map(|(_, place)| place);
                    let first = places.next();
                    assert!(
                        len == 0 || places.all(|place| Some(place) == first),
                        "one memory on node {node}"
                    );
                }
                section.let_go();
                let back = back.await.into_buffer();
                check(seed, &back);
                assert!(back.try_into_mut().is_ok(), "nobody else holds it");
                let (total, done) = chare::future();
                section.land(section.clone(), seed, pattern(seed, len), done);
                assert_eq!(total.await, (members * len) as u64);
            }
        }
    });
}

#[test]
fn a_counted_argument_is_one_in_each_process() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section((0..4).flat_map(row));
        let (seen, done) = chare::future();
        section.share(section.clone(), Arc::new(pattern(5, 1000)), done);
        let mut seen = seen.await;
        assert_eq!(seen.len(), 20);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len() as u32, chare::nodes().min(20), "one in each process");
    });
}
