//! Sequence of selections of different memories, which nobody expects to have a shorter form.

use crate::value::sums;
use crate::{LayoutError, Raw};
use smallvec::SmallVec;

impl Raw {
    /// Selections one after the other, each so many bytes further on, like [`structure`](Self::structure); but those that lie apart stand
    /// as they are, without a look for a shorter form. So it is quicker to make than to compare: a structure of the same selections need
    /// not be equal.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let column = Raw::bytes_of(8)?.vector(3, 1, 4)?;
    /// let both = Raw::sequence(&[(1000, &column), (0, &column)])?;
    /// assert!(both.runs().map(|(at, _)| at).eq([1000, 1032, 1064, 0, 32, 64]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: some 20 ns for each selection.
    ///
    /// # Errors
    /// As [`structure`](Self::structure).
    pub fn sequence(selections: &[(i64, &Self)]) -> Result<Self, LayoutError> {
        let mut spans = SmallVec::<[(i64, i64); 16]>::new();
        for (at, selection) in selections {
            spans.push((sums::add(selection.origin(), *at)?, sums::add(selection.end(), *at)?));
        }
        spans.sort_unstable();
        let lie_apart = spans.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let select_all = selections.iter().all(|(_, selection)| selection.bytes() > 0);
        if selections.is_empty() || !lie_apart || !select_all {
            let fields: SmallVec<[_; 16]> =
                selections.iter().map(|(at, selection)| (1, *at, *selection)).collect();
            return Self::structure(&fields);
        }
        Self::apart(selections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_what_a_structure_of_the_same_is() -> Result<(), LayoutError> {
        let column = Raw::bytes_of(8)?.vector(3, 1, 4)?;
        let list = Raw::bytes_of(4)?.indexed_block(1, &[7, 0, 2])?;
        let (block, nothing) = (Raw::bytes_of(16)?, Raw::bytes_of(0)?);
        let backwards = Raw::bytes_of(2)?.vector(4, 1, -3)?;
        for selections in [
            &[(1000, &column), (0, &list), (500, &block)][..],
            &[(-100, &backwards), (0, &column)],
            // They touch, cross, or select nothing.
            &[(0, &block), (16, &block), (40, &list)],
            &[(0, &column), (8, &column)],
            &[(0, &block), (100, &nothing), (200, &column)],
            &[(3, &column)],
            // One list, were it not for the sequence; nor would this be one for ever, if it were told as such.
            &[(0, &list), (1000, &list)],
            &[],
        ] {
            let sequence = Raw::sequence(selections)?;
            let fields: Vec<_> = selections.iter().map(|(at, selection)| (1, *at, *selection)).collect();
            let structure = Raw::structure(&fields)?;
            assert!(sequence.runs().eq(structure.runs()), "{selections:?}");
            let facts = |raw: &Raw| (raw.bytes(), raw.origin(), raw.span(), raw.grain(), raw.run_count());
            assert_eq!(facts(&sequence), facts(&structure), "{selections:?}");
            assert_eq!(sequence.check_target().is_ok(), structure.check_target().is_ok(), "{selections:?}");
            let told = Raw::decode(&sequence.encode())?;
            assert_eq!((&told, facts(&told)), (&sequence, facts(&sequence)), "{selections:?}");
            assert_eq!(told.digest(), sequence.digest(), "{selections:?}");
        }
        let far = [(0, &column), (i64::MAX - 10, &column)];
        assert!(Raw::sequence(&far).is_err());
        assert!(Raw::sequence(&[(i64::MIN, &block), (i64::MAX - 16, &block)]).is_err());
        Ok(())
    }
}
