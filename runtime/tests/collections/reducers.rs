//! Reducers: the contributions of members and the results that their callback gets, whatever the job's shape.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Contribution, Job, Statistics};
use chare::{bit_and, bit_or, bit_xor, logical_and, logical_or, logical_xor};
use serde::{Deserialize, Serialize};

/// One process with one, two and four PEs, and several processes.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 2), (1, 4), (2, 2), (3, 1)];

const MEMBERS: u64 = 10;

/// The words of all members, each once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Words(Vec<String>);

#[reducer]
impl Reducer for Words {
    fn fold(&mut self, other: Self) {
        self.0.extend(other.0);
        self.0.sort();
        self.0.dedup();
    }
}

type Several = (f64, Vec<u64>, Words, ());

struct Member;

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Members contribute to all of these without waiting for any.
    #[entry]
    fn numbers(
        &mut self,
        sums: Callback<u8>,
        products: Callback<i64>,
        least: Callback<Vec<f32>>,
        most: Callback<[i16; 2]>,
    ) {
        let index = self.this_index();
        self.contribute(sum(index as u8 * 10), sums);
        self.contribute(product(index as i64 - 20), products);
        self.contribute(min(vec![index as f32, -(index as f32)]), least);
        self.contribute(max([index as i16, -(index as i16)]), most);
    }

    #[entry]
    fn bits(&mut self, bits: [Callback<u32>; 3], truths: [Callback<bool>; 3], each: Callback<Vec<bool>>) {
        let index = self.this_index();
        let contributions = [bit_and(!(1 << index)), bit_or(1 << index), bit_xor(index as u32)];
        for (contribution, to) in contributions.into_iter().zip(bits) {
            self.contribute(contribution, to);
        }
        let contributions = [logical_and(index > 0), logical_or(index == 7), logical_xor(index < 3)];
        for (contribution, to) in contributions.into_iter().zip(truths) {
            self.contribute(contribution, to);
        }
        self.contribute(logical_or(vec![index > 100, index > 8]), each);
    }

    #[entry]
    fn collect(
        &mut self,
        items: Callback<Vec<u64>>,
        values: Callback<Vec<Vec<u64>>>,
        spread: Callback<Statistics>,
    ) {
        let index = self.this_index();
        // As many items as the index says, from none to two.
        let own: Vec<u64> = (0..index % 3).map(|item| index * 10 + item).collect();
        self.contribute(concat(own.clone()), items);
        self.contribute(set(own), values);
        self.contribute(statistics(index as f64), spread);
    }

    #[entry]
    fn draw(&mut self, one: Callback<(u64, String)>) {
        let index = self.this_index();
        self.contribute(chare::random((index, index.to_string())), one);
    }

    fn several(&self) -> Contribution<Several> {
        let index = self.this_index();
        let word = if index.is_multiple_of(2) { "even" } else { "odd" };
        tuple((sum(0.5), set(index), reduce(Words(vec![word.to_owned()])), barrier()))
    }

    #[entry]
    fn all_at_once(&mut self, to: Callback<Several>) {
        self.contribute(self.several(), to);
    }

    /// All-reduce and all-gather: every member hears of all, as the arguments of an entry.
    #[entry]
    fn start_hearing(&mut self, done: Callback<u64>) {
        self.contribute(tuple((sum(1u64), set(done))), self.this_collection().heard_callback());
    }

    #[entry]
    fn heard(&mut self, members: u64, done: Vec<Callback<u64>>) {
        assert_eq!(done.len() as u64, members);
        self.contribute(sum(members), done[0]);
    }
}

fn everyone() -> MemberProxy {
    MemberProxy::create(MEMBERS)
}

/// All members on one node that is not the root of their reductions.
fn elsewhere() -> MemberProxy {
    let last = PeId(chare::pes() - 1);
    MemberProxy::create(ArrayOptions::new(MEMBERS).place_by(|_| last))
}

/// Members on all nodes but the root of their reductions, which folds what it knows no type of.
fn around() -> MemberProxy {
    let others = u64::from(chare::pes() - 1).max(1);
    let on = |index| PeId(((index % others + 1) % u64::from(chare::pes())) as u32);
    MemberProxy::create(ArrayOptions::new(MEMBERS).place_by(on))
}

const ARRAYS: [fn() -> MemberProxy; 3] = [everyone, elsewhere, around];

#[test]
fn numbers_fold_alone_and_in_runs() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let ((sums, a), (products, b)) = (chare::future(), chare::future());
            let ((least, c), (most, d)) = (chare::future(), chare::future());
            array().numbers(a, b, c, d);
            assert_eq!(sums.await, 194, "450 wraps around");
            assert_eq!(products.await, (11..=20).product::<i64>());
            assert_eq!(least.await, [0.0, -9.0]);
            assert_eq!(most.await, [9, 0]);
        }
    });
}

#[test]
fn bits_and_truths_fold() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let (bits, to_bits): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
            let (truths, to_truths): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future()).unzip();
            let (each, to_each) = chare::future();
            array().bits(to_bits.try_into().unwrap(), to_truths.try_into().unwrap(), to_each);
            assert_eq!(chare::wait_all(bits).await, [!0x3ff, 0x3ff, 1]);
            assert_eq!(chare::wait_all(truths).await, [false, true, true]);
            assert_eq!(each.await, [false, true]);
        }
    });
}

#[test]
fn items_and_values_are_collected_in_the_order_of_the_members() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let ((items, a), (values, b), (spread, c)) = (chare::future(), chare::future(), chare::future());
            array().collect(a, b, c);
            assert_eq!(items.await, [10, 20, 21, 40, 50, 51, 70, 80, 81]);
            let values = values.await;
            assert_eq!(values.len() as u64, MEMBERS);
            assert_eq!(values[5], [50, 51]);
            let spread = spread.await;
            assert_eq!(spread.count, MEMBERS);
            assert!(
                (spread.mean - 4.5).abs() < 1e-12 && (spread.variance() - 8.25).abs() < 1e-12,
                "{spread:?}"
            );
        }
    });
}

#[test]
fn one_value_is_drawn_and_not_always_the_same() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let (members, mut drawn) = (array(), [false; MEMBERS as usize]);
            // One that is as likely as the others is missing after so many with a probability of 10^-23.
            for _ in 0..500 {
                let (one, done) = chare::future();
                members.draw(done);
                let (index, name) = one.await;
                assert_eq!(name, index.to_string());
                drawn[index as usize] = true;
            }
            assert_eq!(drawn, [true; MEMBERS as usize]);
        }
    });
}

#[test]
fn several_reductions_travel_as_one() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let (all, done) = chare::future();
            array().all_at_once(done);
            let (sum, indices, words, ()) = all.await;
            assert_eq!(sum, 5.0);
            assert_eq!(indices, (0..MEMBERS).collect::<Vec<_>>());
            assert_eq!(words, Words(vec!["even".to_owned(), "odd".to_owned()]));
        }
    });
}

#[test]
fn every_member_hears_what_all_contributed() {
    on_every_path(&SHAPES, || async {
        for array in ARRAYS {
            let (total, done) = chare::future();
            array().start_hearing(done);
            assert_eq!(total.await, MEMBERS * MEMBERS);
        }
    });
}

/// What no reducer should be: it panics when two become one, or when it is written for another node.
#[derive(Clone, Debug)]
enum Clumsy {
    Folding,
    Writing,
}

#[reducer]
impl Reducer for Clumsy {
    fn fold(&mut self, _other: Self) {
        assert!(!matches!(self, Self::Folding), "two cannot become one");
    }
}

impl Serialize for Clumsy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(!matches!(self, Self::Writing), "it cannot be written");
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Clumsy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self::Folding)
    }
}

/// A member whose job outlives panics in its entries: what its reducers do is none.
#[chare(array, on_panic = answer)]
impl Hardy {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn fold(&mut self) {
        self.contribute(reduce(Clumsy::Folding), Callback::<Clumsy>::ignore());
    }

    #[entry]
    fn fold_one_of_two(&mut self) {
        let both = tuple((barrier(), reduce(Clumsy::Folding)));
        self.contribute(both, Callback::<((), Clumsy)>::ignore());
    }

    /// As an entry does that was called by itself, so that its node's first PE folds in it what it has.
    #[entry]
    fn fold_in_turn(&mut self) {
        self.this_collection().at(self.this_index()).fold();
    }

    #[entry]
    fn collect(&mut self, to: Callback<Vec<Clumsy>>) {
        self.contribute(set(Clumsy::Writing), to);
    }
}

struct Hardy;

/// The error with which a job of this shape ends.
fn error_of(
    (nodes, pes): (u32, u32),
    is_one_on_each: bool,
    begin: impl Fn(&HardyProxy) + Send + 'static,
) -> String {
    let ended = Job::in_process(nodes, pes).run(move || async move {
        let members = if is_one_on_each { u64::from(chare::pes()) } else { MEMBERS };
        let on = |index| PeId(index as u32 % chare::pes());
        begin(&HardyProxy::create(ArrayOptions::new(members).place_by(on)));
        std::future::pending::<()>().await;
    });
    ended.expect_err("somebody panics").to_string()
}

/// Where several are on a PE, in an entry of one of them; else where what others sent is folded: on the first PE of their node, and at the
/// root.
#[test]
fn a_reducer_that_panics_ends_the_job_in_words_that_name_it_and_whose_reduction_it_is() {
    let begins: [fn(&HardyProxy); 3] =
        [HardyProxy::fold, HardyProxy::fold_one_of_two, HardyProxy::fold_in_turn];
    for shape in SHAPES.into_iter().chain([(2, 1)]) {
        for (begin, is_one_on_each) in begins.into_iter().flat_map(|begin| [(begin, false), (begin, true)]) {
            if shape == (1, 1) && is_one_on_each {
                continue;
            }
            let said = error_of(shape, is_one_on_each, begin);
            assert!(
                said.contains("a reduction over collections::reducers::Hardy failed on"),
                "{shape:?}: {said}"
            );
            assert!(
                said.contains("`collections::reducers::Clumsy` panicked: two cannot become one (at"),
                "{shape:?}: {said}"
            );
        }
    }
}

#[test]
fn what_panics_while_a_result_is_written_ends_the_job_in_words() {
    for shape in [(1, 1), (1, 2), (2, 1)] {
        for is_one_on_each in [false, true] {
            let said = error_of(shape, is_one_on_each, |hardy| hardy.collect(Callback::ignore()));
            assert!(
                said.contains("a reduction") && said.contains("it cannot be written"),
                "{shape:?}: {said}"
            );
        }
    }
}
