//! Array indices: the values that name an element of an array, and their packing into the 128 bits that travel.
//!
//! 1. Integers and tuples of two to six of them stand in lanes: see [`crate::model::coordinates`].
//! 2. A value of any other type stands in the bits by its encoding, if that takes at most 15 bytes; the last byte is the length.
//! 3. A longer encoding is replaced by its digest. The index itself travels with the messages that create the element and
//!    is kept beside the element; messages to the element carry the digest alone.

use crate::model::arguments::Message;
use crate::model::ids::Index;
use chare_lrts::codec;
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::hash::Hash;

/// The most bytes of an encoding that stands in the index itself; the byte after them is its length.
const EXACT_BYTES_MAX: usize = 15;

/// The last byte of an index that is a digest.
const DIGEST_MARK: u8 = u8::MAX;

/// The name of an element of an array: `#[chare(array, index = (u32, u32))]`.
///
/// Implemented for integers, for tuples of two to six of them, for `String`, and by one line for any serializable type:
///
/// ```
/// use chare::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
/// struct Patch {
///     level: u8,
///     path: Vec<u8>,
/// }
///
/// impl chare::ArrayIndex for Patch {}
///
/// struct Solver;
///
/// #[chare(array, index = Patch)]
/// impl Solver {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn path(&mut self, to: Callback<Vec<u8>>) {
///         to.send(self.this_index().path);
///     }
/// }
///
/// let code = chare::Job::in_process(1, 2).run(|| async {
///     let solvers = SolverProxy::create_empty(chare::ArrayOptions::empty());
///     let patch = solvers.at(Patch { level: 3, path: vec![1, 0, 2] });
///     patch.insert();
///     let (path, to) = chare::future();
///     patch.path(to);
///     assert_eq!(path.await, [1, 0, 2]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// | index | coordinates may have |
/// |---|---|
/// | one or two integers | all their values |
/// | three | 42 bits each |
/// | four | 32 bits each |
/// | five | 25 bits each |
/// | six | 21 bits each |
///
/// Naming an element costs a few shifts; by a type of the program's own it costs an encoding and, if that is longer than 15 bytes, also
/// its SHA-256, of which 120 bits are kept.
///
/// # Panics
/// Naming an element panics if a coordinate has more bits than its place, or the type's serialization refuses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the index of an array",
    note = "derive `Clone`, `Debug`, `PartialEq`, `Eq`, `Hash`, `serde::Serialize` and `serde::Deserialize`, and write `impl chare::ArrayIndex for {Self} {{}}`"
)]
pub trait ArrayIndex: Message + Eq + Hash + Debug {
    /// How many integers the index consists of; 0 for all other types.
    #[doc(hidden)]
    const DIMENSIONS: usize = 0;

    /// The bits that name the element.
    #[doc(hidden)]
    fn pack(&self) -> Index {
        let mut bytes = [0; EXACT_BYTES_MAX + 1];
        let len = codec::encode_to_slice(self, &mut bytes[..EXACT_BYTES_MAX]);
        match len.unwrap_or_else(|error| panic!("this index cannot be sent: {error}")) {
            len @ ..=EXACT_BYTES_MAX => {
                bytes[len..EXACT_BYTES_MAX].fill(0);
                bytes[EXACT_BYTES_MAX] = len as u8;
            }
            _ => return digest_of(&encode(self)),
        }
        Index::from_bits(u128::from_le_bytes(bytes))
    }

    /// The index that has these bits; `None` if they are a digest, or another type's.
    #[doc(hidden)]
    fn unpack(index: Index) -> Option<Self> {
        let bytes = index.bits().to_le_bytes();
        let exact =
            bytes.get(..usize::from(bytes[EXACT_BYTES_MAX])).filter(|exact| exact.len() < bytes.len())?;
        codec::decode(exact).ok()
    }

    /// The coordinates, if they are integers and none is below zero: the member's place among the parts of a partition.
    #[doc(hidden)]
    fn place(&self) -> Option<Vec<u64>> {
        None
    }

    /// The index's encoding, if its bits are a digest.
    #[doc(hidden)]
    fn name(&self) -> Option<Vec<u8>> {
        (Self::DIMENSIONS == 0 && is_digest(self.pack())).then(|| encode(self))
    }
}

fn encode<I: ArrayIndex>(index: &I) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::encode_into(index, &mut bytes)
        .unwrap_or_else(|error| panic!("this index cannot be sent: {error}"));
    bytes
}

/// The index whose bits are the digest of an encoding.
fn digest_of(encoding: &[u8]) -> Index {
    let mut bytes = [DIGEST_MARK; EXACT_BYTES_MAX + 1];
    bytes[..EXACT_BYTES_MAX].copy_from_slice(&Sha256::digest(encoding)[..EXACT_BYTES_MAX]);
    Index::from_bits(u128::from_le_bytes(bytes))
}

/// Compares an index that is no integer or tuple with the encoding that another node says it is the digest of. Costs a SHA-256 of that.
///
/// # Errors
/// When it is not, in words.
pub(crate) fn check_name(index: Index, encoding: &[u8]) -> Result<(), String> {
    if is_digest(index) && digest_of(encoding) == index {
        return Ok(());
    }
    Err(format!("its index {:#034x} is not the digest of the name that it brings", index.bits()))
}

/// Whether the bits of an index that is no integer or tuple are a digest.
pub(crate) fn is_digest(index: Index) -> bool {
    index.bits().to_le_bytes()[EXACT_BYTES_MAX] == DIGEST_MARK
}

impl ArrayIndex for String {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    struct Leaf(u64, Vec<u8>);

    impl ArrayIndex for Leaf {}

    #[test]
    fn what_fits_stands_in_the_index_and_what_does_not_is_told_apart() {
        // A vector's encoding is its length in eight bytes, and its elements.
        assert_eq!("a word".to_owned().name(), None);
        assert_eq!(String::unpack("a word".to_owned().pack()), Some("a word".to_owned()));
        assert_eq!(String::unpack("1234567".to_owned().pack()), Some("1234567".to_owned()), "15 bytes fit");
        let long = "12345678".to_owned();
        assert_eq!(String::unpack(long.pack()), None, "16 do not");
        assert_eq!(codec::decode::<String>(&long.name().unwrap()).unwrap(), long);
        let leaves = (0..1000).map(|number| Leaf(number, vec![7; 20]).pack());
        let distinct: std::collections::BTreeSet<Index> = leaves.collect();
        assert_eq!(distinct.len(), 1000);
        assert_ne!(String::new().pack(), "\0".to_owned().pack());
    }

    #[test]
    fn a_name_has_to_be_that_of_the_digest_that_it_comes_with() {
        let leaf = Leaf(1, vec![7; 20]);
        let name = leaf.name().expect("it is long");
        assert_eq!(check_name(leaf.pack(), &name), Ok(()));
        for (index, name) in [
            (leaf.pack(), Leaf(2, vec![7; 20]).name().expect("it is long")),
            (leaf.pack(), Vec::new()),
            // It stands for itself, and needs none.
            ("a word".to_owned().pack(), encode(&"a word".to_owned())),
        ] {
            let refused = check_name(index, &name).expect_err("another index's");
            assert!(refused.contains("is not the digest of the name that it brings"), "{refused}");
        }
    }

    #[test]
    fn bits_that_are_no_such_index_are_refused() {
        assert_eq!(String::unpack(Index::from_bits(u128::MAX)), None);
        assert_eq!(String::unpack(Index::from_bits(16 << 120)), None);
        assert_eq!(
            String::unpack(Index::from_bits(8 << 120 | 5)),
            None,
            "five bytes are announced, none is there"
        );
    }
}
