//! Layouts of nocopy arguments: what is selected on either side lands where it belongs, over every path, and the rest stays as it was.

mod direct;
#[path = "../every_path/mod.rs"]
mod every_path;
mod parts;
mod sink;
mod squares;

use chare::layout::{Dims, Layout, Raw};
use chare::prelude::*;
use chare::{Job, Landing};
use every_path::on_every_path;
use sink::SinkProxy;
use squares::{EDGES, SHAPES, buffers, by_every_method, face, last, places};

#[test]
fn what_a_layout_selects_arrives_packed() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        for pe in [PeId(0), last()] {
            let sink = sinks.at(u64::from(pe.0));
            sink.insert_on(pe);
            for edge in EDGES {
                for buffer in buffers(edge) {
                    for which in 0..5 {
                        let layout = face(edge, which);
                        let (data, done) = chare::future();
                        let (sent, on_sent) = chare::future();
                        sink.take(SendBuffer::from(buffer.clone()).on_sent(on_sent).only(&layout), done);
                        let expected: Vec<u32> = places(&layout).iter().map(|place| *place as u32).collect();
                        assert_eq!(data.await, expected, "edge {edge}, selection {which}");
                        let sent: Sent<u32> = sent.await;
                        assert_eq!((sent.transferred(), sent.len()), (layout.len(), edge * edge));
                        let (data, done) = chare::future();
                        let (sent, on_sent) = chare::future::<Sent<u32>>();
                        sink.look(SendBuffer::from(buffer.clone()).on_sent(on_sent).only(&layout), done);
                        assert_eq!(data.await, expected, "edge {edge}, view of selection {which}");
                        assert_eq!(sent.await.transferred(), layout.len());
                    }
                    buffer.try_into_mut().expect("nobody holds it any more");
                }
            }
            if pe == last() {
                break;
            }
            sink.destroy();
            chare::quiescence().await;
        }
    });
}

#[test]
fn what_is_selected_lands_where_a_layout_says() {
    by_every_method(&SHAPES, || async {
        let sinks = SinkProxy::create(1);
        let far = SinkProxy::create_empty(chare::ArrayOptions::empty());
        far.at(0).insert_on(last());
        for sink in [sinks.at(0), far.at(0)] {
            for edge in EDGES {
                for buffer in buffers(edge) {
                    for (from, to) in [
                        (0, 1),
                        (1, 0),
                        (0, 0),
                        (2, 2),
                        (3, 3),
                        (2, 0),
                        (4, 4),
                        (4, 0),
                        (4, 4),
                        (9, 2),
                        (9, 3),
                    ] {
                        assert_eq!(sink.prepare(edge, to).await, edge);
                        let target = face(edge, to);
                        let sent = SendBuffer::from(buffer.clone());
                        let (landed, done) = chare::future();
                        let source =
                            if from == 9 { (0..edge * edge).collect() } else { places(&face(edge, from)) };
                        match from {
                            9 => sink.land(sent, done),
                            _ => sink.land(sent.only(&face(edge, from)), done),
                        }
                        let mut expected = vec![u32::MAX; edge * edge];
                        places(&target)
                            .iter()
                            .zip(&source)
                            .for_each(|(to, from)| expected[*to] = *from as u32);
                        let (transferred, landed): (u64, Vec<u32>) = landed.await;
                        assert_eq!(transferred as usize, target.len());
                        assert!(landed == expected, "edge {edge}, {from} to {to}");
                    }
                }
            }
        }
    });
}

/// Several lists, each sent more often in some turns than in others, with several messages on their way.
#[test]
fn lists_that_take_turns_arrive() {
    on_every_path(&[(2, 1), (3, 1)], || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        let [shareable, _] = buffers(340);
        let squares: Vec<i64> = (0..320).map(|root| root * root).collect();
        for turn in 0..8 {
            let numbers = (0..5).flat_map(|list| std::iter::repeat_n(list, 1 + turn % 4));
            let sent: Vec<_> = numbers
                .map(|list| {
                    let places: Vec<i64> = squares.iter().map(|place| place + list).collect();
                    let layout: Layout<u32> = Layout::indexed_block(1, &places).expect("it fits");
                    let (data, done) = chare::future::<Vec<u32>>();
                    sinks.at(0).take(SendBuffer::from(shareable.clone()).only(&layout), done);
                    (places, data)
                })
                .collect();
            for (places, data) in sent {
                assert!(data.await.into_iter().map(i64::from).eq(places), "turn {turn}");
            }
        }
    });
}

/// More lists than a node keeps, each sent four times, and the first ones again.
#[test]
fn more_lists_than_a_node_keeps_arrive() {
    let job = Job::in_process(2, 1);
    let result = job.run(|| async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        let edge = 340;
        let [shareable, _] = buffers(edge);
        let squares: Vec<i64> = (0..edge as i64 - 5).map(|root| root * root).collect();
        for number in (0..4_200).chain(0..10) {
            let places: Vec<i64> = squares.iter().copied().chain([115_599 - number]).collect();
            for _ in 0..4 {
                let layout: Layout<u32> = Layout::indexed_block(1, &places).expect("it fits");
                let (data, done) = chare::future();
                sinks.at(0).take(SendBuffer::from(shareable.clone()).only(&layout), done);
                assert!(data.await.into_iter().map(i64::from).eq(places.iter().copied()), "list {number}");
            }
        }
    });
    assert_eq!(result.expect("a job"), 0);
}

/// What is sent by a known list costs its sender no more than its receiver gives back, however much memory the list selects from: else
/// there would be no credit left after some sixty of these.
#[test]
fn lists_may_be_sent_again_and_again() {
    on_every_path(&[(2, 1)], || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        let edge = 1000;
        let squares: Vec<i64> = (0..edge as i64).map(|root| root * root).collect();
        let layout: Layout<u32> = Layout::indexed_block(1, &squares).expect("it fits");
        let expected: Vec<u32> = places(&layout).iter().map(|place| *place as u32).collect();
        let [shareable, _] = buffers(edge);
        for _ in 0..200 {
            let (data, done) = chare::future();
            sinks.at(0).take(SendBuffer::from(shareable.clone()).only(&layout), done);
            assert!(data.await == expected);
        }
    });
}

#[test]
fn a_call_of_many_packs_once() {
    on_every_path(&SHAPES, || async {
        let sinks = SinkProxy::create(4);
        let layout = face(40, 0);
        let expected: Vec<u32> = places(&layout).iter().map(|place| *place as u32).collect();
        for buffer in buffers(40) {
            let heard = std::rc::Rc::new(std::cell::Cell::new(0));
            let hear = std::rc::Rc::clone(&heard);
            let wanted = expected.clone();
            let done = Callback::each(move |data: Vec<u32>| {
                assert_eq!(data, wanted);
                hear.set(hear.get() + 1);
            });
            sinks.take(SendBuffer::from(buffer.clone()).only(&layout), done);
            sinks.look(buffer.clone(), Callback::ignore());
            sinks.section(0..3).take(SendBuffer::from(buffer.clone()).only(&layout), done);
            chare::quiescence().await;
            assert_eq!(heard.get(), 7);
        }
    });
}

#[test]
fn packed_elements_may_be_parts_of_the_buffers_elements() {
    on_every_path(&SHAPES, || async {
        let sinks = SinkProxy::create_empty(chare::ArrayOptions::empty());
        sinks.at(0).insert_on(last());
        // Of three numbers each the first two.
        let first_two = Raw::bytes_of(8).and_then(Layout::<[u32; 3], [u32; 2]>::from_raw).expect("pairs");
        let layout =
            Layout::<[u32; 3]>::contiguous(1000).and_then(|all| all.of(&first_two)).expect("it fits");
        let triples: Vec<[u32; 3]> = (0..1000).map(|number| [number, number + 1, number + 2]).collect();
        let (data, done) = chare::future();
        let (sent, on_sent) = chare::future();
        let send = SendBuffer::from(triples.clone()).only(&layout).on_sent(on_sent);
        sinks.at(0).take_pairs(send, done);
        let pairs: Vec<[u32; 2]> = triples.iter().map(|[first, second, _]| [*first, *second]).collect();
        assert_eq!(data.await, pairs);
        let sent: Sent<[u32; 3]> = sent.await;
        assert_eq!((sent.transferred(), sent.into_vec()), (1000, triples.clone()));
        // Pieces of which the view can be a view of pairs, and others.
        let (data, done) = chare::future();
        sinks.at(0).look_at_pairs(SendBuffer::from(triples).only(&layout), done);
        assert_eq!(data.await, pairs);
    });
}

#[test]
fn layouts_that_do_not_fit_are_refused_where_they_are_given() {
    type Misuse = fn();
    let outside: Misuse = || {
        let column = Dims::new([10, 10]).select::<u32>((.., 9));
        drop(SendBuffer::from(vec![0u32; 99]).only(&column));
    };
    let landing_outside: Misuse = || {
        let column = Dims::new([10, 10]).select::<u32>((.., 9));
        drop(Landing::at(&column, vec![0u32; 99]));
    };
    let twice: Misuse = || {
        let overlapping = Layout::<u32>::vector(3, 2, 1).expect("a source may");
        drop(Landing::at(&overlapping, vec![0u32; 10]));
    };
    for (misuse, words) in [
        (outside, "a layout of what is sent"),
        (landing_outside, "a layout of a landing"),
        (twice, "a layout of a landing"),
    ] {
        let result = Job::in_process(1, 1).run(move || async move { misuse() });
        let text = result.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
}

/// A chare that is called while what it posted is filled.
struct Busy {
    calls: u32,
}

#[chare]
impl Busy {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<u32>) {
        assert_eq!(data.transferred(), 1 << 20);
        done.send(self.calls);
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _done: &Callback<u32>) {
        let every_other = Layout::vector(data.len() as u64, 1, 2).expect("it fits");
        let room = vec![0; 2 * data.len()];
        data.post(Landing::at(&every_other, room)).expect("as long");
    }

    #[entry]
    fn call(&mut self) {
        self.calls += 1;
    }
}

#[test]
fn a_long_copy_by_layouts_lets_calls_pass() {
    let code = Job::in_process(1, 1).run(|| async {
        let busy = BusyProxy::create();
        let (landed, done) = chare::future();
        busy.land(vec![1; 1 << 20], done);
        busy.call();
        assert_eq!(landed.await, 1);
    });
    assert_eq!(code.expect("it runs"), 0);
}
