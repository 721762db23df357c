//! Numeric reducers: numbers and truth values, alone or in runs, folded element by element.

use crate::model::arguments::{Arguments, Message};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};

/// A type whose values fold one by one: the number types and `bool`.
pub trait Scalar: Message + Copy {
    #[doc(hidden)]
    fn wrap(run: Run<Self>) -> Numbers;
}

/// A number type, for [`sum`](crate::sum()), [`product`](crate::product), [`min`](crate::min()) and [`max`](crate::max()).
pub trait Number: Scalar {}

/// An integer type, whose values fold bit by bit, too.
pub trait Integer: Number {}

/// A scalar, or a vector or array of them that is folded element by element.
pub trait Elementwise: Message {
    /// The type of the elements.
    type Element: Scalar;

    #[doc(hidden)]
    fn into_numbers(self) -> Numbers;
}

impl<S: Scalar> Elementwise for S {
    type Element = S;

    #[inline]
    fn into_numbers(self) -> Numbers {
        S::wrap(Run::One(self))
    }
}

impl<S: Scalar> Elementwise for Vec<S> {
    type Element = S;

    fn into_numbers(self) -> Numbers {
        S::wrap(Run::Vector(self))
    }
}

impl<S: Scalar, const LEN: usize> Elementwise for [S; LEN]
where
    [S; LEN]: Message,
{
    type Element = S;

    fn into_numbers(self) -> Numbers {
        S::wrap(Run::Array(self.to_vec()))
    }
}

/// The operation by which two elements become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Fold {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Elements of one type, as the contributor gave them.
#[doc(hidden)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Run<S> {
    One(S),
    Vector(Vec<S>),
    Array(Vec<S>),
}

impl<S: Scalar> Run<S> {
    #[inline]
    fn fold(&mut self, other: &Self, fold: impl Fn(S, S) -> S) -> Result<(), String> {
        match (self, other) {
            (Self::One(mine), Self::One(theirs)) => *mine = fold(*mine, *theirs),
            (Self::Vector(mine), Self::Vector(theirs)) | (Self::Array(mine), Self::Array(theirs)) => {
                if mine.len() != theirs.len() {
                    let (one, other) = (mine.len(), theirs.len());
                    return Err(format!("contributions of {one} and of {other} numbers to one reduction"));
                }
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = fold(*mine, *theirs));
            }
            _ => return Err("contributions of single numbers and of runs to one reduction".to_owned()),
        }
        Ok(())
    }

    /// Writes the encoding of the value that the contributor gave.
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::One(value) => out.write(value),
            Self::Vector(values) => out.write(values),
            // An array's length is part of its type; every value takes a byte at least.
            Self::Array(values) if values.is_empty() => out.write(&()),
            Self::Array(values) => values.iter().try_for_each(|value| out.write(value)),
        }
    }

    fn into_arguments(self) -> Result<Arguments, CodecError> {
        match self {
            Self::One(value) => Ok(Arguments::new(value)),
            Self::Vector(values) => Ok(Arguments::new(values)),
            Self::Array(_) => Arguments::encoded_by(|out| self.encode(out)),
        }
    }
}

macro_rules! fold {
    (integer, $mine:ident, $theirs:ident, $fold:ident) => {
        match $fold {
            Fold::Sum => $mine.fold($theirs, |one, other| one.wrapping_add(other)),
            Fold::Product => $mine.fold($theirs, |one, other| one.wrapping_mul(other)),
            Fold::Min => $mine.fold($theirs, |one, other| one.min(other)),
            Fold::Max => $mine.fold($theirs, |one, other| one.max(other)),
            Fold::And => $mine.fold($theirs, |one, other| one & other),
            Fold::Or => $mine.fold($theirs, |one, other| one | other),
            Fold::Xor => $mine.fold($theirs, |one, other| one ^ other),
        }
    };
    (float, $mine:ident, $theirs:ident, $fold:ident) => {
        match $fold {
            Fold::Sum => $mine.fold($theirs, |one, other| one + other),
            Fold::Product => $mine.fold($theirs, |one, other| one * other),
            Fold::Min => $mine.fold($theirs, |one, other| one.min(other)),
            Fold::Max => $mine.fold($theirs, |one, other| one.max(other)),
            Fold::And | Fold::Or | Fold::Xor => Err(unfit($fold, "floating-point numbers")),
        }
    };
    (truth, $mine:ident, $theirs:ident, $fold:ident) => {
        match $fold {
            Fold::And => $mine.fold($theirs, |one, other| one & other),
            Fold::Or => $mine.fold($theirs, |one, other| one | other),
            Fold::Xor => $mine.fold($theirs, |one, other| one ^ other),
            Fold::Sum | Fold::Product | Fold::Min | Fold::Max => Err(unfit($fold, "truth values")),
        }
    };
}

/// The error for elements that do not have this operation. The contributing functions do not let this happen; another node's bytes may.
fn unfit(fold: Fold, of: &str) -> String {
    format!("there is no {fold:?} of {of}")
}

macro_rules! classes {
    (integer, $scalar:ty) => {
        impl Number for $scalar {}
        impl Integer for $scalar {}
    };
    (float, $scalar:ty) => {
        impl Number for $scalar {}
    };
    (truth, $scalar:ty) => {};
}

macro_rules! scalars {
    ($($variant:ident($scalar:ty): $class:ident;)*) => {
        /// A run of any scalar type.
        #[doc(hidden)]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Numbers { $(#[doc = stringify!($scalar)] $variant(Run<$scalar>)),* }

        impl Numbers {
            /// Folds another run into this one.
            ///
            /// # Errors
            /// When the two do not fit together, in words.
            pub(crate) fn fold(&mut self, other: &Self, fold: Fold) -> Result<(), String> {
                match (self, other) {
                    $((Self::$variant(mine), Self::$variant(theirs)) => fold!($class, mine, theirs, fold),)*
                    _ => Err("contributions of different number types to one reduction".to_owned()),
                }
            }

            pub(crate) fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
                match self { $(Self::$variant(run) => run.encode(out)),* }
            }

            /// The contributors' folded value, as the argument of a callback.
            pub(crate) fn into_arguments(self) -> Result<Arguments, CodecError> {
                match self { $(Self::$variant(run) => run.into_arguments()),* }
            }
        }

        $(
            impl Scalar for $scalar {
                #[inline]
                fn wrap(run: Run<Self>) -> Numbers {
                    Numbers::$variant(run)
                }
            }
            classes!($class, $scalar);
        )*
    };
}

scalars! {
    Bool(bool): truth;
    I8(i8): integer;
    I16(i16): integer;
    I32(i32): integer;
    I64(i64): integer;
    I128(i128): integer;
    Isize(isize): integer;
    U8(u8): integer;
    U16(u16): integer;
    U32(u32): integer;
    U64(u64): integer;
    U128(u128): integer;
    Usize(usize): integer;
    F32(f32): float;
    F64(f64): float;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded<V: Elementwise>(fold: Fold, values: impl IntoIterator<Item = V>) -> Result<V, String> {
        let mut all = values.into_iter().map(Elementwise::into_numbers);
        let mut whole = all.next().expect("there is one at least");
        all.try_for_each(|numbers| whole.fold(&numbers, fold))?;
        let arguments = whole.into_arguments().map_err(|error| error.to_string())?;
        arguments.take().map_err(|error| error.to_string())
    }

    #[test]
    fn integers_fold_in_every_way_and_wrap_around() {
        let values = [0b1100u8, 0b1010, 200];
        let results = [
            (Fold::Sum, 222),
            (Fold::Product, 120u8.wrapping_mul(200)),
            (Fold::Min, 10),
            (Fold::Max, 200),
            (Fold::And, 0b1000),
            (Fold::Or, 0b1110 | 200),
            (Fold::Xor, 0b0110 ^ 200),
        ];
        for (fold, result) in results {
            assert_eq!(folded(fold, values), Ok(result), "{fold:?}");
        }
        assert_eq!(folded(Fold::Sum, [u8::MAX, 2]), Ok(1));
        assert_eq!(folded(Fold::Min, [i128::MIN, 0]), Ok(i128::MIN));
    }

    #[test]
    fn a_number_wins_against_none() {
        assert_eq!(folded(Fold::Min, [f64::NAN, 2.0, 3.0]), Ok(2.0));
        assert_eq!(folded(Fold::Max, [2.0, f32::NAN]), Ok(2.0));
    }

    #[test]
    fn runs_fold_element_by_element_and_keep_their_type() {
        assert_eq!(folded(Fold::Sum, [vec![1, 2], vec![3, 4]]), Ok(vec![4, 6]));
        assert_eq!(folded(Fold::Max, [[1.0, 9.0, 2.0], [3.0, 4.0, 2.5]]), Ok([3.0, 9.0, 2.5]));
        assert_eq!(folded(Fold::Sum, [[0i32; 0], []]), Ok([]));
        assert_eq!(folded(Fold::Xor, [vec![true, true], vec![true, false]]), Ok(vec![false, true]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(folded(Fold::Sum, [vec![1], vec![1, 2]]).unwrap_err().contains("1 and of 2 numbers"));
        let single = 1u8.into_numbers().fold(&vec![1u8].into_numbers(), Fold::Sum);
        assert!(single.unwrap_err().contains("single numbers and of runs"));
        let types = 1u8.into_numbers().fold(&1u16.into_numbers(), Fold::Sum);
        assert!(types.unwrap_err().contains("different number types"));
        assert!(folded(Fold::And, [1.0, 2.0]).unwrap_err().contains("no And of floating-point"));
        assert!(folded(Fold::Sum, [true, true]).unwrap_err().contains("no Sum of truth values"));
    }
}
