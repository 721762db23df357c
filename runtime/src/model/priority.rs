//! Priorities of messages: one ordered value, whether it was written as an integer, a 64-bit integer or words.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// The priority of a message: smaller runs first.
///
/// All priorities are fractions between 0 and 1, written in words of 32 bits. They compare word by word, and a priority that is the
/// beginning of another runs before that one. An integer is one word, a 64-bit integer two, and no priority is integer 0: the middle.
///
/// ```
/// use chare::Priority;
/// assert!(Priority::integer(-1) < Priority::DEFAULT);
/// assert_eq!(Priority::long(0), Priority::DEFAULT);
/// assert!(Priority::long(1) < Priority::integer(1), "integer 1 is 2^32 as a 64-bit integer");
/// // A tree search: what the left branch brings runs before what the right one does.
/// let (left, right) = (Priority::bits(&[0]), Priority::bits(&[1]));
/// assert!(left < Priority::bits(&[0, 7]) && Priority::bits(&[0, 7]) < right);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Priority {
    /// The value of a priority of one word.
    pub(crate) integer: i32,
    /// The words of a priority of any other length, instead of the integer.
    pub(crate) bits: Option<BitVector>,
}

/// Words of a fraction, most significant first. Cheap to clone; one pointer, because nearly every message carries none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct BitVector(Arc<Vec<u32>>);

/// Turns the order of signed integers into that of unsigned words.
const fn bias(integer: i32) -> u32 {
    integer as u32 ^ (1 << 31)
}

impl Priority {
    /// The priority of messages that name none.
    pub const DEFAULT: Self = Self::integer(0);

    /// The priority of an integer.
    pub const fn integer(integer: i32) -> Self {
        Self { integer, bits: None }
    }

    /// The priority of a 64-bit integer. Costs an allocation unless it is a multiple of 2^32.
    pub fn long(integer: i64) -> Self {
        let high = bias((integer >> 32) as i32);
        match integer as u32 {
            0 => Self::bits(&[high]),
            low => Self::bits(&[high, low]),
        }
    }

    /// The priority with these words. Costs an allocation unless it is one word.
    pub fn bits(words: &[u32]) -> Self {
        match words {
            [word] => Self::integer(bias(*word as i32) as i32),
            words => Self { integer: 0, bits: Some(BitVector(Arc::new(words.to_vec()))) },
        }
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.bits, &other.bits) {
            (None, None) => self.integer.cmp(&other.integer),
            (None, Some(other)) => [bias(self.integer)][..].cmp(&other.0),
            (Some(this), None) => this.0[..].cmp(&[bias(other.integer)]),
            (Some(this), Some(other)) => this.cmp(other),
        }
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_vectors_compare_as_fractions_and_integers_as_one_word() {
        let half = 1 << 31;
        let mut priorities = vec![
            Priority::bits(&[half, 1]),
            Priority::bits(&[half + 1]),
            Priority::integer(0),
            Priority::bits(&[half - 1, u32::MAX]),
            Priority::bits(&[]),
        ];
        priorities.sort();
        assert_eq!(
            priorities,
            [
                Priority::bits(&[]),
                Priority::bits(&[half - 1, u32::MAX]),
                Priority::integer(0),
                Priority::bits(&[half, 1]),
                Priority::bits(&[half + 1]),
            ]
        );
        assert_eq!(Priority::bits(&[half]), Priority::integer(0));
    }

    #[test]
    fn long_integers_keep_their_order_and_zero_is_the_default() {
        let numbers = [i64::MIN, -(1 << 32) - 1, -(1 << 32), -1, 0, 1, 1 << 32, (1 << 32) + 1, i64::MAX];
        let priorities = numbers.map(Priority::long);
        assert!(priorities.is_sorted_by(|one, next| one < next), "{priorities:?}");
        for integer in [i32::MIN, -1, 0, 1, i32::MAX] {
            assert_eq!(Priority::long(i64::from(integer) << 32), Priority::integer(integer));
        }
    }
}
