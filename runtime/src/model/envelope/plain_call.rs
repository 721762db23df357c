//! A call as nearly all are, for another node: one block of bytes before what it brings. `envelope -> **plain_call** -> outbox`
//!
//! What else nodes tell each other is a [`Header`](crate::model::envelope::frame::Header), field by field in the codec's format. In a block every field has its
//! place, so that writing it and reading it are a copy each.
//!
//! 1. Descriptors of nocopy arguments follow the block where the entry has such parameters, then the arguments.
//! 2. A block begins with [`MARK`], where a header has the number of its variant; there are not so many.
//! 3. A block is an allegation: whatever its bits, it is some call, whose entry and PE the inbox looks for.
//! 4. A block, one number as arguments, and the header of their frame share a cache line.

use super::call::Call;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{ChareTypeId, EntryId, PackedTarget, PeId, Target};
use crate::model::nocopy::Descriptor;
use bytemuck::{Pod, Zeroable};
use chare_lrts::codec::{CodecError, Writer};

const MARK: u32 = u32::from_le_bytes(*b"call");

/// A call that is queued as its entry says, without a reference number. In the byte order of the machine, like the
/// elements of buffers: a job runs on machines of one kind.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PlainCall {
    mark: u32,
    to: u32,
    chare_type: u64,
    target: PackedTarget,
    caller_rank: u16,
    entry: u16,
}

// With eight bytes of arguments and eight of the frame's header 64: a cache line.
const _: () = assert!(size_of::<PlainCall>() == 48);

impl PlainCall {
    /// What a PE of another node is told of a call, if it says no more than this: the caller by its rank among the PEs of the sending node.
    #[inline]
    pub(crate) fn describe(
        caller_rank: Option<usize>,
        to: PeId,
        options: &CallOptions,
        call: &Call,
    ) -> Option<Self> {
        // A header says of nocopy arguments that do not belong to the entry how many they are; after a block they would be misread.
        let fits = call.nocopy.is_none() == call.entry.nocopy.is_empty();
        if !fits || call.reference != 0 || *options != call.entry.options {
            return None;
        }
        let EntryId { chare_type: ChareTypeId(chare_type), index: entry } = call.entry.id;
        let caller_rank = u16::try_from(caller_rank?).ok()?;
        let target = PackedTarget::pack(call.target)?;
        Some(Self { mark: MARK, to: to.0, chare_type, target, caller_rank, entry })
    }

    /// The block at the front of a frame, if there is one, and what stands after it.
    #[inline]
    pub(crate) fn split(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (block, rest) = frame.split_at_checked(size_of::<Self>())?;
        let block: Self = bytemuck::pod_read_unaligned(block);
        (block.mark == MARK).then_some((block, rest))
    }

    /// Writes the block, the descriptors of nocopy arguments if the entry has such, and the arguments.
    ///
    /// # Errors
    /// When the arguments refuse to be encoded.
    #[inline]
    pub(crate) fn write(
        &self,
        to: &mut Writer<'_>,
        nocopy: Option<&[Descriptor]>,
        arguments: &Arguments,
    ) -> Result<(), CodecError> {
        to.write_encoded(bytemuck::bytes_of(self));
        nocopy.map_or(Ok(()), |descriptors| to.write(&descriptors))?;
        arguments.encode(to)
    }

    pub(crate) fn to(&self) -> PeId {
        PeId(self.to)
    }

    pub(crate) fn target(&self) -> Target {
        self.target.unpack()
    }

    pub(crate) fn entry(&self) -> EntryId {
        EntryId { chare_type: ChareTypeId(self.chare_type), index: self.entry }
    }

    /// The caller's position among the PEs of its node.
    pub(crate) fn caller_rank(&self) -> u32 {
        self.caller_rank.into()
    }
}
