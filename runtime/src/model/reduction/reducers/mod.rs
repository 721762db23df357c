//! Reducers: the contributions that members of a collection can make to a reduction, and how they become one: see [`Contribution`].

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
/// which all members take part and whose results all members receive:
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

    /// The contribution of the member with this index, whose lot `draw` draws.
    #[inline]
    pub(crate) fn of_member(self, index: Index, draw: fn() -> u64) -> Data {
        let mut data = self.data;
        data.sign(index, draw);
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

/// Contributes to a minimum. NaN is the result only where there is no number at all.
pub fn min<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Min, value)
}

/// Contributes to a maximum. NaN is the result only where there is no number at all.
pub fn max<V: Elementwise<Element: Number>>(value: V) -> Contribution<V> {
    fold(Fold::Max, value)
}

/// Contributes to a bitwise and: the bits that all contributions have.
pub fn bit_and<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::And, value)
}

/// Contributes to a bitwise or: the bits that any contribution has.
pub fn bit_or<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::Or, value)
}

/// Contributes to a bitwise exclusive or: the bits that an odd number of contributions have.
pub fn bit_xor<V: Elementwise<Element: Integer>>(value: V) -> Contribution<V> {
    fold(Fold::Xor, value)
}

/// Contributes to a logical and: whether all contributions are true.
pub fn logical_and<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::And, value)
}

/// Contributes to a logical or: whether any contribution is true.
pub fn logical_or<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::Or, value)
}

/// Contributes to a logical exclusive or: whether an odd number of contributions are true.
pub fn logical_xor<V: Elementwise<Element = bool>>(value: V) -> Contribution<V> {
    fold(Fold::Xor, value)
}

/// Contributes items to a vector of all members' items: in the order of the members' indices, each member's items in the order given.
pub fn concat<T: Message>(items: impl IntoIterator<Item = T>) -> Contribution<Vec<T>> {
    let piece = |item| (Index::from(0), Value(Arguments::new(item)));
    Contribution::new(Data::Pieces(items.into_iter().map(piece).collect()))
}

/// Contributes one value to a vector of all values, in the order of the members' indices.
pub fn set<T: Message>(value: T) -> Contribution<Vec<T>> {
    concat([value])
}

/// Contributes one of the values from which the result is drawn at random.
pub fn random<T: Message>(value: T) -> Contribution<T> {
    Contribution::new(Data::Drawn(0, Value(Arguments::new(value))))
}

/// Contributes a number to [`Statistics`]. For several numbers at once, collect them to [`Statistics`] and [`reduce()`] those.
pub fn statistics(number: f64) -> Contribution<Statistics> {
    reduce(Statistics::of(number))
}

/// Contributes a value of a type that knows how to fold; see [`Reducer`].
pub fn reduce<R: Reducer>(value: R) -> Contribution<R> {
    Contribution::new(Data::Custom(ReducerId::of(R::NAME), Value(Arguments::new(value))))
}

/// Contributes nothing but the member's presence: a barrier.
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

/// The parts of a tuple of contributions.
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
