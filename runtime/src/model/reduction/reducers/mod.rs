//! What members of a collection can contribute to a reduction, and how contributions become one: see [`Contribution`].

mod custom;
mod data;
mod numbers;
mod statistics;

pub use custom::{Reducer, ReducerRegistration};
pub(crate) use custom::{ReducerId, reducers};
pub(crate) use data::Data;
pub use numbers::{Elementwise, Integer, Number, Scalar};
pub use statistics::Statistics;

use crate::model::arguments::{Arguments, Message};
use crate::model::ids::Index;
use data::Value;
use numbers::Fold;
use std::marker::PhantomData;

/// One member's share of a reduction whose result is a `T`. Made by the functions of this table:
///
/// | contributed by | the result |
/// |---|---|
/// | [`sum`], [`product`], [`min`], [`max`] | a number; vectors and arrays of numbers fold element by element |
/// | [`bit_and`], [`bit_or`], [`bit_xor`] | an integer, or a run of them |
/// | [`logical_and`], [`logical_or`], [`logical_xor`] | a truth value, or a run of them |
/// | [`concat()`], [`set`] | a vector of all items, of all values |
/// | [`random()`] | one of the values, each as likely |
/// | [`statistics()`] | [`Statistics`]: count, mean, squares |
/// | [`reduce()`] | a value of a type that implements [`Reducer`] |
/// | [`tuple()`] | several of these in one |
/// | [`barrier`] | nothing: all have come here |
///
/// The result goes to any callback, and its type is the callback's. So these are an all-reduce, an all-gather and a barrier in
/// which all members take part and of which all hear:
///
/// ```
/// use chare::prelude::*;
///
/// struct Body {
///     mass: f64,
/// }
///
/// #[chare(array)]
/// impl Body {
///     #[entry]
///     fn new() -> Self {
///         Self { mass: 1.5 }
///     }
///
///     #[entry]
///     fn start(&mut self) {
///         let (all, index) = (self.this_collection(), self.this_index());
///         self.contribute(sum(self.mass), all.total_callback());
///         self.contribute(set(index), all.gathered_callback());
///         self.contribute(tuple((min(index), max([index, 7]))), all.extremes_callback());
///         self.contribute(barrier(), all.passed_callback());
///     }
///
///     #[entry]
///     fn total(&mut self, mass: f64) {
///         assert_eq!(mass, 6.0);
///     }
///
///     #[entry]
///     fn gathered(&mut self, indices: Vec<u64>) {
///         assert_eq!(indices, [0, 1, 2, 3]);
///     }
///
///     // The parts of a tuple are the arguments of an entry.
///     #[entry]
///     fn extremes(&mut self, least: u64, most: [u64; 2]) {
///         assert_eq!((least, most), (0, [3, 7]));
///     }
///
///     #[entry]
///     fn passed(&mut self) {}
/// }
///
/// let job = chare::Job::in_process(1, 2).run(|| async { BodyProxy::create(4).start() });
/// assert_eq!(job.unwrap(), 0);
/// ```
///
/// Contributions fold as they arrive: on each PE, on each node, and on the way between nodes. A sum of floating-point numbers may therefore
/// round otherwise in the next run.
#[must_use = "a contribution counts once it is contributed"]
pub struct Contribution<T> {
    data: Data,
    result: PhantomData<fn() -> T>,
}

impl<T> Contribution<T> {
    #[inline]
    fn new(data: Data) -> Self {
        Self { data, result: PhantomData }
    }

    /// What the member with this index contributes.
    #[inline]
    pub(crate) fn of_member(self, index: Index) -> Data {
        let mut data = self.data;
        data.sign(index);
        data
    }
}

impl<T> std::fmt::Debug for Contribution<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "a contribution to a `{}`", std::any::type_name::<T>())
    }
}

#[inline]
fn fold<V: Elementwise>(fold: Fold, value: V) -> Contribution<V> {
    Contribution::new(Data::Numbers(fold, value.into_numbers()))
}

/// Contributes to a sum. Integers wrap around.
pub fn sum<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Sum, value)
}

/// Contributes to a product. Integers wrap around.
pub fn product<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Product, value)
}

/// Contributes to a minimum. NaN counts where there is no number at all.
pub fn min<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Min, value)
}

/// Contributes to a maximum. NaN counts where there is no number at all.
pub fn max<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Max, value)
}

/// Contributes bits to those that all have.
pub fn bit_and<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::And, value)
}

/// Contributes bits to those that any has.
pub fn bit_or<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::Or, value)
}

/// Contributes bits to those that an odd number has.
pub fn bit_xor<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::Xor, value)
}

/// Contributes to whether it is so for all.
pub fn logical_and<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::And, value)
}

/// Contributes to whether it is so for any.
pub fn logical_or<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::Or, value)
}

/// Contributes to whether it is so for an odd number.
pub fn logical_xor<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::Xor, value)
}

/// Contributes items to a vector of the items of all: in the order of the members' indices, a member's own as they were given.
pub fn concat<T: Message>(items: impl IntoIterator<Item = T>) -> Contribution<Vec<T>> {
    let piece = |item| (Index::from(0), Value(Arguments::new(item)));
    Contribution::new(Data::Pieces(items.into_iter().map(piece).collect()))
}

/// Contributes one value to a vector of all values, in the order of the members' indices.
pub fn set<T: Message>(value: T) -> Contribution<Vec<T>> {
    concat([value])
}

/// Contributes a value of which one is drawn at random.
pub fn random<T: Message>(value: T) -> Contribution<T> {
    Contribution::new(Data::Drawn(1, Value(Arguments::new(value))))
}

/// Contributes a number to [`Statistics`]. For several numbers at once, `reduce` what they are collected to.
pub fn statistics(number: f64) -> Contribution<Statistics> {
    reduce(Statistics::of(number))
}

/// Contributes a value of a type that knows how to fold; see [`Reducer`].
pub fn reduce<R: Reducer>(value: R) -> Contribution<R> {
    Contribution::new(Data::Custom(ReducerId::of(R::NAME), Value(Arguments::new(value))))
}

/// Contributes nothing but its presence: a barrier.
pub fn barrier() -> Contribution<()> {
    Contribution::new(Data::Nothing)
}

/// Contributes to several reductions at once: one message instead of several. Their results are one tuple, or the arguments of one entry.
pub fn tuple<C: Contributions>(contributions: C) -> Contribution<C::Results> {
    Contribution::new(Data::Tuple(contributions.parts().0))
}

/// Tuples of two to six contributions.
pub trait Contributions {
    /// The tuple of their results.
    type Results;

    #[doc(hidden)]
    fn parts(self) -> Parts;
}

/// What a tuple of contributions consists of.
#[doc(hidden)]
pub struct Parts(Vec<Data>);

macro_rules! tuples {
    ($(($($result:ident),*);)*) => {$(
        impl<$($result),*> Contributions for ($(Contribution<$result>),*) {
            type Results = ($($result),*);

            #[expect(non_snake_case, reason = "each part is named after its type")]
            fn parts(self) -> Parts {
                let ($($result),*) = self;
                Parts(vec![$($result.data),*])
            }
        }
    )*};
}

tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
}
