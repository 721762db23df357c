//! Traits of entries: one proxy for chares of several types and kinds.

#![expect(clippy::disallowed_types, reason = "programs keep proxies in them")]

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{CallOptions, Priority};

const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 2), (3, 1)];

#[entries]
trait Shape {
    #[entry]
    fn scale(&mut self, by: f64);

    #[entry]
    fn area(&self) -> f64;

    /// A method that all have in common, unless they replace it.
    #[entry]
    fn describe(&self, with: String, done: Callback<String>) {
        done.send(format!("{with} {} of area {}", self.kind(), self.area()));
    }

    #[entry(priority = -3)]
    async fn grow_until(this: This<Self>, limit: f64) -> u32 {
        let mut rounds = 0;
        while this.with(|shape| shape.area()) < limit {
            this.with(|shape| shape.scale(2.0));
            rounds += 1;
            chare::quiescence().await;
        }
        rounds
    }

    #[entry(expedited)]
    fn stretch(&mut self, #[nocopy] factors: Received<f64>, offset: u32) {
        factors.iter().skip(offset as usize).for_each(|factor| self.scale(*factor));
    }

    /// An ordinary method.
    fn kind(&self) -> &'static str;
}

struct Square {
    side: f64,
}

#[chare]
impl Square {
    #[entry]
    fn new(side: f64) -> Self {
        Self { side }
    }
}

#[entries]
impl Shape for Square {
    fn scale(&mut self, by: f64) {
        self.side *= by;
    }

    fn area(&self) -> f64 {
        self.side * self.side
    }

    fn kind(&self) -> &'static str {
        "square"
    }
}

struct Rectangle {
    sides: (f64, f64),
}

#[chare(array, index = (u8, u8))]
impl Rectangle {
    #[entry]
    fn new() -> Self {
        let (x, y) = chare::this_index::<(u8, u8)>();
        Self { sides: (f64::from(x + 1), f64::from(y + 1)) }
    }

    /// Goes, before what waits for it has its turn.
    #[entry(priority = -1)]
    fn leave(&mut self, done: Callback<()>) {
        done.send(());
        chare::destroy();
    }

    /// Knows itself by what it implements.
    #[entry]
    fn introduce(&self, to: Callback<ShapeProxy>) {
        to.send(ShapeProxy::of(&self.this_chare()));
    }
}

#[chare::entries]
impl Shape for Rectangle {
    fn scale(&mut self, by: f64) {
        self.sides = (self.sides.0 * by, self.sides.1 * by);
    }

    fn area(&self) -> f64 {
        self.sides.0 * self.sides.1
    }

    fn kind(&self) -> &'static str {
        "rectangle"
    }

    fn describe(&self, with: String, done: Callback<String>) {
        done.send(format!("{with} {}: {} x {}", self.kind(), self.sides.0, self.sides.1));
    }
}

/// Knows shapes and no more.
struct Surveyor;

#[chare(group)]
impl Surveyor {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn survey(_this: This<Self>, shapes: Vec<ShapeProxy>) -> f64 {
        chare::wait_all(shapes.iter().map(ShapeProxy::area)).await.iter().sum()
    }
}

#[test]
fn one_proxy_reaches_chares_of_several_types() {
    on_every_path(&SHAPES, || async {
        let last = PeId(chare::pes() - 1);
        let square = ShapeProxy::of(&SquareProxy::create_on(last, 3.0));
        let rectangles = RectangleProxy::create((2, 5));
        let (rectangle, to) = chare::future();
        rectangles.at((1, 4)).introduce(to);
        let rectangle = rectangle.await;
        let shapes = vec![square.clone(), rectangle.clone(), ShapeProxy::of(&rectangles.at((0, 0)))];
        assert_eq!(SurveyorProxy::create().on(last).survey(shapes.clone()).await, 20.0);

        square.scale(2.0);
        rectangle.with(CallOptions::new().priority(Priority::integer(1))).scale(0.5);
        chare::quiescence().await;
        let ((one, to_one), (other, to_other)) = (chare::future(), chare::future());
        square.describe("a".to_owned(), to_one);
        rectangle.describe("some".to_owned(), to_other);
        assert_eq!(one.await, "a square of area 36");
        assert_eq!(other.await, "some rectangle: 1 x 2.5");

        shapes[2].scale_callback().send(7.0);
        chare::quiescence().await;
        assert_eq!(shapes[2].area().await, 49.0);
        shapes[2].stretch(vec![100.0, 2.0, 0.5, 2.0], 1);
        chare::quiescence().await;
        assert_eq!(shapes[2].area().await, 196.0);
        assert_eq!(shapes[2].grow_until(1000.0).await, 2);
    });
}

/// One on each PE.
struct Disc {
    radius: f64,
}

#[chare(group)]
impl Disc {
    #[entry]
    fn new() -> Self {
        Self { radius: f64::from(chare::my_pe().0 + 1) }
    }

    #[entry]
    fn areas(&self, done: Callback<Vec<f64>>) {
        self.contribute(set(self.area()), done);
    }
}

#[entries]
impl Shape for Disc {
    fn scale(&mut self, by: f64) {
        self.radius *= by;
    }

    /// In units of pi.
    fn area(&self) -> f64 {
        self.radius * self.radius
    }

    fn kind(&self) -> &'static str {
        "disc"
    }
}

#[test]
fn one_proxy_reaches_all_members_of_collections_of_several_types() {
    on_every_path(&SHAPES, || async {
        let (discs, rectangles) = (DiscProxy::create(), RectangleProxy::create((2, 2)));
        let all_discs = ShapeCollectionProxy::of(&discs);
        let all_rectangles = ShapeCollectionProxy::of(&rectangles);
        all_discs.scale(2.0);
        all_rectangles.scale_callback().send(3.0);
        chare::quiescence().await;
        let last = chare::pes() - 1;
        let (areas, done) = chare::future();
        discs.areas(done);
        let expected: Vec<f64> = (1..=chare::pes()).map(|pe| f64::from(4 * pe * pe)).collect();
        assert_eq!(areas.await, expected);
        assert_eq!(all_discs.at(u64::from(last)).area().await, expected[last as usize]);
        assert_eq!(all_rectangles.at((1, 0)).area().await, 18.0);

        // Large arguments, which members share, and options.
        let factors: Vec<f64> = [0.5, 2.0].into_iter().cycle().take(9_999).collect();
        all_rectangles.with(CallOptions::new().priority(Priority::integer(1))).stretch(factors, 0);
        chare::quiescence().await;
        assert_eq!(all_rectangles.at((0, 1)).area().await, 4.5);
    });
}

#[test]
fn one_proxy_reaches_sections_of_chares_of_several_types() {
    on_every_path(&SHAPES, || async {
        let last = PeId(chare::pes() - 1);
        let (discs, rectangles) = (DiscProxy::create(), RectangleProxy::create((2, 2)));
        let row = ShapeSectionProxy::of(&rectangles.section([(1, 0), (1, 1)]));
        let mixed = ShapeSectionProxy::form([
            ShapeProxy::of(&discs.on(last)),
            ShapeProxy::of(&rectangles.at((0, 0))),
            ShapeProxy::of(&rectangles.at((1, 1))),
        ]);
        row.scale(2.0);
        mixed.scale_callback().send(3.0);
        // Large arguments, which members share, and options.
        let factors: Vec<f64> = [0.5, 2.0].into_iter().cycle().take(9_999).collect();
        mixed.with(CallOptions::new().priority(Priority::integer(1))).stretch(factors, 1);
        chare::quiescence().await;
        let area = async |at| ShapeProxy::of(&rectangles.at(at)).area().await;
        assert_eq!(ShapeProxy::of(&discs.on(last)).area().await, f64::from(3 * chare::pes()).powi(2));
        assert_eq!([area((0, 0)).await, area((0, 1)).await], [9.0, 2.0]);
        assert_eq!([area((1, 0)).await, area((1, 1)).await], [8.0, 144.0]);
        mixed.dissolve();
    });
}

#[test]
fn a_call_by_a_trait_waits_for_its_element() {
    on_every_path(&SHAPES, || async {
        let rectangles = RectangleProxy::create_empty(chare::ArrayOptions::empty());
        let late = ShapeProxy::of(&rectangles.at((3, 4)));
        let area = late.area();
        // Nothing is in order, but what is sent after an answer from everywhere hardly overtakes that.
        let (areas, done) = chare::future();
        DiscProxy::create().areas(done);
        areas.await;
        assert!(!area.is_ready());
        rectangles.at((3, 4)).insert_on(PeId(chare::pes() - 1));
        assert_eq!(area.await, 20.0);
        // The same for one that found its element, which went before the call had its turn.
        let (here, gone) = (chare::my_pe(), rectangles.at((5, 6)));
        gone.insert_on(here);
        let shape = ShapeProxy::of(&gone);
        assert_eq!(shape.area().await, 42.0);
        let (left, done) = chare::future();
        gone.leave(done);
        shape.scale(2.0);
        left.await;
        gone.insert_on(here);
        chare::quiescence().await;
        assert_eq!(shape.area().await, 168.0);
        rectangles.done_inserting();
    });
}

#[test]
fn proxies_are_equal_if_they_reach_the_same() {
    on_every_path(&SHAPES, || async {
        let urgent = || CallOptions::new().priority(Priority::integer(-1));
        let (square, other) = (SquareProxy::create(1.0), SquareProxy::create(1.0));
        assert_eq!(square, square.with(urgent()));
        assert_ne!(square, other);
        let (discs, rectangles) = (DiscProxy::create(), RectangleProxy::create((2, 2)));
        assert_eq!(rectangles, rectangles.with(urgent()));
        assert_ne!(rectangles, RectangleProxy::create((2, 2)));
        assert_eq!(rectangles.at((1, 0)), rectangles.at((1, 0)));
        assert_ne!(rectangles.at((1, 0)), rectangles.at((0, 1)));
        let section = discs.section([PeId(0)]);
        assert_eq!(section, section.with(urgent()));
        assert_ne!(section, discs.section([PeId(0)]));
        assert_eq!(ShapeCollectionProxy::of(&discs).at(0), ShapeProxy::of(&discs.on(PeId(0))));
        assert_eq!(ShapeCollectionProxy::of(&discs), ShapeCollectionProxy::of(&discs.with(urgent())));

        // A table finds what comes back from elsewhere.
        let shapes: std::collections::HashSet<ShapeProxy> =
            [(0, 0), (0, 1), (1, 1)].into_iter().map(|at| ShapeProxy::of(&rectangles.at(at))).collect();
        let (introduced, to) = chare::future();
        rectangles.at((1, 1)).introduce(to);
        assert!(shapes.contains(&introduced.await));
        assert!(!shapes.contains(&ShapeProxy::of(&rectangles.at((1, 0)))));
    });
}

/// Adds up what its neighbours say, whatever that is.
struct Adder<T> {
    total: T,
}

/// Values that can be added up.
trait Summand: chare::Message + std::ops::Add<Output = Self> + Into<f64> {}

impl Summand for f64 {}
impl Summand for u32 {}

#[chare(array)]
impl<T: Summand> Adder<T> {
    #[entry]
    fn new(start: T) -> Self {
        Self { total: start }
    }

    #[entry(awaited)]
    fn share(#[reference] from: u64, value: T);

    /// Every element hears every other, in order.
    #[entry]
    async fn run(this: This<Self>, count: u64) -> T {
        let (adders, me) = (this.this_collection(), this.this_index());
        let own = this.with(|adder| adder.total.clone());
        (0..count).for_each(|to| adders.at(to).share(me, own.clone()));
        for from in 0..count {
            let (_, value) = this.when(Self::share).reference(from).await;
            this.with(|adder| adder.total = adder.total.clone() + value);
        }
        this.with(|adder| adder.total.clone())
    }
}

chare::instantiate!(Adder<f64>, Adder<u32>);

#[entries]
impl Shape for Adder<f64> {
    fn scale(&mut self, by: f64) {
        self.total *= by;
    }

    fn area(&self) -> f64 {
        self.total
    }

    fn kind(&self) -> &'static str {
        "sum"
    }
}

#[test]
fn a_generic_chare_is_as_many_chares_as_the_program_asks_for() {
    on_every_path(&SHAPES, || async {
        let (numbers, counts) = (AdderProxy::create(4, 0.5), AdderProxy::create(3, 7u32));
        let numbers_run: Vec<_> = (0..4).map(|index| numbers.at(index).run(4)).collect();
        let counts_run: Vec<_> = (0..3).map(|index| counts.at(index).run(3)).collect();
        assert_eq!(chare::wait_all(numbers_run).await, [2.5; 4]);
        assert_eq!(chare::wait_all(counts_run).await, [28; 3]);
        let shape = ShapeProxy::of(&numbers.at(3));
        shape.scale(2.0);
        chare::quiescence().await;
        assert_eq!(shape.area().await, 5.0);
    });
}

/// Shapes that fill space; a trait that extends another.
#[entries(extends = Shape)]
trait Solid: Shape {
    #[entry]
    fn volume(&self) -> f64;

    #[entry]
    fn double(&mut self) {
        self.scale(2.0);
    }
}

#[entries(extends = Solid)]
trait Ball {
    #[entry]
    fn surface_at(&self, distance: f64) -> f64 {
        self.area() * distance
    }
}

#[entries]
impl Solid for Adder<f64> {
    fn volume(&self) -> f64 {
        self.total * 10.0
    }
}

#[entries]
impl Ball for Adder<f64> {}

/// Gets a proxy of any of the three.
struct Viewer;

#[chare]
impl Viewer {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn view(
        _this: This<Self>,
        ball: BallProxy,
        solid: SolidProxy,
        shape: ShapeProxy,
    ) -> (f64, f64, f64) {
        (ball.area().await, solid.volume().await, shape.area().await)
    }
}

#[test]
fn a_proxy_has_the_methods_of_the_traits_that_its_own_extends() {
    on_every_path(&SHAPES, || async {
        let adders = AdderProxy::create(4, 0.5);
        let ball = BallProxy::of(&adders.at(3));
        ball.scale(2.0);
        ball.double();
        chare::quiescence().await;
        assert_eq!((ball.area().await, ball.volume().await, ball.surface_at(3.0).await), (2.0, 20.0, 6.0));
        let (solid, shape) = (SolidProxy::from(ball.clone()), ShapeProxy::of(&adders.at(3)));
        assert_eq!(ShapeProxy::from(solid.clone()), shape);
        assert_eq!(ViewerProxy::create().view(ball, solid, shape).await, (2.0, 20.0, 2.0));
        let (all, some) = (
            BallCollectionProxy::of(&adders),
            BallSectionProxy::form([0, 1].map(|index| BallProxy::of(&adders.at(index)))),
        );
        all.double();
        some.scale(10.0);
        chare::quiescence().await;
        let areas: Vec<_> = (0..4).map(|index| all.at(index).area()).collect();
        assert_eq!(chare::wait_all(areas).await, [10.0, 10.0, 1.0, 4.0]);
        some.dissolve();
    });
}
