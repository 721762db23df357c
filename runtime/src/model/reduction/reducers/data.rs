//! Data of partial results: inside a process the contributors' values, serialized when they leave the process.

use super::custom::{ReducerId, reducers};
use super::numbers::{Fold, Numbers};
use crate::base::panics;
use crate::model::arguments::Arguments;
use crate::model::ids::Index;
use chare_lrts::codec::{self, CodecError, Writer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The data of a partial result.
#[derive(Serialize, Deserialize)]
pub(crate) enum Data {
    Nothing,
    Numbers(Fold, Numbers),
    /// Contributions with the index of their contributor.
    Pieces(Vec<(Index, Value)>),
    Custom(ReducerId, Value),
    /// The value with the greatest lot so far.
    Drawn(u64, Value),
    /// Several reductions in one.
    Tuple(Vec<Data>),
}

/// A contributor's value; as bytes between processes.
pub(crate) struct Value(pub(crate) Arguments);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.0.encode_into(&mut bytes).map_err(serde::ser::Error::custom)?;
        bytes.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|bytes| Self(Arguments::encoded(bytes)))
    }
}

impl Data {
    /// Notes the index of the member whose contribution this is, and draws its lot, where one value is drawn.
    #[inline]
    pub(crate) fn sign(&mut self, index: Index, draw: fn() -> u64) {
        match self {
            Self::Pieces(pieces) => pieces.iter_mut().for_each(|piece| piece.0 = index),
            Self::Tuple(parts) => parts.iter_mut().for_each(|part| part.sign(index, draw)),
            Self::Drawn(lot, _) => *lot = draw(),
            Self::Nothing | Self::Numbers(..) | Self::Custom(..) => {}
        }
    }

    /// Folds another partial result into this one, if the other is numbers or nothing, and leaves that as it is. Returns whether it did.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbers(fold, mine), Self::Numbers(other, theirs)) => {
                *fold == *other && mine.fold(theirs, *other).is_ok()
            }
            (Self::Nothing, Self::Nothing) => true,
            _ => false,
        }
    }

    /// Folds another partial result into this one.
    ///
    /// # Errors
    /// When the two do not fit together, in words.
    pub(crate) fn absorb(&mut self, other: Self) -> Result<(), String> {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => Ok(()),
            (Self::Numbers(fold, mine), Self::Numbers(other, theirs)) if *fold == other => {
                mine.fold(&theirs, other)
            }
            (Self::Pieces(mine), Self::Pieces(mut theirs)) => {
                mine.append(&mut theirs);
                Ok(())
            }
            (Self::Custom(reducer, mine), Self::Custom(other, theirs)) if *reducer == other => {
                let registered = reducers().find(&other);
                let reducer = registered.ok_or_else(|| format!("there is no reducer {other:?}"))?;
                // In words, not as a panic of whichever entry contributed: the reduction is lost, even where its chare outlives panics.
                let folded = panics::catch(|| (reducer.fold)(&mut mine.0, theirs.0));
                let folded =
                    folded.map_err(|panic| format!("the reducer `{}` panicked: {panic}", reducer.name))?;
                folded.map_err(|error| format!("a contribution is no `{}`: {error}", reducer.name))
            }
            (Self::Drawn(mine, value), Self::Drawn(theirs, other)) => {
                // Each value was given its lot when it was contributed, so that the order of folding says nothing.
                if theirs > *mine {
                    (*mine, *value) = (theirs, other);
                }
                Ok(())
            }
            (Self::Tuple(mine), Self::Tuple(theirs)) if mine.len() == theirs.len() => {
                mine.iter_mut().zip(theirs).try_for_each(|(mine, theirs)| mine.absorb(theirs))
            }
            _ => Err("contributions of different kinds to one reduction".to_owned()),
        }
    }

    /// The callback's argument.
    ///
    /// # Errors
    /// When a contributor's type refuses to be serialized.
    pub(crate) fn into_arguments(self) -> Result<Arguments, CodecError> {
        match self {
            Self::Nothing => Ok(Arguments::new(())),
            Self::Numbers(_, numbers) => numbers.into_arguments(),
            Self::Custom(_, value) | Self::Drawn(_, value) => Ok(value.0),
            // The type of the values is known where the callback leads.
            mut all @ (Self::Pieces(_) | Self::Tuple(_)) => {
                all.sort();
                Arguments::encoded_by(|out| all.encode(out))
            }
        }
    }

    /// The length of the data's encoding, in bytes; 0 when a contributor's type refuses to be serialized, or panics: whoever writes it
    /// hears of that.
    pub(crate) fn encoded_bytes(&self) -> usize {
        let filled = panics::catch(|| codec::fill(&mut [], |writer| self.encode(writer)));
        filled.map_or(0, |filled| filled.unwrap_or(0))
    }

    /// Brings pieces into the order of their contributors.
    fn sort(&mut self) {
        match self {
            Self::Pieces(pieces) => pieces.sort_by_key(|(index, _)| *index),
            Self::Tuple(parts) => parts.iter_mut().for_each(Self::sort),
            Self::Nothing | Self::Numbers(..) | Self::Custom(..) | Self::Drawn(..) => {}
        }
    }

    /// Writes the encoding of the contributors' folded values.
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        match self {
            Self::Nothing => out.write(&()),
            Self::Numbers(_, numbers) => numbers.encode(out),
            Self::Custom(_, value) | Self::Drawn(_, value) => value.0.encode(out),
            Self::Pieces(pieces) => {
                // A sequence is its length, then its elements.
                out.write(&(pieces.len() as u64))?;
                pieces.iter().try_for_each(|(_, piece)| piece.0.encode(out))
            }
            Self::Tuple(parts) => parts.iter().try_for_each(|part| part.encode(out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::ids::Index;
    use crate::model::reduction::reducers::random;

    #[test]
    fn the_value_with_the_greatest_lot_is_drawn_in_whatever_order_values_meet() {
        let lots: [fn() -> u64; 3] = [|| 5, || 9, || 2];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
            let [mut first, second, third] =
                order.map(|member| random(member as u64).of_member(Index::from(member as u64), lots[member]));
            first.absorb(second).and_then(|()| first.absorb(third)).expect("they are of one kind");
            let drawn = first.into_arguments().expect("a number is serialized");
            assert_eq!(drawn.take::<u64>().ok(), Some(1), "{order:?}");
        }
    }
}
