//! Plain calls: most calls to another node, as one block of bytes before the arguments.
//! `api/proxy -> delivery/zerocopy -> **model/envelope/plain_call** -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! Other messages between nodes have a [`Header`](crate::model::envelope::frame::Header), which the codec writes field by field. In a
//! block every field has its place, so writing a block and reading it are one copy each.
//!
//! 1. Where the entry has nocopy parameters, the descriptors of nocopy arguments follow the block; then the arguments follow.
//! 2. A block begins with [`MARK`], where a header has the number of its variant; no header has that many variants.
//! 3. A block is an allegation: whatever its bits, it is some call, and the inbox looks up the call's entry and PE.
//! 4. A block, one number as arguments, and the header of their frame share a cache line.

use super::call::Call;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{ChareTypeId, EntryId, PackedTarget, PeId, Target};
use crate::model::nocopy::Descriptor;
use bytemuck::{Pod, Zeroable};
use chare_lrts::codec::{CodecError, Writer};

const MARK: u32 = u32::from_le_bytes(*b"call");

/// A call that is queued as its entry says, without a reference number. Its fields are in the byte order of the machine, like the
/// elements of buffers, because a job runs on machines of one kind.
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

// With eight bytes of arguments and eight bytes of the frame's header these are 64 bytes: a cache line.
const _: () = assert!(size_of::<PlainCall>() == 48);

impl PlainCall {
    /// The block of a call to a PE of another node, if the call says no more than a block can. The caller is named by its rank among the
    /// PEs of the sending node.
    #[inline]
    pub(crate) fn describe(
        caller_rank: Option<usize>,
        to: PeId,
        options: &CallOptions,
        call: &Call,
    ) -> Option<Self> {
        // A header says how many nocopy arguments there are, even if the entry has no such parameters; after a block they would be misread.
        let fits = call.nocopy.is_none() == call.entry.nocopy.is_empty();
        if !fits || call.reference != 0 || *options != call.entry.options {
            return None;
        }
        let EntryId { chare_type: ChareTypeId(chare_type), index: entry } = call.entry.id;
        let caller_rank = u16::try_from(caller_rank?).ok()?;
        let target = PackedTarget::pack(call.target)?;
        Some(Self { mark: MARK, to: to.0, chare_type, target, caller_rank, entry })
    }

    /// The block at the front of a frame, if there is one, and the bytes after it.
    #[inline]
    pub(crate) fn split(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (block, rest) = frame.split_at_checked(size_of::<Self>())?;
        let block: Self = bytemuck::pod_read_unaligned(block);
        (block.mark == MARK).then_some((block, rest))
    }

    /// Writes the block, the descriptors of nocopy arguments if the entry has nocopy parameters, and the arguments.
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
