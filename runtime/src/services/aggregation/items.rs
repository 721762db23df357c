//! Items of a buffer: the arguments of calls, one after the other, and the members that they are for.
//!
//! Consecutive calls of one member are a run, which names the member once and says at which call it begins. Names and arguments stand
//! apart, so that names, and arguments that are numbers, become bytes by one copy.

use crate::model::arguments::{Arguments, Message};
use crate::model::ids::{Index, PeId};
use chare_lrts::codec;
use serde::{Deserialize, Serialize};

/// Consecutive calls of one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) index: Index,
    /// The PE where the member lives, as far as the caller knew.
    pub(super) to: PeId,
    pub(super) calls: usize,
}

/// A run as the codec copies it whole: both halves of the index, then the PE and the position of the first call.
type Packed = [u64; 3];

/// The bytes that the name of a member takes.
pub(super) const RUN_BYTES: usize = size_of::<Packed>();

fn pe_of([_, _, rest]: Packed) -> PeId {
    PeId((rest >> 32) as u32)
}

fn start_of([_, _, rest]: Packed) -> usize {
    rest as u32 as usize
}

/// The items of a buffer; see the file's head.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Items<T> {
    runs: Vec<Packed>,
    arguments: Vec<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl<T> Items<T> {
    /// No items yet, with room for so many calls.
    pub(super) fn with_room(calls: usize) -> Self {
        Self { runs: Vec::new(), arguments: Vec::with_capacity(calls) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Whether a call fits without new memory.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.arguments.len() < self.arguments.capacity()
    }

    pub(super) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Adds a call. Returns whether it had to name its member.
    pub(super) fn push(&mut self, index: Index, to: PeId, arguments: T) -> bool {
        // A buffer holds fewer than 2^32 bytes, and each call counts as one at least.
        let named = [index.low(), index.high(), u64::from(to.0) << 32 | self.len() as u64];
        let is_same = |last: &Packed| last[..2] == named[..2] && pe_of(*last) == to;
        let is_named = !self.runs.last().is_some_and(is_same);
        if is_named {
            self.runs.push(named);
        }
        self.arguments.push(arguments);
        is_named
    }

    /// Adds a call of the member of the call before.
    #[inline]
    pub(super) fn push_same(&mut self, arguments: T) {
        self.arguments.push(arguments);
    }

    pub(super) fn into_parts(self) -> (impl Iterator<Item = Run>, std::vec::IntoIter<T>) {
        let Self { runs, arguments } = self;
        let end = arguments.len();
        let runs = (0..runs.len()).map(move |place| {
            let [low, high, _] = runs[place];
            let index = Index::from_bits(u128::from(high) << 64 | u128::from(low));
            let next = runs.get(place + 1).map_or(end, |next| start_of(*next));
            Run { index, to: pe_of(runs[place]), calls: next - start_of(runs[place]) }
        });
        (runs, arguments.into_iter())
    }
}

/// The bytes that the arguments of a call take in a buffer; arguments that own memory count by their encoding.
#[inline]
pub(super) fn bytes_of<T: Message>(arguments: &T) -> usize {
    if std::mem::needs_drop::<T>() {
        // Arguments that cannot be encoded are refused where they are encoded.
        codec::fill(&mut [], |writer| writer.write(arguments)).unwrap_or(1)
    } else {
        size_of::<T>().max(1)
    }
}

/// Decodes items from another node.
///
/// # Errors
/// When the bytes are no items, in words.
pub(super) fn decode<T: Message>(bytes: &[u8], pes: u32) -> Result<Arguments, String> {
    let items: Items<T> = codec::decode(bytes).map_err(|error| error.to_string())?;
    if let Some(run) = items.runs.iter().find(|run| pe_of(**run).0 >= pes) {
        return Err(format!("collected calls for {}: the job has {pes} PEs", pe_of(*run)));
    }
    let starts = || items.runs.iter().map(|run| start_of(*run));
    if !starts().is_sorted() || starts().next() != Some(0) || starts().next_back() >= Some(items.len()) {
        return Err(format!("{} collected calls that are not those of the members named", items.len()));
    }
    Ok(Arguments::new(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PES: u32 = 4;

    #[test]
    fn calls_of_one_member_share_its_name() {
        let mut items = Items::default();
        let calls = [(7, 1), (7, 1), (8, 1), (7, 1), (7, 3), (7, 3)];
        let named = calls.map(|(index, to)| items.push(Index::from(index), PeId(to), index));
        assert_eq!(named, [true, false, true, true, true, false]);
        items.push_same(7);
        let (runs, arguments) = items.into_parts();
        let run = |index: u64, to, calls| Run { index: Index::from(index), to: PeId(to), calls };
        assert_eq!(runs.collect::<Vec<_>>(), [run(7, 1, 2), run(8, 1, 1), run(7, 1, 1), run(7, 3, 3)]);
        assert_eq!(arguments.collect::<Vec<_>>(), [7, 7, 8, 7, 7, 7, 7]);
    }

    /// The refusal of runs that begin at these positions, for these PEs.
    fn refusal(runs: &[(usize, u32)], arguments: &[u16]) -> Option<String> {
        let packed = |(start, to): &(usize, u32)| [1, 0, u64::from(*to) << 32 | *start as u64];
        let items = Items { runs: runs.iter().map(packed).collect(), arguments: arguments.to_vec() };
        let mut bytes = Vec::new();
        codec::encode_into(&items, &mut bytes).unwrap();
        assert!((0..bytes.len()).all(|len| decode::<u16>(&bytes[..len], PES).is_err()));
        decode::<u16>(&bytes, PES).err()
    }

    #[test]
    fn what_comes_from_elsewhere_is_checked() {
        assert_eq!(refusal(&[(0, 0), (1, PES - 1)], &[1, 2, 3]), None);
        assert!(refusal(&[(0, PES)], &[1]).unwrap().contains("PE 4"));
        let misplaced = [&[(1, 0)][..], &[(0, 0), (3, 0)], &[(0, 0), (2, 0), (1, 0)], &[], &[(0, 0), (9, 0)]];
        for runs in misplaced {
            assert!(refusal(runs, &[1, 2, 3]).unwrap().contains("3 collected calls"), "{runs:?}");
        }
        assert!(refusal(&[(0, 0)], &[]).is_some(), "nobody sends nothing");
    }

    #[test]
    fn what_arguments_own_counts() {
        assert_eq!(bytes_of(&()), 1);
        assert_eq!(bytes_of(&(1u64, 2u32)), 16);
        assert_eq!(bytes_of(&vec![0u64; 100]), 8 + 800);
    }
}
