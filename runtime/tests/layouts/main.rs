//! Layouts of nocopy arguments: what is selected on either side lands where it belongs, over every path, and the rest stays as it was.

mod every_path;

use chare::layout::{Dims, Layout, Raw};
use chare::prelude::*;
use chare::{
    Job, Landing, LayoutMethod, Part, PartMut, RegisteredSource, RegisteredTarget, Rest, Shown, SourceHandle,
    SourceSelection, TargetSelection, rget, rput, try_rget, try_rput,
};
use every_path::{has_cma, on_every_path, paths};

const SHAPES: [(u32, u32); 3] = [(1, 1), (1, 2), (2, 2)];

/// Runs a program in jobs of these shapes over every path, and by each method where the kernel copies.
fn by_every_method<Fut>(shapes: &[(u32, u32)], main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    on_every_path(shapes, main.clone());
    let copied = paths().into_iter().filter(|(path, _)| has_cma() && ["shm", "cma"].contains(path));
    for (path, network) in copied {
        for method in [LayoutMethod::Pack, LayoutMethod::Sieve, LayoutMethod::Vectors] {
            let job = Job::in_process(2, 1).network(network.clone()).layouts(method);
            let result = job.run(main.clone());
            assert_eq!(result.unwrap_or_else(|error| panic!("{method:?} over {path}: {error}")), 0);
        }
    }
}

/// The edge of a grid: with the third its faces are as long as no path sends along with a message, and with the last so long that they are
/// copied in pieces.
const EDGES: [usize; 4] = [4, 40, 300, 900];

struct Sink {
    /// What buffers to be posted look like before.
    landing: Option<(Layout<u32>, usize)>,
}

#[chare(array)]
impl Sink {
    #[entry]
    fn new() -> Self {
        Self { landing: None }
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<Vec<u32>>) {
        done.send(data.to_vec());
    }

    #[entry]
    fn look(&mut self, #[nocopy] data: ReceivedView<u32>, done: Callback<Vec<u32>>) {
        let rows: Vec<u32> = data.rows().flatten().copied().collect();
        assert_eq!((data.to_vec(), data.len()), (rows.clone(), rows.len()));
        let mut backwards = vec![0; data.len()];
        let reversed = Layout::strided(&[data.len()], &[-1]).expect("it fits");
        let reversed = reversed.shifted(data.len() as i64 - 1).expect("it fits");
        data.copy_to(&reversed, &mut backwards).expect("as long");
        assert!(backwards.iter().rev().eq(&rows));
        done.send(rows);
    }

    #[entry]
    fn look_at_pairs(&mut self, #[nocopy] data: ReceivedView<[u32; 2]>, done: Callback<Vec<[u32; 2]>>) {
        done.send(data.iter().copied().collect());
    }

    #[entry]
    fn take_pairs(&mut self, #[nocopy] data: Received<[u32; 2]>, done: Callback<Vec<[u32; 2]>>) {
        done.send(data.to_vec());
    }

    #[entry]
    fn prepare(&mut self, edge: usize, landing: u64) -> usize {
        self.landing = Some((face(edge, landing), edge * edge));
        edge
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<(u64, Vec<u32>)>) {
        assert_eq!(data.len(), data.iter().len());
        done.send((data.transferred() as u64, data.into_vec()));
    }

    #[entry]
    fn read(&mut self, from: SourceHandle<u32>, edge: usize, which: u64, done: Callback<BufferMut<u32>>) {
        let landing = Landing::at(&face(edge, which), vec![u32::MAX; edge * edge]);
        rget(&from, landing, done).expect("as long");
    }

    /// Reads a selection into a selection.
    #[entry]
    fn read_by(
        &mut self,
        from: SourceSelection<u32>,
        edge: usize,
        which: Option<u64>,
        done: Callback<BufferMut<u32>>,
    ) {
        let values = vec![u32::MAX; edge * edge];
        let landing: Landing<u32> = match which {
            Some(which) => Landing::at(&face(edge, which), values),
            None => values.into(),
        };
        rget(&from, landing, done).expect("as long");
    }

    /// Writes its own numbers to a selection.
    #[entry]
    fn write_by(&mut self, to: TargetSelection<u32>, len: usize, done: Callback<Buffer<u32>>) {
        let values: Vec<u32> = (1000..).take(len).collect();
        rput(values, &to, done).expect("as long");
    }

    /// Writes a selection of its own numbers to a selection.
    #[entry]
    fn write_selected(
        &mut self,
        to: TargetSelection<u32>,
        edge: usize,
        which: u64,
        done: Callback<Buffer<u32>>,
    ) {
        rput(Buffer::from(values(edge)).only(&face(edge, which)), &to, done).expect("as long");
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _done: &Callback<(u64, Vec<u32>)>) {
        let (layout, len) = self.landing.clone().expect("it was prepared");
        data.post(Landing::at(&layout, vec![u32::MAX; len])).expect("as long as what is sent");
    }
}

/// Values that say where they stand.
fn values(edge: usize) -> Vec<u32> {
    (0..(edge * edge) as u32).collect()
}

/// A selection of a square: a column, a row, a block inside, every other element of every other row, a list of elements in no order.
fn face(edge: usize, which: u64) -> Layout<u32> {
    let grid = Dims::new([edge, edge]);
    match which {
        0 => grid.select((.., edge - 1)),
        1 => grid.select((1, ..)),
        2 => grid.select((1..edge - 1, 1..edge - 1)),
        4 => {
            let places: Vec<i64> = (0..edge as i64).map(|place| place * (place + 1) / 2).rev().collect();
            Layout::indexed_block(1, &places).expect("it fits")
        }
        _ => Layout::vector(edge as u64 / 2, edge as u64 / 2, 2 * edge as i64).expect("it fits"),
    }
}

/// The places that a layout selects, in its order.
fn places(layout: &Layout<u32>) -> Vec<usize> {
    layout.runs().flat_map(|(at, len)| (at as usize / 4)..(at as usize + len as usize) / 4).collect()
}

fn last() -> PeId {
    PeId(chare::pes() - 1)
}

/// Buffers of both kinds: one that neighbours map, one that they do not.
fn buffers(edge: usize) -> [Buffer<u32>; 2] {
    let mut shareable = BufferMut::zeroed(edge * edge);
    shareable.copy_from_slice(&values(edge));
    [shareable.freeze(), values(edge).into()]
}

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

/// A ring of squares, each of which sends its four inner edges and has those of others land in its frame, in one array.
struct Torus {
    rest: Rest<u32>,
    inner: Vec<Part<u32>>,
    frame: Vec<Option<PartMut<u32>>>,
    landed: Vec<PartMut<u32>>,
    sent: u64,
    edge: usize,
    done: Callback<()>,
}

/// The inner edge at a side, and the frame beyond it: left, right, below, above.
fn edges(edge: usize) -> [[Layout<u32>; 2]; 4] {
    let square = Dims::new([edge + 2, edge + 2]);
    let column = |at: usize| square.select((1..=edge, at));
    let row = |at: usize| square.select((at, 2..edge));
    [[column(1), column(0)], [column(edge), column(edge + 1)], [row(1), row(0)], [row(edge), row(edge + 1)]]
}

#[chare(array)]
impl Torus {
    #[entry]
    fn new(edge: usize, is_shareable: bool, done: Callback<()>) -> Self {
        let mine = 1000 * (1 + chare::this_index::<u64>() as u32);
        let values: Vec<u32> = (mine..).take((edge + 2) * (edge + 2)).collect();
        let mut buffer = if is_shareable { BufferMut::zeroed(values.len()) } else { values.clone().into() };
        buffer.copy_from_slice(&values);
        let [[a, b], [c, d], [e, f], [g, h]] = edges(edge);
        let (rest, parts) = buffer.split([&a, &b, &c, &d, &e, &f, &g, &h]).expect("they share nothing");
        let (mut inner, mut frame) = (Vec::new(), Vec::new());
        for (position, part) in parts.into_iter().enumerate() {
            if position % 2 == 0 { inner.push(part.share()) } else { frame.push(Some(part)) }
        }
        Self { rest, inner, frame, landed: Vec::new(), sent: 0, edge, done }
    }

    #[entry]
    fn start(&mut self, all: u64) {
        let back = self.this_chare().came_back_callback();
        for side in 0..4 {
            let to = self.this_collection().at((self.this_index() + 1 + side as u64) % all);
            to.land(self.this_index(), side ^ 1, self.inner[side].clone().on_sent(back));
        }
    }

    #[entry]
    fn land(&mut self, from: u64, side: usize, #[nocopy(post)] edge: Posted<u32>) {
        let part = edge.into_part();
        let expected = edges(self.edge)[side ^ 1][0].clone();
        let mine = 1000 * (1 + from as u32);
        let expected: Vec<u32> = places(&expected).iter().map(|place| mine + *place as u32).collect();
        assert!(part.rows().flatten().eq(&expected));
        self.landed.push(part);
        self.finish();
    }

    #[post(land)]
    fn post_land(&mut self, _from: &u64, side: &usize, edge: Post<u32>) {
        edge.post_part(self.frame[*side].take().expect("one edge comes from each side")).expect("as long");
    }

    #[entry]
    fn came_back(&mut self, elements: u64) {
        assert!(elements > 0);
        self.sent += 1;
        self.finish();
    }

    fn finish(&mut self) {
        if self.sent < 4 || self.landed.len() < 4 {
            return;
        }
        let landed = self.landed.iter().map(|part| part as &dyn Shown);
        let whole = self.rest.whole(self.inner.iter().map(|part| part as &dyn Shown).chain(landed));
        let mine = 1000 * (1 + self.this_index() as u32);
        let whole = whole.expect("all parts are here");
        // Corners belong to no part.
        let len = whole.len();
        assert_eq!((whole[0], whole[len - 1]), (mine, mine + len as u32 - 1));
        let inner = self.inner.drain(..).map(|part| part.try_into_mut().expect("it came back"));
        self.landed.extend(inner);
        let whole = self.rest.whole_mut(self.landed.iter_mut()).expect("all parts are here");
        whole.fill(7);
        self.contribute(barrier(), self.done);
    }
}

#[test]
fn halos_are_exchanged_within_one_array() {
    on_every_path(&SHAPES, || async {
        for edge in [4, 40, 2000] {
            for is_shareable in [false, true] {
                let (all_done, done) = chare::future();
                let torus = TorusProxy::create(5, edge, is_shareable, done);
                torus.start(5);
                all_done.await;
                torus.destroy();
            }
        }
    });
}

#[test]
fn parts_that_share_elements_or_lie_outside_are_refused() {
    let square = Dims::new([4, 4]);
    let (row, column): (Layout<u32>, Layout<u32>) = (square.select((1, ..)), square.select((.., 1)));
    let refused = BufferMut::<u32>::from(vec![1; 16]).split([&row, &column]).expect_err("they cross");
    assert!(refused.to_string().contains("cannot be split"), "{refused}");
    assert_eq!(refused.buffer[..], [1; 16]);
    let outside = BufferMut::<u32>::from(vec![1; 13]).split([&column]).expect_err("the last row lacks");
    assert_eq!(outside.buffer.len(), 13);
    let halves = Raw::bytes_of(2).and_then(|half| half.vector(2, 1, 4)).and_then(Layout::from_raw);
    let halves = BufferMut::<u32>::from(vec![1; 16]).split([&halves.expect("four bytes")]);
    assert!(halves.expect_err("pieces of elements").to_string().contains("4"));

    let (rest, [mut row, other]) =
        BufferMut::<u32>::from(vec![1; 16]).split([&row, &square.select((3, 1..))]).expect("they fit");
    row.rows_mut().flatten().for_each(|element| *element = 2);
    assert!(rest.whole([&row as &dyn Shown]).is_none(), "one is missing");
    let other = other.share();
    let whole = rest.whole([&row as &dyn Shown, &other]).expect("both are here");
    assert_eq!(whole, [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    let lacks = rest.join([row]).expect_err("one is missing");
    let other = other.try_into_mut().expect("the last handle");
    let (rest, parts) = (lacks.rest, lacks.parts);
    assert_eq!(rest.join(parts.into_iter().chain([other])).expect("both are here").into_vec()[3..5], [1, 2]);
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
