//! Plain calls: most calls to another node, as one block of bytes before the arguments.
//! `api/proxy -> transfer -> **model/envelope/plain_call** -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! Other messages between nodes have a [`Header`](crate::model::envelope::frame::Header), which the codec writes field by field. In a
//! block every field has its place, so writing a block and reading it are one copy each.
//!
//! 1. Where the entry has nocopy parameters, releases may follow the block, of memory that the receiver has lent to the sender: so they need
//!    no message of their own where an answer goes. Then comes a word: the number of bytes of its only nocopy argument, which come next; or
//!    [`LENT`], behind which a [`LentBlock`] says where its only nocopy argument lies, and the bytes of the argument's layout; or
//!    [`DESCRIBED`], behind which descriptors come. Then the arguments follow.
//! 2. A block begins with [`MARK`], where a header has the number of its variant; no header has that many variants.
//! 3. A block is an allegation: whatever its bits, it is some call, and the inbox looks up the call's entry and PE.
//! 4. A block, one number as arguments, and the header of their frame share a cache line.

use super::call::Call;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{ChareTypeId, EntryId, PackedTarget, PeId, Target};
use crate::model::nocopy::{Descriptor, LentLayout, ToldLayout};
use bytemuck::{Pod, Zeroable};
use chare_lrts::codec::{CodecError, Fill, Writer};
use chare_lrts::{NodeId, RegionKey, Token};

/// The words that stand where descriptors follow, where releases do, and where a [`LentBlock`] does: no message has so many bytes.
const DESCRIBED: u64 = u64::MAX;
const RELEASING: u64 = u64::MAX - 1;
const LENT: u64 = u64::MAX - 2;

/// The only nocopy argument of a call, behind its block.
pub(crate) enum Argument<'a> {
    /// Its bytes.
    Eager(&'a [u8]),
    /// What is said of the memory that it is lent in.
    Lent(Lent<'a>),
    /// One of the descriptors that follow, as they are encoded.
    Described,
}

/// A [`LentBlock`] and the bytes of its layout, as they came.
pub(crate) struct Lent<'a> {
    block: &'a [u8],
    layout: &'a [u8],
}

impl Lent<'_> {
    /// The descriptor.
    ///
    /// # Errors
    /// A layout that is none, in words.
    pub(crate) fn describe(&self) -> Result<Descriptor, String> {
        let block: LentBlock = bytemuck::pod_read_unaligned(self.block);
        let LentBlock { node, slot, generation, len, token, is_awaited, layout_bytes: _ } = block;
        let told = || ToldLayout::decode(self.layout).map_err(|error| format!("a layout: {error}"));
        let layout = if self.layout.is_empty() { None } else { Some(LentLayout::Told(told()?)) };
        let key = RegionKey { node: NodeId(node), slot, generation, len };
        Ok(Descriptor::Lent { key, layout, token, is_awaited: is_awaited != 0 })
    }
}

/// A [`Descriptor`] of lent memory, each field in its place. The bytes of its layout follow, if it has one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LentBlock {
    node: u32,
    slot: u32,
    generation: u64,
    len: u64,
    token: u64,
    /// 0 where there is no layout.
    layout_bytes: u32,
    is_awaited: u32,
}

/// The release of lent memory: its lender's token, and how many bytes were taken.
pub(crate) type Released = [u64; 2];

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
        Self::new(caller_rank?, to, call.target, call.entry.id)
    }

    /// The block of a call that is queued as its entry says, without a reference number, if the block has room for its names.
    #[inline]
    pub(crate) fn new(caller_rank: usize, to: PeId, target: Target, entry: EntryId) -> Option<Self> {
        let EntryId { chare_type: ChareTypeId(chare_type), index: entry } = entry;
        let caller_rank = u16::try_from(caller_rank).ok()?;
        let target = PackedTarget::pack(target)?;
        Some(Self { mark: MARK, to: to.0, chare_type, target, caller_rank, entry })
    }

    /// The block at the front of a frame, if there is one, and the bytes after it.
    #[inline]
    pub(crate) fn split(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (block, rest) = frame.split_at_checked(size_of::<Self>())?;
        let block: Self = bytemuck::pod_read_unaligned(block);
        (block.mark == MARK).then_some((block, rest))
    }

    /// Writes the block, releases and the descriptors of nocopy arguments if the entry has nocopy parameters, and the arguments.
    ///
    /// # Errors
    /// When the arguments refuse to be encoded.
    #[inline]
    pub(crate) fn write(
        &self,
        to: &mut Writer<'_>,
        nocopy: Option<(&[Released], &[Descriptor])>,
        arguments: &Arguments,
    ) -> Result<(), CodecError> {
        match nocopy {
            None => to.write_encoded(bytemuck::bytes_of(self)),
            Some((released, descriptors)) => self.write_described(to, released, descriptors)?,
        }
        arguments.encode(to)
    }

    /// Writes the block, releases and the descriptors of nocopy arguments; the arguments come next.
    ///
    /// # Errors
    /// When a descriptor refuses to be encoded.
    pub(crate) fn write_described(
        &self,
        to: &mut Writer<'_>,
        released: &[Released],
        descriptors: &[Descriptor],
    ) -> Result<(), CodecError> {
        to.write_encoded(bytemuck::bytes_of(self));
        write_released(to, released);
        match descriptors {
            [Descriptor::Lent { key, layout: None, token, is_awaited }] => {
                write_lent(to, (key, *token, *is_awaited), &[]);
                Ok(())
            }
            [Descriptor::Lent { key, layout: Some(LentLayout::Told(layout)), token, is_awaited }] => {
                layout.with_encoded(|layout| write_lent(to, (key, *token, *is_awaited), layout));
                Ok(())
            }
            _ => {
                to.write_encoded(&DESCRIBED.to_le_bytes());
                to.write(&descriptors)
            }
        }
    }

    /// Writes the block, releases and the bytes of the only nocopy argument; the arguments come next.
    pub(crate) fn write_eager(&self, to: &mut Writer<'_>, released: &[Released], argument: &dyn Fill) {
        to.write_encoded(bytemuck::bytes_of(self));
        write_released(to, released);
        to.write_filled(argument);
    }

    /// The releases behind the block of a call with nocopy arguments, and what follows them.
    ///
    /// # Errors
    /// A message that is shorter than it says, in words.
    pub(crate) fn split_released(behind: &[u8]) -> Result<(impl Iterator<Item = Released>, &[u8]), String> {
        let Some(rest) = behind.strip_prefix(&RELEASING.to_le_bytes()) else {
            return Ok((each_released(&[]), behind));
        };
        let cut = || "a call that ends within its releases".to_owned();
        let (count, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok();
        let bytes = count.and_then(|count| count.checked_mul(size_of::<Released>()));
        let (released, rest) = bytes.and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(cut)?;
        Ok((each_released(released), rest))
    }

    /// The only nocopy argument, behind the block, and what follows it; or what follows the word that says that descriptors do.
    ///
    /// # Errors
    /// A message that is shorter than it says, in words.
    #[inline]
    pub(crate) fn split_argument(behind: &[u8]) -> Result<(Argument<'_>, &[u8]), String> {
        let short = || "a call that ends before its nocopy arguments".to_owned();
        let (word, rest) = behind.split_first_chunk().ok_or_else(short)?;
        match u64::from_le_bytes(*word) {
            DESCRIBED => Ok((Argument::Described, rest)),
            LENT => {
                let (block, rest) = rest.split_at_checked(size_of::<LentBlock>()).ok_or_else(short)?;
                let LentBlock { layout_bytes, .. } = bytemuck::pod_read_unaligned(block);
                let (layout, rest) = rest.split_at_checked(layout_bytes as usize).ok_or_else(short)?;
                Ok((Argument::Lent(Lent { block, layout }), rest))
            }
            bytes => {
                let bytes = usize::try_from(bytes).ok().and_then(|bytes| rest.split_at_checked(bytes));
                bytes.map(|(bytes, rest)| (Argument::Eager(bytes), rest)).ok_or_else(short)
            }
        }
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

fn write_lent(to: &mut Writer<'_>, (key, token, is_awaited): (&RegionKey, Token, bool), layout: &[u8]) {
    let RegionKey { node: NodeId(node), slot, generation, len } = *key;
    let (layout_bytes, is_awaited) = (layout.len() as u32, u32::from(is_awaited));
    to.write_encoded(&LENT.to_le_bytes());
    let block = LentBlock { node, slot, generation, len, token, layout_bytes, is_awaited };
    to.write_encoded(bytemuck::bytes_of(&block));
    to.write_encoded(layout);
}

fn each_released(bytes: &[u8]) -> impl Iterator<Item = Released> {
    bytes.chunks_exact(size_of::<Released>()).map(bytemuck::pod_read_unaligned)
}

fn write_released(to: &mut Writer<'_>, released: &[Released]) {
    if !released.is_empty() {
        to.write_encoded(bytemuck::bytes_of(&[RELEASING, released.len() as u64]));
        to.write_encoded(bytemuck::cast_slice(released));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_layout::Raw;
    use chare_lrts::codec;
    use std::sync::Arc;

    #[test]
    fn an_argument_ends_within_its_message_or_is_refused() {
        let behind = |word: u64, bytes: &[u8]| [&word.to_le_bytes(), bytes].concat();
        let whole = behind(3, b"abcde");
        let split = PlainCall::split_argument;
        assert!(matches!(split(&whole), Ok((Argument::Eager(b"abc"), b"de"))));
        assert!(matches!(split(&behind(3, b"abc")), Ok((Argument::Eager(b"abc"), b""))));
        assert!(matches!(split(&behind(DESCRIBED, b"de")), Ok((Argument::Described, b"de"))));
        for (word, bytes) in [(4, &b"abc"[..]), (1 << 32, b"abc"), (RELEASING, b"abc"), (1, b"")] {
            assert!(split(&behind(word, bytes)).is_err(), "{word}");
        }
        assert!(split(&whole[..7]).is_err());
    }

    #[test]
    fn what_is_lent_is_described_in_few_bytes_or_refused() {
        let told = |layout| LentLayout::Told(ToldLayout(Arc::new(layout)));
        let strided = Raw::bytes_of(8).and_then(|double| double.vector(10, 1, 3)).expect("it fits");
        for (layout, is_awaited) in [(None, true), (Some(told(strided)), false)] {
            let key = RegionKey { node: NodeId(7), slot: 3, generation: 1 << 40, len: 5000 };
            let lent = Descriptor::Lent { key, layout: layout.clone(), token: 1 << 50, is_awaited };
            let mut written = Vec::new();
            let block = PlainCall::zeroed();
            let write = |out: &mut Writer<'_>| block.write_described(out, &[], std::slice::from_ref(&lent));
            codec::append(&mut written, write).expect("it encodes");
            let mut behind = written.split_off(size_of::<PlainCall>());
            let least = behind.len();
            behind.extend(b"de");
            let (argument, rest) = PlainCall::split_argument(&behind).expect("it is whole");
            let Argument::Lent(lent) = argument else { panic!("it is lent") };
            let described = lent.describe().expect("its layout is one");
            let Descriptor::Lent { key: said, layout: told, token, is_awaited: waits } = described else {
                panic!("it is lent")
            };
            assert_eq!((said, told, token, waits, rest), (key, layout, 1 << 50, is_awaited, &b"de"[..]));
            assert!(PlainCall::split_argument(&behind[..least]).is_ok());
            assert!(PlainCall::split_argument(&behind[..least - 1]).is_err());
        }
        let no_layout = LentBlock { layout_bytes: 2, ..LentBlock::zeroed() };
        let lie = [&LENT.to_le_bytes(), bytemuck::bytes_of(&no_layout), &[9, 9]].concat();
        let Ok((Argument::Lent(lie), _)) = PlainCall::split_argument(&lie) else { panic!("it is whole") };
        assert!(lie.describe().err().expect("it is none").contains("layout"));
    }

    #[test]
    fn releases_end_within_their_message_or_are_refused() {
        let behind = |words: &[u64]| bytemuck::cast_slice::<u64, u8>(words).to_vec();
        let split = |bytes: &[u8]| {
            PlainCall::split_released(bytes)
                .map(|(released, rest)| (released.collect::<Vec<_>>(), rest.len()))
        };
        assert_eq!(split(&behind(&[RELEASING, 2, 1, 2, 3, 4, 5])), Ok((vec![[1, 2], [3, 4]], 8)));
        assert_eq!(split(&behind(&[5, 2, 1, 2])), Ok((vec![], 32)));
        for words in
            [&[RELEASING][..], &[RELEASING, 1, 1], &[RELEASING, 1 << 60, 1, 2], &[RELEASING, u64::MAX]]
        {
            assert!(split(&behind(words)).is_err(), "{words:?}");
        }
    }
}
