//! Reductions: every member of a collection contributes once, one callback receives the result.
//!
//! 1. A member's n-th contribution belongs to the collection's n-th reduction; several may be under way.
//! 2. A PE folds what its members contribute; when all of them have, the partial goes to the node's first PE; when that
//!    has all of its node and of the nodes below it in the tree, it goes to the node above; the root calls back.
//! 3. Who is expected where follows from the placement, so nobody asks who is finished.
//! 4. Inside a process values are folded as they are; only a partial that crosses to another node is encoded.
//!
//! This file is the fold and its bookkeeping; sending stands in [`crate::collection`].

use crate::callback::ErasedCallback;
use crate::codec::{self, CodecError};
use crate::ids::{CollectionId, Index};
use crate::message::{Arguments, Message};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A number type that `sum`, `min` and `max` know.
pub trait Number: Message + Copy {
    #[doc(hidden)]
    fn wrap(values: Vec<Self>) -> Numbers;
    #[doc(hidden)]
    fn unwrap(numbers: Numbers) -> Option<Vec<Self>>;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Fold {
    Sum,
    Min,
    Max,
}

macro_rules! numbers {
    ($($variant:ident($number:ty): $add:expr, $less:expr;)*) => {
        /// Equally long runs of one number type.
        #[doc(hidden)]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Numbers { $(#[doc = stringify!($number)] $variant(Vec<$number>)),* }

        impl Numbers {
            fn fold(&mut self, other: Self, fold: Fold) -> Result<(), String> {
                match (self, other) {
                    $((Self::$variant(mine), Self::$variant(theirs)) => {
                        if mine.len() != theirs.len() {
                            return Err(format!(
                                "contributions of {} and of {} numbers to one reduction", mine.len(), theirs.len()));
                        }
                        let (add, less): (fn($number, $number) -> $number, fn($number, $number) -> bool) = ($add, $less);
                        for (mine, theirs) in mine.iter_mut().zip(theirs) {
                            match fold {
                                Fold::Sum => *mine = add(*mine, theirs),
                                Fold::Min => if less(theirs, *mine) { *mine = theirs },
                                Fold::Max => if less(*mine, theirs) { *mine = theirs },
                            }
                        }
                        Ok(())
                    })*
                    _ => Err("contributions of different number types to one reduction".to_owned()),
                }
            }

            fn encode(&self, scalar: bool) -> Result<Vec<u8>, CodecError> {
                let mut bytes = Vec::new();
                match self {
                    $(Self::$variant(values) => match (scalar, values.as_slice()) {
                        (true, [value]) => codec::encode_into(value, &mut bytes)?,
                        _ => codec::encode_into(values, &mut bytes)?,
                    })*
                }
                Ok(bytes)
            }
        }

        $(impl Number for $number {
            fn wrap(values: Vec<Self>) -> Numbers {
                Numbers::$variant(values)
            }

            fn unwrap(numbers: Numbers) -> Option<Vec<Self>> {
                match numbers {
                    Numbers::$variant(values) => Some(values),
                    _ => None,
                }
            }
        })*
    };
}

numbers! {
    I8(i8): i8::wrapping_add, |a, b| a < b;
    I16(i16): i16::wrapping_add, |a, b| a < b;
    I32(i32): i32::wrapping_add, |a, b| a < b;
    I64(i64): i64::wrapping_add, |a, b| a < b;
    Isize(isize): isize::wrapping_add, |a, b| a < b;
    U8(u8): u8::wrapping_add, |a, b| a < b;
    U16(u16): u16::wrapping_add, |a, b| a < b;
    U32(u32): u32::wrapping_add, |a, b| a < b;
    U64(u64): u64::wrapping_add, |a, b| a < b;
    Usize(usize): usize::wrapping_add, |a, b| a < b;
    F32(f32): |a, b| a + b, |a, b| a < b;
    F64(f64): |a, b| a + b, |a, b| a < b;
}

/// What partial results consist of.
enum Data {
    Nothing,
    Numbers {
        fold: Fold,
        scalar: bool,
        values: Numbers,
    },
    /// Contributions with the index of their contributor.
    Pieces(Vec<(Index, Arguments)>),
}

/// Turns the whole into the callback's argument, in a process that knows its type.
type Finish = fn(Data) -> Option<Arguments>;

/// One member's share of a reduction whose result is a `T`.
pub struct Contribution<T> {
    data: Data,
    finish: Finish,
    result: std::marker::PhantomData<fn() -> T>,
}

impl<T> Contribution<T> {
    fn new(data: Data, finish: Finish) -> Self {
        Self { data, finish, result: std::marker::PhantomData }
    }
}

/// A number, or a vector of numbers that is folded element by element.
pub trait Summable: Message {
    #[doc(hidden)]
    fn numbers(self) -> (bool, Numbers);
    #[doc(hidden)]
    fn from_numbers(numbers: Numbers) -> Option<Self>;
}

impl<N: Number> Summable for N {
    fn numbers(self) -> (bool, Numbers) {
        (true, N::wrap(vec![self]))
    }

    fn from_numbers(numbers: Numbers) -> Option<Self> {
        N::unwrap(numbers)?.pop()
    }
}

impl<N: Number> Summable for Vec<N> {
    fn numbers(self) -> (bool, Numbers) {
        (false, N::wrap(self))
    }

    fn from_numbers(numbers: Numbers) -> Option<Self> {
        N::unwrap(numbers)
    }
}

fn fold<T: Summable>(value: T, fold: Fold) -> Contribution<T> {
    let (scalar, values) = value.numbers();
    Contribution::new(Data::Numbers { fold, scalar, values }, |data| match data {
        Data::Numbers { values, .. } => T::from_numbers(values).map(Arguments::new),
        _ => None,
    })
}

/// Contributes to a sum. Integers wrap around.
pub fn sum<T: Summable>(value: T) -> Contribution<T> {
    fold(value, Fold::Sum)
}

/// Contributes to a minimum.
pub fn min<T: Summable>(value: T) -> Contribution<T> {
    fold(value, Fold::Min)
}

/// Contributes to a maximum.
pub fn max<T: Summable>(value: T) -> Contribution<T> {
    fold(value, Fold::Max)
}

/// Contributes one element to a vector of all contributions, in the order of the members' indices.
pub fn concat<T: Message>(value: T) -> Contribution<Vec<T>> {
    Contribution::new(Data::Pieces(vec![(Index(0), Arguments::new(value))]), |data| match data {
        Data::Pieces(mut pieces) => {
            pieces.sort_by_key(|(index, _)| *index);
            let all: Result<Vec<T>, _> = pieces.into_iter().map(|(_, piece)| piece.take::<T>()).collect();
            all.ok().map(Arguments::new)
        }
        _ => None,
    })
}

/// Contributes nothing but its presence: a barrier.
pub fn barrier() -> Contribution<()> {
    Contribution::new(Data::Nothing, |_| Some(Arguments::new(())))
}

/// What some members of a collection have contributed to one of its reductions.
pub(crate) struct Partial {
    pub(crate) collection: CollectionId,
    /// Which reduction of the collection.
    pub(crate) number: u64,
    /// How many members it stands for.
    pub(crate) members: u64,
    pub(crate) callback: ErasedCallback,
    data: Data,
    /// Known unless the partial consists of what came from other nodes alone.
    finish: Option<Finish>,
}

/// A partial on the wire.
#[derive(Serialize, Deserialize)]
pub(crate) struct EncodedPartial {
    collection: CollectionId,
    number: u64,
    members: u64,
    callback: ErasedCallback,
    data: EncodedData,
}

#[derive(Serialize, Deserialize)]
enum EncodedData {
    Nothing,
    Numbers { fold: Fold, scalar: bool, values: Numbers },
    Pieces(Vec<(Index, Vec<u8>)>),
}

impl Partial {
    pub(crate) fn of_member<T>(
        (collection, index): (CollectionId, Index),
        number: u64,
        contribution: Contribution<T>,
        callback: ErasedCallback,
    ) -> Self {
        let Contribution { mut data, finish, .. } = contribution;
        if let Data::Pieces(pieces) = &mut data {
            pieces.iter_mut().for_each(|piece| piece.0 = index);
        }
        Self { collection, number, members: 1, callback, data, finish: Some(finish) }
    }

    fn absorb(&mut self, other: Self) -> Result<(), String> {
        self.members += other.members;
        self.finish = self.finish.or(other.finish);
        match (&mut self.data, other.data) {
            (Data::Nothing, Data::Nothing) => Ok(()),
            (
                Data::Numbers { fold, values, .. },
                Data::Numbers { fold: other_fold, values: other_values, .. },
            ) if *fold == other_fold => values.fold(other_values, *fold),
            (Data::Pieces(pieces), Data::Pieces(mut other)) => {
                pieces.append(&mut other);
                Ok(())
            }
            _ => Err("contributions of different kinds to one reduction".to_owned()),
        }
    }

    /// About how much memory its contributions take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.data {
            Data::Nothing => 0,
            Data::Numbers { values, .. } => values.encode(false).map_or(0, |bytes| bytes.len()),
            Data::Pieces(pieces) => {
                pieces.iter().map(|(index, piece)| size_of_val(index) + piece.encoded_bytes()).sum()
            }
        }
    }

    /// The callback's argument.
    ///
    /// # Errors
    /// When a piece from another node is no value of the contributions' type.
    pub(crate) fn finish(self) -> Result<Arguments, String> {
        if let Some(finish) = self.finish {
            return finish(self.data)
                .ok_or_else(|| "a contribution does not have the result's type".to_owned());
        }
        let bytes = match self.data {
            Data::Nothing => {
                let mut bytes = Vec::new();
                codec::encode_into(&(), &mut bytes).map(|()| bytes)
            }
            Data::Numbers { scalar, values, .. } => values.encode(scalar),
            Data::Pieces(mut pieces) => {
                pieces.sort_by_key(|(index, _)| *index);
                // A sequence is its length, then its elements.
                let mut bytes = (pieces.len() as u64).to_le_bytes().to_vec();
                pieces.iter().try_for_each(|(_, piece)| piece.encode_into(&mut bytes)).map(|()| bytes)
            }
        };
        bytes.map(Arguments::encoded).map_err(|error| error.to_string())
    }

    pub(crate) fn encode(self) -> Result<EncodedPartial, CodecError> {
        let data = match self.data {
            Data::Nothing => EncodedData::Nothing,
            Data::Numbers { fold, scalar, values } => EncodedData::Numbers { fold, scalar, values },
            Data::Pieces(pieces) => EncodedData::Pieces(
                pieces
                    .into_iter()
                    .map(|(index, piece)| {
                        let mut bytes = Vec::new();
                        piece.encode_into(&mut bytes).map(|()| (index, bytes))
                    })
                    .collect::<Result<_, _>>()?,
            ),
        };
        let Self { collection, number, members, callback, .. } = self;
        Ok(EncodedPartial { collection, number, members, callback, data })
    }
}

impl From<EncodedPartial> for Partial {
    fn from(encoded: EncodedPartial) -> Self {
        let data = match encoded.data {
            EncodedData::Nothing => Data::Nothing,
            EncodedData::Numbers { fold, scalar, values } => Data::Numbers { fold, scalar, values },
            EncodedData::Pieces(pieces) => Data::Pieces(
                pieces.into_iter().map(|(index, bytes)| (index, Arguments::encoded(bytes))).collect(),
            ),
        };
        let EncodedPartial { collection, number, members, callback, .. } = encoded;
        Self { collection, number, members, callback, data, finish: None }
    }
}

/// The partials that wait for more, at one place of the tree.
#[derive(Default)]
pub(crate) struct Partials(FxHashMap<(CollectionId, u64), Partial>);

impl Partials {
    /// Adds a partial; returns the whole once `expected` members are in it.
    ///
    /// # Errors
    /// When contributions do not fit together.
    pub(crate) fn add(&mut self, partial: Partial, expected: u64) -> Result<Option<Partial>, String> {
        use std::collections::hash_map::Entry;
        let whole = match self.0.entry((partial.collection, partial.number)) {
            Entry::Vacant(_) if partial.members == expected => return Ok(Some(partial)),
            Entry::Vacant(entry) => {
                entry.insert(partial);
                return Ok(None);
            }
            Entry::Occupied(mut entry) => {
                entry.get_mut().absorb(partial)?;
                if entry.get().members < expected {
                    return Ok(None);
                }
                entry.remove()
            }
        };
        if whole.members > expected {
            return Err(format!("{} contributions where {expected} members are", whole.members));
        }
        Ok(Some(whole))
    }
}
