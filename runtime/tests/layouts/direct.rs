//! Gets and puts of what layouts select, at the peer, here, or on both sides; the rest stays as it was.

use crate::sink::SinkProxy;
use crate::squares::{EDGES, SHAPES, buffers, by_every_method, face, last, places};
use chare::layout::Layout;
use chare::prelude::*;
use chare::{Landing, RegisteredSource, RegisteredTarget, rput, try_rget, try_rput};

#[test]
fn a_get_lands_where_a_layout_says() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        for edge in EDGES {
            for buffer in buffers(edge) {
                let source = RegisteredSource::register(buffer);
                for which in 0..4 {
                    let target = face(edge, which);
                    let handle = source.handle().slice(3..3 + target.len());
                    let (filled, done) = chare::future();
                    sinks.at(0).read(handle, edge, which, done);
                    let mut expected = vec![u32::MAX; edge * edge];
                    (3..).zip(places(&target)).for_each(|(value, place)| expected[place] = value);
                    assert!(filled.await[..] == expected, "edge {edge}, selection {which}");
                }
                let handle = source.handle();
                drop(source);
                let whole = Layout::contiguous((edge * edge) as u64).expect("it fits");
                let (failed, done) = chare::future();
                try_rget(&handle, Landing::at(&whole, vec![7; edge * edge]), done).expect("as long");
                let failed = failed.await.expect_err("the handle is stale");
                assert_eq!(failed.buffer[..], vec![7; edge * edge]);
            }
        }
    });
}

#[test]
fn a_get_reads_what_a_layout_selects_of_the_peers_memory() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        for edge in EDGES {
            for buffer in buffers(edge) {
                let source = RegisteredSource::register(buffer);
                for (from, to) in
                    [(0, None), (1, Some(0)), (2, Some(2)), (3, Some(3)), (0, Some(1)), (2, None)]
                {
                    let selection = face(edge, from);
                    let (filled, done) = chare::future();
                    sinks.at(0).read_by(source.handle().only(&selection), edge, to, done);
                    let targets =
                        to.map_or_else(|| (0..selection.len()).collect(), |to| places(&face(edge, to)));
                    let mut expected = vec![u32::MAX; edge * edge];
                    places(&selection).iter().zip(targets).for_each(|(from, to)| expected[to] = *from as u32);
                    assert!(filled.await[..] == expected, "edge {edge}, {from} to {to:?}");
                }
                let stale = source.handle().only(&face(edge, 0));
                drop(source);
                let (failed, done) = chare::future();
                try_rget(&stale, vec![7; edge], done).expect("as long");
                assert_eq!(failed.await.expect_err("the handle is stale").buffer[..], vec![7; edge]);
            }
        }
    });
}

#[test]
fn a_get_reads_what_lies_far_apart() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        let edge = 50;
        // Two long rows, and single elements each in a page of its own, more of them than a node has operations open.
        for (rows, len, every) in [(2, 1250, 1 << 22), (2500, 1, 1500)] {
            let selection = Layout::<u32>::vector(rows, len, every).expect("it fits");
            let mut values = vec![u32::MAX; selection.span() as usize];
            let places = places(&selection);
            (0..).zip(&places).for_each(|(value, place)| values[*place] = value);
            let source = RegisteredSource::register(values);
            let (filled, done) = chare::future();
            sinks.at(0).read_by(source.handle().only(&selection), edge, None, done);
            assert!((0..2500).eq(filled.await.iter().copied()), "{rows} rows");
        }
    });
}

#[test]
fn a_put_writes_what_a_layout_selects_of_the_peers_memory_and_nothing_else() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        for edge in [4, 40] {
            for is_shareable in [false, true] {
                let values = vec![7u32; edge * edge];
                let buffer =
                    if is_shareable { BufferMut::from_fn(values.len(), |_| 7) } else { values.into() };
                let target = RegisteredTarget::register(buffer);
                let mut expected = vec![7; edge * edge];
                for (which, less) in [(0, 0), (1, 0), (2, 1), (3, 0)] {
                    let selection = face(edge, which);
                    let len = selection.len() - less;
                    let (written, done) = chare::future::<Buffer<u32>>();
                    sinks.at(0).write_by(target.handle().only(&selection), len, done);
                    assert_eq!(written.await.len(), len);
                    (1000..)
                        .zip(&places(&selection)[..len])
                        .for_each(|(value, place)| expected[*place] = value);
                    assert!(target.read(|values| values == expected).expect("no put is under way"));
                }
                // From a selection of the writer's own buffer, packed on the way, and from a row, which needs none.
                for (from, to) in [(0, 1), (1, 0), (4, 4), (2, 2)] {
                    let selection = face(edge, to);
                    let (written, done) = chare::future::<Buffer<u32>>();
                    sinks.at(0).write_selected(target.handle().only(&selection), edge, from, done);
                    assert_eq!(written.await.len(), edge * edge, "the whole buffer comes back");
                    let from = places(&face(edge, from));
                    from.iter().zip(places(&selection)).for_each(|(from, to)| expected[to] = *from as u32);
                    assert!(target.read(|values| values == expected).expect("no put is under way"));
                }
                let stale = target.handle().only(&face(edge, 0));
                let too_many = Buffer::from(vec![1; edge * edge]).only(&face(edge, 2));
                let (_, done) = chare::future::<Buffer<u32>>();
                let misfit = rput(too_many, target.handle().only(&face(edge, 0)), done);
                match misfit.map(drop) {
                    Ok(()) => assert!((edge - 2) * (edge - 2) <= edge),
                    Err(misfit) => {
                        assert_eq!((misfit.have, misfit.need), ((edge - 2) * (edge - 2), edge));
                        assert_eq!(misfit.buffer.len(), edge * edge);
                    }
                }
                let (closed, on_closed) = chare::future::<BufferMut<u32>>();
                target.close(on_closed);
                drop(closed.await);
                let (failed, done) = chare::future();
                try_rput(vec![1; edge], &stale, done).expect("as long");
                assert_eq!(failed.await.expect_err("the handle is stale").buffer.len(), edge);
                let (nothing, done) = chare::future();
                try_rput(Vec::new(), &stale, done).expect("nothing fits");
                assert!(nothing.await.expect("no element, no put").is_empty());
            }
        }
    });
}
