//! Several buffers under one nocopy argument: the elements of all arrive in order and land where each belongs, over every path.

use crate::every_path::on_every_path;
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{Element, Job, Landing, PartMut, Rest, Several, SeveralMut, Shown};

const SHAPES: [(u32, u32); 3] = [(1, 1), (1, 2), (2, 2)];

/// The edge of a grid: with the last its columns are longer than what any path sends along with a message.
const EDGES: [usize; 3] = [4, 40, 20_000];

/// Columns of a grid.
const COLUMNS: usize = 6;

fn column<T: Element>(edge: usize, at: usize) -> Layout<T, u8> {
    Dims::new([edge, COLUMNS]).select::<T>((.., at)).in_bytes()
}

/// Numbers that say where they stand, in memory that neighbours map or in a vector.
fn grid<T: Element>(edge: usize, is_shareable: bool, number: impl Fn(usize) -> T) -> BufferMut<T> {
    let values: Vec<T> = (0..edge * COLUMNS).map(number).collect();
    if !is_shareable {
        return values.into();
    }
    let mut buffer = BufferMut::zeroed(values.len());
    buffer.copy_from_slice(&values);
    buffer
}

fn heat(place: usize) -> f64 {
    place as f64 + 0.5
}

fn speed(place: usize) -> [f32; 3] {
    [place as f32, -1.0, 2.0]
}

fn kind(place: usize) -> u16 {
    place as u16
}

/// The bytes of one column of all three quantities.
fn packed(edge: usize, at: usize) -> Vec<u8> {
    let places = || (0..edge).map(|row| row * COLUMNS + at);
    let heats: Vec<f64> = places().map(heat).collect();
    let speeds: Vec<[f32; 3]> = places().map(speed).collect();
    let kinds: Vec<u16> = places().map(kind).collect();
    [bytemuck::cast_slice(&heats), bytemuck::cast_slice(&speeds), bytemuck::cast_slice(&kinds)].concat()
}

/// Three quantities of one grid, a column of each of which lands.
struct Tile {
    edge: usize,
    is_shareable: bool,
}

#[chare(array)]
impl Tile {
    #[entry]
    fn new(edge: usize, is_shareable: bool) -> Self {
        Self { edge, is_shareable }
    }

    #[entry]
    fn take(&mut self, #[nocopy] column: Received<u8>, done: Callback<Vec<u8>>) {
        done.send(column.to_vec());
    }

    #[entry]
    fn look(&mut self, #[nocopy] column: ReceivedView<u8>, done: Callback<Vec<u8>>) {
        done.send(column.rows().flatten().copied().collect());
    }

    /// A column of the heat lands in a part, the whole of it beside a vector.
    #[entry]
    fn land(&mut self, #[nocopy(post)] column: Posted<u8>, done: Callback<u64>) {
        let (edge, transferred) = (self.edge, column.transferred() as u64);
        let mut landed = column.into_several();
        assert_eq!(landed.len() as u64, transferred);
        let (heats, speeds, kinds): (BufferMut<f64>, BufferMut<[f32; 3]>, BufferMut<u16>) =
            (landed.next_buffer(), landed.next_buffer(), landed.next_buffer());
        assert!(landed.is_empty());
        for place in 0..edge * COLUMNS {
            let (row, at) = (place / COLUMNS, place % COLUMNS);
            let from = row * COLUMNS + COLUMNS - 1;
            // What no layout selects stays as it was.
            let expected = if at == 1 { (heat(from), speed(from), kind(from)) } else { (0.0, [1.0; 3], 2) };
            assert_eq!((heats[place], speeds[place], kinds[place]), expected, "edge {edge}, {place}");
        }
        done.send(transferred);
    }

    #[post(land)]
    fn post_land(&mut self, column_of_all: Post<u8>, _done: &Callback<u64>) {
        let Self { edge, is_shareable } = *self;
        let heats = SeveralMut::of(Landing::at(&column::<f64>(edge, 1), grid(edge, is_shareable, |_| 0.0)));
        let speeds = grid(edge, is_shareable, |_| [1.0; 3]);
        let both = heats.and(Landing::at(&column::<[f32; 3]>(edge, 1), speeds));
        let all = both.and(Landing::at(&column::<u16>(edge, 1), grid(edge, is_shareable, |_| 2)));
        column_of_all.post_several(all).expect("as many bytes come");
    }
}

fn last() -> PeId {
    PeId(chare::pes() - 1)
}

#[test]
fn columns_of_unlike_elements_travel_as_one() {
    on_every_path(&SHAPES, || async {
        for (edge, is_shareable) in EDGES.into_iter().flat_map(|edge| [(edge, false), (edge, true)]) {
            let tiles = TileProxy::create_empty(chare::ArrayOptions::empty());
            tiles.at(0).insert_on(PeId(0), edge, is_shareable);
            tiles.at(1).insert_on(last(), edge, is_shareable);
            let heats = grid(edge, is_shareable, heat).freeze();
            let speeds = grid(edge, is_shareable, speed).freeze();
            let kinds = grid(edge, is_shareable, kind).freeze();
            let three = || {
                Several::of(SendBuffer::from(heats.clone()).only(&column::<f64>(edge, COLUMNS - 1)))
                    .and(SendBuffer::from(speeds.clone()).only(&column::<[f32; 3]>(edge, COLUMNS - 1)))
                    .and(SendBuffer::from(kinds.clone()).only(&column::<u16>(edge, COLUMNS - 1)))
            };
            let expected = packed(edge, COLUMNS - 1);
            for index in 0..2 {
                let (taken, done) = chare::future();
                tiles.at(index).take(three(), done);
                assert!(taken.await == expected, "edge {edge}, taken");
                let (seen, done) = chare::future();
                tiles.at(index).look(three(), done);
                assert!(seen.await == expected, "edge {edge}, seen");
                let (landed, done) = chare::future();
                tiles.at(index).land(three(), done);
                assert_eq!(landed.await, expected.len() as u64);
            }
            let heard = std::rc::Rc::new(std::cell::Cell::new(0));
            let hear = std::rc::Rc::clone(&heard);
            tiles.take(
                three(),
                Callback::each(move |taken: Vec<u8>| {
                    assert!(taken == packed(edge, COLUMNS - 1));
                    hear.set(hear.get() + 1);
                }),
            );
            chare::quiescence().await;
            assert_eq!(heard.get(), 2);
            heats.try_into_mut().expect("nobody holds it any more");
        }
    });
}

/// Lists of buffers that stay where they are, and then of buffers that lie elsewhere.
#[test]
fn lists_of_several_buffers_may_be_sent_again_and_again() {
    on_every_path(&SHAPES, || async {
        let edge = 2000;
        let places = || (0..80).map(|root| root * root);
        let list: Vec<i64> = places().map(|place| place as i64).collect();
        let of_heats = Layout::<f64>::indexed_block(1, &list).expect("it fits").in_bytes();
        let of_kinds = Layout::<u16>::indexed_block(1, &list).expect("it fits").in_bytes();
        let tiles = TileProxy::create_empty(chare::ArrayOptions::empty());
        tiles.at(0).insert_on(last(), edge, true);
        for others in 0..3 {
            let heats = grid(edge, true, |place| heat(place + others)).freeze();
            let _between: BufferMut<u8> = BufferMut::zeroed(64 * others);
            let kinds = grid(edge, true, |place| kind(place + others)).freeze();
            let both = || {
                Several::of(SendBuffer::from(heats.clone()).only(&of_heats))
                    .and(SendBuffer::from(kinds.clone()).only(&of_kinds))
            };
            let listed: Vec<f64> = places().map(|place| heat(place + others)).collect();
            let listed_kinds: Vec<u16> = places().map(|place| kind(place + others)).collect();
            let expected =
                [bytemuck::cast_slice::<_, u8>(&listed), bytemuck::cast_slice(&listed_kinds)].concat();
            for _ in 0..100 {
                let (taken, done) = chare::future();
                tiles.at(0).take(both(), done);
                assert!(taken.await == expected, "taken from buffers {others}");
                let (seen, done) = chare::future();
                tiles.at(0).look(both(), done);
                assert!(seen.await == expected, "seen of buffers {others}");
            }
        }
    });
}

/// Takes the first elements of what comes: in a vector, a part, the first of a buffer and one more that stays empty.
struct Mixed {
    lens: [usize; 3],
    rest: Option<Rest<f64>>,
}

#[chare]
impl Mixed {
    #[entry]
    fn new(lens: [usize; 3]) -> Self {
        Self { lens, rest: None }
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] all: Posted<f64>, done: Callback<Vec<f64>>) {
        let mut all = all.into_several();
        let whole: BufferMut<f64> = all.next_buffer();
        let part: PartMut<f64> = all.next_part();
        let (first, nothing): (BufferMut<f64>, BufferMut<f64>) = (all.next_buffer(), all.next_buffer());
        let [.., three] = self.lens;
        assert_eq!((first[three..].to_vec(), nothing.len()), (vec![9.0; 5], 0));
        let mut landed = whole.to_vec();
        landed.extend(part.rows().flatten());
        landed.extend(&first[..three]);
        let rest = self.rest.take().expect("a buffer was split");
        let split = rest.whole([&part as &dyn Shown]).expect("there is one part");
        assert!(split.iter().skip(1).step_by(2).all(|untouched| *untouched == 8.0));
        done.send(landed);
    }

    #[post(land)]
    fn post_land(&mut self, all: Post<f64>, _done: &Callback<Vec<f64>>) {
        let [one, two, three] = self.lens;
        let every_second = Layout::vector(two as u64, 1, 2).expect("it fits");
        let split = BufferMut::from(vec![8.0; 2 * two]).split([&every_second]);
        let (rest, [part]) = split.expect("one part");
        self.rest = Some(rest);
        let landings = SeveralMut::of(vec![0.0; one])
            .and(part)
            .and(Landing::first(three, vec![9.0; three + 5]))
            .and(Vec::new());
        if let Err(refused) = all.post_several(landings) {
            let words = refused.to_string();
            assert!(words.contains("the posted buffer wants"), "{words}");
            assert_eq!(refused.given.len(), one + two + three);
            let mut several = refused.given;
            let vector = several.next_buffer::<f64>().into_vec();
            let part = several.next_part::<f64>();
            let landings = SeveralMut::of(vector).and(part);
            let landings = landings.and(vec![9.0; 5]).and(Vec::new());
            self.lens[2] = 0;
            // The third piece is five elements that are to be filled: too many still.
            let refused = refused.post.post_several(landings).expect_err("still longer");
            let mut several = refused.given;
            let (vector, part) = (several.next_buffer::<f64>(), several.next_part());
            let landings = SeveralMut::of(vector).and(part).and(Landing::first(0, vec![9.0; 5]));
            refused.post.post_several(landings.and(Vec::new())).expect("as long as what is sent");
        }
    }
}

#[test]
fn each_piece_comes_back_with_what_was_taken_of_it() {
    on_every_path(&SHAPES, || async {
        for scale in [1, 10_000] {
            // What is sent: three pieces of 4, 3 and 5 elements. What lands: as many, fewer, or more than are sent, which is refused.
            for lens in [[4, 3, 5], [1, 8, 3], [2, 2, 2], [2, 1, 0], [6, 6, 6]] {
                let lens = lens.map(|len| len * scale);
                let numbers =
                    |from: usize| -> Vec<f64> { (from..).take(5 * scale).map(|n| n as f64).collect() };
                let (first, second, third) = (numbers(0), numbers(1_000_000), numbers(2_000_000));
                let four = Layout::contiguous(4 * scale as u64).expect("it fits");
                let backwards = Layout::strided(&[3 * scale], &[-1]).expect("it fits");
                let backwards = backwards.shifted(3 * scale as i64 - 1).expect("it fits");
                let ((a, on_a), (b, on_b), (c, on_c)) = (chare::future(), chare::future(), chare::future());
                let all = Several::of(SendBuffer::from(first.clone()).only(&four).on_sent(on_a))
                    .and(SendBuffer::from(second.clone()).only(&backwards).on_sent(on_b))
                    .and(SendBuffer::from(third.clone()).on_sent(on_c));
                let (landed, done) = chare::future::<Vec<f64>>();
                MixedProxy::create_on(last(), lens).land(all, done);
                let reversed = second[..3 * scale].iter().rev();
                let stream: Vec<f64> =
                    first[..4 * scale].iter().chain(reversed).chain(&third).copied().collect();
                let landed = landed.await;
                assert!(landed == stream[..landed.len()], "{lens:?}");
                let (a, b, c): (Sent<f64>, Sent<f64>, Sent<f64>) = (a.await, b.await, c.await);
                let taken = [a.transferred(), b.transferred(), c.transferred()];
                assert_eq!(taken.iter().sum::<usize>(), landed.len(), "{lens:?}");
                let is_full =
                    |pieces: &[usize]| pieces.iter().zip([4, 3, 5]).all(|(one, all)| *one == all * scale);
                let touched = taken.iter().take_while(|taken| **taken > 0).count();
                assert!(is_full(&taken[..touched - 1]), "{taken:?} of {lens:?}");
                assert_eq!((a.into_vec(), b.into_vec(), c.into_vec()), (first, second, third));
            }
        }
    });
}

/// Takes several buffers as one, which they are not, or as other elements.
struct Wrong;

#[chare]
impl Wrong {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn as_one(&mut self, #[nocopy(post)] all: Posted<f64>) {
        drop(all.into_buffer());
    }

    #[post(as_one)]
    fn post_as_one(&mut self, all: Post<f64>) {
        all.post_several(SeveralMut::of(vec![0.0; 2])).expect("two come");
    }

    #[entry]
    fn as_others(&mut self, #[nocopy(post)] all: Posted<f64>) {
        let _: BufferMut<u64> = all.into_several().next_buffer();
    }

    #[post(as_others)]
    fn post_as_others(&mut self, all: Post<f64>) {
        all.post_several(SeveralMut::of(vec![0.0; 2])).expect("two come");
    }
}

#[test]
fn pieces_are_taken_as_they_were_posted() {
    type Misuse = fn(WrongProxy);
    let as_one: Misuse = |wrong| wrong.as_one(vec![1.0; 2]);
    let as_others: Misuse = |wrong| wrong.as_others(vec![1.0; 2]);
    for (misuse, words) in
        [(as_one, "taken by `Posted::into_several`"), (as_others, "has elements `f64`, not `u64`")]
    {
        let result = Job::in_process(1, 1).run(move || async move {
            misuse(WrongProxy::create());
            chare::future::<()>().0.await;
        });
        let text = result.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
}
