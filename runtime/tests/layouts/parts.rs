//! Parts of one array: each is sent or filled by itself, and all are the array again.

use crate::every_path::on_every_path;
use crate::squares::{SHAPES, places};
use chare::layout::{Dims, Layout, Raw};
use chare::prelude::*;
use chare::{Part, PartMut, Rest, Shown};

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
