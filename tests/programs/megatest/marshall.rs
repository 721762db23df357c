//! Arguments of every kind.

use chare::ArrayOptions;
use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Values on the heap, shared and not, and of several types in one place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Polygon(Vec<(i32, i32)>),
    Group(Vec<Shape>),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Pair {
    left: Box<[u16]>,
    right: Option<String>,
}

fn shapes() -> Shape {
    Shape::Group(vec![Shape::Point, Shape::Circle { radius: 0.5 }, Shape::Polygon(vec![(1, -1), (2, 3)])])
}

fn pair(len: u64) -> Pair {
    Pair { left: (0..len as u16).collect(), right: (len % 2 == 1).then(|| "odd".repeat(len as usize)) }
}

fn maps(len: u64) -> (HashMap<u64, String>, BTreeMap<String, u8>) {
    let text = |number: u64| format!("number {number}");
    (
        (0..len).map(|number| (number, text(number))).collect(),
        (0..len).map(|number| (text(number), 3)).collect(),
    )
}

type Scalars = (bool, u8, i8, u16, i16, u32, i32, u64, i64, u128, i128);

const SCALARS: Scalars = (
    true,
    u8::MAX,
    i8::MIN,
    u16::MAX,
    i16::MIN,
    u32::MAX,
    i32::MIN,
    u64::MAX,
    i64::MIN,
    u128::MAX,
    i128::MIN,
);

const ELEMENTS: u64 = 20;
const CALLS: u64 = 11;

struct Element {
    calls: u64,
    done: Callback<()>,
}

impl Element {
    fn note(&mut self) {
        self.calls += 1;
        assert!(self.calls <= CALLS);
        if self.calls == CALLS {
            self.contribute(barrier(), self.done);
        }
    }
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(done: Callback<()>) -> Self {
        Self { calls: 0, done }
    }

    /// Calls every entry of the next element once.
    #[entry]
    fn start(&mut self) {
        let me = self.this_index();
        let next = self.this_collection().at((me + 1) % ELEMENTS);
        next.scalars(SCALARS);
        next.floats(f32::MIN_POSITIVE, f64::MAX, 'ß');
        next.nothing();
        next.text("π ≈ 3.14159".repeat(me as usize), String::new());
        next.pair(me, pair(me));
        next.shapes(vec![shapes(); me as usize]);
        next.matrix(3, me, vec![me as i32; 3 * me as usize]);
        next.sizes(vec![1, 2, me], (0..3 + me).collect());
        next.maps(me, maps(me));
        next.references(next.clone(), self.this_collection(), next.nothing_callback());
        next.nested(vec![vec![Some(me)], vec![], vec![None, Some(1)]], [(1, [2.5; 3]); 2]);
    }

    #[entry]
    fn scalars(&mut self, scalars: Scalars) {
        assert_eq!(scalars, SCALARS);
        self.note();
    }

    #[entry]
    fn floats(&mut self, small: f32, large: f64, letter: char) {
        assert_eq!((small, large, letter), (f32::MIN_POSITIVE, f64::MAX, 'ß'));
        self.note();
    }

    #[entry]
    fn nothing(&mut self) {
        self.note();
    }

    #[entry]
    fn text(&mut self, text: String, empty: String) {
        assert_eq!(text.matches("π").count() as u64, (self.this_index() + ELEMENTS - 1) % ELEMENTS);
        assert_eq!(empty, "");
        self.note();
    }

    #[entry]
    fn pair(&mut self, len: u64, given: Pair) {
        assert_eq!(given, pair(len));
        self.note();
    }

    #[entry]
    fn shapes(&mut self, given: Vec<Shape>) {
        assert!(given.iter().all(|shape| *shape == shapes()));
        self.note();
    }

    #[entry]
    fn matrix(&mut self, rows: u64, columns: u64, values: Vec<i32>) {
        assert_eq!(values, vec![columns as i32; (rows * columns) as usize]);
        self.note();
    }

    #[entry]
    fn sizes(&mut self, sizes: Vec<u64>, values: Vec<u64>) {
        assert_eq!(values, (0..sizes.iter().sum()).collect::<Vec<_>>());
        self.note();
    }

    #[entry]
    fn maps(&mut self, len: u64, given: (HashMap<u64, String>, BTreeMap<String, u8>)) {
        assert_eq!(given, maps(len));
        self.note();
    }

    #[entry]
    fn references(&mut self, element: ElementElementProxy, array: ElementProxy, callback: Callback<()>) {
        assert_eq!(element.nothing_callback(), callback);
        assert_eq!(array.at(self.this_index()).nothing_callback(), callback);
        self.note();
    }

    #[entry]
    fn nested(&mut self, lists: Vec<Vec<Option<u64>>>, tuples: [(u8, [f64; 3]); 2]) {
        assert_eq!((lists.len(), lists[2][1]), (3, Some(1)));
        assert_eq!(tuples, [(1, [2.5; 3]); 2]);
        self.note();
    }
}

pub(crate) async fn everything() {
    let (all, done) = chare::future();
    let elements = ElementProxy::create(ArrayOptions::new(ELEMENTS), done);
    elements.start();
    all.await;
    elements.destroy();
}
