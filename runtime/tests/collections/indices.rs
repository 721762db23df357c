//! Arrays of every dimension and index type: each element is where its index says, once, whatever carries the messages.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayMap, ArrayOptions, Job, Placement};
use serde::{Deserialize, Serialize};

/// Nodes and PEs per node.
const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 4), (2, 1), (3, 2)];

/// An array whose elements tell their index, and pass a token from one to the next.
macro_rules! array_of {
    ($name:ident, $proxy:ident, $index:ty) => {
        struct $name {
            born: $index,
            visits: u64,
        }

        #[chare(array, index = $index)]
        impl $name {
            #[entry]
            fn new() -> Self {
                Self { born: chare::this_index(), visits: 0 }
            }

            #[entry]
            fn names(&mut self, done: Callback<Vec<$index>>) {
                assert_eq!(self.born, self.this_index());
                self.contribute(concat([self.this_index()]), done);
            }

            /// Goes round all elements of the route.
            #[entry]
            async fn relay(this: This<Self>, route: Vec<$index>, done: Callback<$index>) {
                let (visits, index) = this.with(|element| {
                    element.visits += 1;
                    (element.visits, element.born.clone())
                });
                assert_eq!((visits, index), (1, this.this_index()));
                match route.split_first() {
                    Some((next, rest)) => this.this_collection().at(next.clone()).relay(rest.to_vec(), done),
                    None => done.send(this.this_index()),
                }
            }
        }

        impl $proxy {
            /// Every element of `expected` exists, once, and is reached by its index.
            async fn check(&self, mut expected: Vec<$index>) {
                let (names, done) = chare::future();
                self.names(done);
                let mut names = names.await;
                names.sort();
                expected.sort();
                assert_eq!(names, expected);
                let (last, done) = chare::future();
                expected.reverse();
                self.at(expected[0].clone()).relay(expected[1..].to_vec(), done);
                assert_eq!(Some(last.await), expected.pop());
            }
        }
    };
}

array_of!(OneDimension, OneDimensionProxy, i32);
array_of!(TwoDimensions, TwoDimensionsProxy, (u32, u32));
array_of!(ThreeDimensions, ThreeDimensionsProxy, (i64, i64, u8));
array_of!(FourDimensions, FourDimensionsProxy, (u32, u32, u32, i32));
array_of!(FiveDimensions, FiveDimensionsProxy, (u16, u16, u16, u16, u16));
array_of!(SixDimensions, SixDimensionsProxy, (i16, u16, u16, u16, u16, i16));
array_of!(Named, NamedProxy, String);
array_of!(Leaves, LeavesProxy, Leaf);

/// A place in a tree of any depth: longer than an index has room for from the first level on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Leaf {
    tree: u32,
    path: Vec<u8>,
}

impl chare::ArrayIndex for Leaf {}

#[test]
fn ranges_of_one_to_six_dimensions() {
    on_every_path(&SHAPES, || async {
        OneDimensionProxy::create(7).check((0..7).collect()).await;
        OneDimensionProxy::create(-3..4).check((-3..4).collect()).await;
        let steps = OneDimensionProxy::create(ArrayOptions::stepped(-5..6, 3));
        steps.check(vec![-5, -2, 1, 4]).await;

        let all = |rows: u32, columns: u32| {
            (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
        };
        TwoDimensionsProxy::create((3, 4)).check(all(3, 4).collect()).await;
        let even = ArrayOptions::stepped((0, 1)..(5, 6), (2, 2)).placement(Placement::RoundRobin);
        let expected = all(5, 6).filter(|(row, column)| row % 2 == 0 && column % 2 == 1);
        TwoDimensionsProxy::create(even).check(expected.collect()).await;

        let cube = (-1..1).flat_map(|x| (-2..0).flat_map(move |y| (4..6u8).map(move |z| (x, y, z))));
        ThreeDimensionsProxy::create((-1, -2, 4)..(1, 0, 6)).check(cube.collect()).await;
        let line = (0..9).map(|w| (u32::MAX - 1, 0, 5, w - 4));
        FourDimensionsProxy::create((u32::MAX - 1, 0, 5, -4)..(u32::MAX, 1, 6, 5))
            .check(line.collect())
            .await;
        let hashed = ArrayOptions::new((1, 2, 1, 2, 2)).placement(Placement::Hash);
        let expected = (0..8).map(|number| (0, number / 4, 0, number / 2 % 2, number % 2));
        FiveDimensionsProxy::create(hashed).check(expected.collect()).await;
        let expected = (0..4).map(|number| (-3, 0, number / 2, 0, 65_534, -1 + number as i16 % 2));
        let range = (-3, 0, 0, 0, 65_534, -1)..(-2, 1, 2, 1, 65_535, 1);
        SixDimensionsProxy::create(range).check(expected.collect()).await;
    });
}

#[test]
fn lists_of_any_index() {
    on_every_path(&SHAPES, || async {
        let scattered = vec![(7, 7), (0, 1_000_000), (u32::MAX, 3), (1, 1)];
        for placement in [Placement::Block, Placement::RoundRobin] {
            let options = ArrayOptions::listed(scattered.clone()).placement(placement);
            TwoDimensionsProxy::create(options).check(scattered.clone()).await;
        }
        let names = ["", "a", "a name that is much too long for an index", "another"].map(str::to_owned);
        NamedProxy::create(ArrayOptions::listed(names.clone())).check(names.to_vec()).await;
        let leaf = |number: u32| Leaf { tree: number % 3, path: (0..number as u8).collect() };
        let leaves: Vec<Leaf> = (0..20).map(leaf).collect();
        LeavesProxy::create(ArrayOptions::listed(leaves.clone())).check(leaves).await;
    });
}

/// Diagonals of a matrix stay together.
#[derive(Clone, Serialize, Deserialize)]
struct Diagonals {
    shift: u32,
}

impl ArrayMap for Diagonals {
    type Index = (u32, u32);

    fn home(&self, &(row, column): &(u32, u32), pes: u32) -> PeId {
        PeId((row + pes * 100 - column + self.shift) % pes)
    }
}

chare::array_map!(Diagonals);

struct Placed;

#[chare(array, index = (u32, u32))]
impl Placed {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn places(&mut self, done: Callback<Vec<((u32, u32), PeId)>>) {
        self.contribute(concat([(self.this_index(), chare::my_pe())]), done);
    }
}

async fn places(array: PlacedProxy) -> Vec<((u32, u32), PeId)> {
    let (places, done) = chare::future();
    array.places(done);
    places.await
}

#[test]
fn elements_are_where_their_placement_says() {
    on_every_path(&SHAPES, || async {
        let pes = chare::pes();
        let rule = |(row, column): (u32, u32)| PeId((row * column + 1) % pes);
        let by_table = PlacedProxy::create(ArrayOptions::new((4, 5)).place_by(rule));
        let places_by_table = places(by_table).await;
        assert_eq!(places_by_table.len(), 20);
        assert!(places_by_table.into_iter().all(|(index, pe)| pe == rule(index)));

        let map = Diagonals { shift: 2 };
        let options = || ArrayOptions::new((4, 5)).placement(Placement::by(map.clone()));
        let by_rule = PlacedProxy::create(options());
        let places_by_rule = places(by_rule.clone()).await;
        assert!(places_by_rule.iter().all(|(index, pe)| *pe == map.home(index, pes)));

        let bound = PlacedProxy::create(ArrayOptions::new((4, 5)).bind_to(&by_rule));
        assert_eq!(places(bound).await, places_by_rule);
    });
}

#[test]
fn mistakes_name_what_is_wrong() {
    let fails = |main: fn()| {
        let result = Job::in_process(1, 2).run(move || async move {
            main();
            chare::future::<()>().0.await;
        });
        result.unwrap_err().to_string()
    };
    let missing = fails(|| TwoDimensionsProxy::create((3, 4)).at((3, 1)).names(Callback::ignore()));
    assert!(missing.contains("TwoDimensions has 12 members, there is no member (3, 1)"), "{missing}");
    let missing = fails(|| {
        NamedProxy::create(ArrayOptions::listed(["a".to_owned()]))
            .at("b".to_owned())
            .names(Callback::ignore());
    });
    assert!(missing.contains("no member \"b\""), "{missing}");
    let twice = fails(|| drop(NamedProxy::create(ArrayOptions::listed(["a", "a"].map(str::to_owned)))));
    assert!(twice.contains("two elements \"a\""), "{twice}");
}
