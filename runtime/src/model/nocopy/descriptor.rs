//! Descriptors of nocopy arguments: they travel between processes instead of the memory.

use super::eager::EagerBytes;
use crate::base::recent::{MANY, Recent};
use crate::model::dealing::PackedParts;
use chare_layout::{LayoutError, Raw};
use chare_lrts::{NodeId, RegionKey, Token};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// A nocopy argument between processes.
#[derive(Serialize, Deserialize)]
pub(crate) enum Descriptor {
    /// The bytes themselves.
    Inline { bytes: EagerBytes, lender: Option<Lender> },
    /// The region from which to fetch the bytes, the selection of the region that is meant if not all of it, and the token with which to
    /// answer afterwards; and whether somebody waits for the answer, which must not wait then for what it could come with.
    Lent { key: RegionKey, layout: Option<LentLayout>, token: Token, is_awaited: bool },
    /// A buffer of a device of its owner.
    Device(DeviceDescriptor),
}

/// A buffer of a device as other processes know it: its owner keeps the layout of what is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DeviceDescriptor {
    /// The owner, and its token for the argument.
    pub(crate) owner: Lender,
    /// Bytes that are meant, packed.
    pub(crate) bytes: u64,
    /// The identity of the device.
    pub(crate) uuid: [u8; 16],
    /// The owner's token for the answer how much of it was taken, if it goes to many who may take less; one chare's node says so when it
    /// asks.
    pub(crate) answered: Option<Token>,
}

impl Descriptor {
    /// The node that is told when the argument was taken.
    pub(crate) fn lender(&self) -> Option<NodeId> {
        match self {
            Self::Inline { lender, .. } => lender.map(|lender| lender.node),
            Self::Lent { key, .. } => Some(key.node),
            Self::Device(buffer) => Some(buffer.owner.node),
        }
    }

    /// Bytes of the argument, packed.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Inline { bytes, .. } => bytes.len(),
            Self::Lent { key, layout, .. } => selected_bytes(key, layout.as_ref()) as usize,
            Self::Device(buffer) => buffer.bytes as usize,
        }
    }
}

/// An argument of many between processes.
#[derive(Serialize, Deserialize)]
pub(crate) struct CarriedDescriptor {
    pub(crate) descriptor: Descriptor,
    /// The parts that it consists of, if it is not the whole argument.
    pub(crate) parts: Option<PackedParts>,
}

impl From<Descriptor> for CarriedDescriptor {
    fn from(descriptor: Descriptor) -> Self {
        Self { descriptor, parts: None }
    }
}

/// As [`lent_bytes`], of arguments of many.
pub(crate) fn carried_bytes(carried: &[CarriedDescriptor]) -> u64 {
    lent_bytes(carried.iter().map(|one| &one.descriptor))
}

/// The bytes of nocopy arguments that have to be fetched, or read where they are lent.
pub(crate) fn lent_bytes<'a>(descriptors: impl IntoIterator<Item = &'a Descriptor>) -> u64 {
    let lent = descriptors.into_iter().filter_map(|descriptor| match descriptor {
        Descriptor::Lent { key, layout, .. } => Some(selected_bytes(key, layout.as_ref())),
        Descriptor::Inline { .. } | Descriptor::Device(_) => None,
    });
    lent.fold(0, u64::saturating_add)
}

fn selected_bytes(key: &RegionKey, layout: Option<&LentLayout>) -> u64 {
    match layout {
        Some(LentLayout::Told(ToldLayout(layout))) => layout.bytes(),
        Some(LentLayout::Known { bytes, .. }) => *bytes,
        None => key.len,
    }
}

/// The layout of lent memory as it travels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum LentLayout {
    Told(ToldLayout),
    /// The digest of a layout that the receiver keeps, who puts the layout in its place when the message comes; and the bytes that it
    /// selects, so that the message costs its sender what the receiver gives back.
    Known {
        digest: [u8; 16],
        bytes: u64,
    },
}

impl LentLayout {
    /// The layout.
    ///
    /// # Panics
    /// If it is a digest still: the descriptors of a call are admitted when they come, others have no layout.
    pub(crate) fn told(&self) -> &Arc<Raw> {
        match self {
            Self::Told(ToldLayout(layout)) => layout,
            Self::Known { .. } => unreachable!("the layout was put in the digest's place when it came"),
        }
    }
}

/// A layout between processes, by its bytes: an allegation whose bounds are checked where it is used.
///
/// Each thread remembers the short ones that came last, so that the messages of a loop decode theirs once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ToldLayout(pub(crate) Arc<Raw>);

/// Longest layouts, in bytes, that are remembered: nests of loops, for several buffers, too.
const REMEMBERED_BYTES: usize = 512;

thread_local! {
    static DECODED: RefCell<Recent<Box<[u8]>, Arc<Raw>, MANY>> = const { RefCell::new(Recent::new()) };
    /// The bytes of those that were told last.
    static ENCODED: RefCell<Recent<Arc<Raw>, Box<[u8]>, MANY>> = const { RefCell::new(Recent::new()) };
}

impl ToldLayout {
    /// Runs `with`, which runs no code of the user, with the layout's bytes.
    pub(crate) fn with_encoded<R>(&self, with: impl FnOnce(&[u8]) -> R) -> R {
        ENCODED.with_borrow_mut(|encoded| {
            if let Some(known) = encoded.look_up(|known| Arc::ptr_eq(known, &self.0)) {
                return with(known);
            }
            let bytes = self.0.encode();
            let result = with(&bytes);
            if bytes.len() <= REMEMBERED_BYTES {
                encoded.keep(Arc::clone(&self.0), bytes.into());
            }
            result
        })
    }

    /// The layout of these bytes.
    ///
    /// # Errors
    /// Bytes of no layout.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, LayoutError> {
        if bytes.len() > REMEMBERED_BYTES {
            return Raw::decode(bytes).map(|layout| Self(Arc::new(layout)));
        }
        DECODED.with_borrow_mut(|decoded| {
            if let Some(known) = decoded.find(|known| **known == *bytes) {
                return Ok(Self(known));
            }
            let layout = Arc::new(Raw::decode(bytes)?);
            decoded.keep(bytes.into(), Arc::clone(&layout));
            Ok(Self(layout))
        })
    }
}

impl Serialize for ToldLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_encoded(|bytes| serializer.serialize_bytes(bytes))
    }
}

impl<'de> Deserialize<'de> for ToldLayout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The visitor of a layout's bytes.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = ToldLayout;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the bytes of a layout")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<ToldLayout, E> {
        ToldLayout::decode(bytes).map_err(E::custom)
    }
}

/// The node that is told how much of an argument was taken, and its token for the argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Lender {
    pub(crate) node: NodeId,
    pub(crate) token: Token,
}

/// The nocopy arguments of a call: mostly one, which costs no allocation of its own.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// The descriptors of a call's nocopy arguments, as a sequence of them was encoded.
pub(crate) struct Descriptors(pub(crate) Few<Descriptor>);

impl<'de> Deserialize<'de> for Descriptors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Sequence)
    }
}

/// The visitor of a sequence of descriptors.
struct Sequence;

impl<'de> Visitor<'de> for Sequence {
    type Value = Descriptors;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the descriptors of nocopy arguments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Descriptors, A::Error> {
        let mut descriptors = Few::new();
        while let Some(descriptor) = sequence.next_element()? {
            descriptors.push(descriptor);
        }
        Ok(Descriptors(descriptors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::codec;

    #[test]
    fn a_layout_that_comes_again_is_decoded_once() {
        let doubles = Raw::bytes_of(8).expect("bytes");
        let decoded = |layout: &Raw| ToldLayout::decode(&layout.encode()).expect("a layout").0;
        let every_other = doubles.vector(10, 1, 2).expect("it fits");
        let every_third = doubles.vector(10, 1, 3).expect("it fits");
        let (first, other, again) = (decoded(&every_other), decoded(&every_third), decoded(&every_other));
        assert_eq!((&*first, &*other), (&every_other, &every_third));
        assert!(Arc::ptr_eq(&first, &again));
        assert!(ToldLayout::decode(&[9, 9]).is_err());
    }

    #[test]
    fn a_layout_that_goes_to_a_peer_again_adds_few_bytes_to_a_descriptor() -> Result<(), LayoutError> {
        let doubles = Raw::bytes_of(8)?;
        let squares: Vec<i64> = (0..1000).map(|root| root * root).collect();
        let list = doubles.indexed_block(1, &squares)?;
        let face = Arc::new(doubles.hvector(128, 1, 130 * 8)?.hvector(128, 1, 130 * 130 * 8)?);
        let bytes = |layout: Option<LentLayout>| {
            let key = RegionKey { node: NodeId(1), slot: 3, generation: 5, len: 130 * 130 * 130 * 8 };
            let mut descriptor = Vec::new();
            let lent = Descriptor::Lent { key, layout, token: 7, is_awaited: false };
            codec::encode_into(&lent, &mut descriptor).expect("it encodes");
            descriptor.len()
        };
        let known = LentLayout::Known { digest: list.digest(), bytes: list.bytes() };
        let [face, list] = [LentLayout::Told(ToldLayout(face)), known].map(|layout| bytes(Some(layout)));
        assert_eq!([face, list].map(|bytes_by_it| bytes_by_it - bytes(None)), [26, 28]);
        Ok(())
    }
}
