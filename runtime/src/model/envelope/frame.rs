//! Frames: messages from one node to another, as bytes that are checked when they are decoded.
//!
//! A frame is a [`Header`], then encoded arguments or a service's own message. Bytes that arrive are an allegation until [`decode`] and
//! the readers of the bytes after the header have checked them.

use crate::model::arguments::Arguments;
use crate::model::call_options::{CallOptions, MessageName};
use crate::model::callback::{ErasedCallback, FutureId};
use crate::model::ids::{ChareId, ChareTypeId, EntryId, NodeId, PeId, ServiceId, Target};
use crate::model::nocopy::{Descriptor, DeviceFrame, ToldLayout};
use crate::model::registry::{find_chare, find_entry};
use chare_lrts::codec::{self, CodecError, Writer};
use chare_lrts::{Memory, MemoryMut, RegionKey};
use serde::{Deserialize, Serialize};

/// The subject of a frame. The encoded arguments, if the variant has any, follow the header.
#[derive(Serialize, Deserialize)]
pub(crate) enum Header {
    /// A call, for one PE of the receiving node.
    Call {
        to: PeId,
        from: PeId,
        target: Target,
        entry: EntryId,
        options: CallOptions,
        reference: u64,
        nocopy: Vec<Descriptor>,
    },
    /// The creation of a singleton, for one PE of the receiving node.
    Create { id: ChareId, chare: ChareTypeId, options: CallOptions },
    /// A future's value, for one PE of the receiving node, and the message's name in timelines.
    Resolve { future: FutureId, name: Option<MessageName> },
    /// News that a future's value will not come, for one PE of the receiving node.
    Broken { future: FutureId, cause: Box<str>, name: Option<MessageName> },
    /// A message of this service, which follows the header, and its name in timelines.
    System { service: ServiceId, name: Option<MessageName> },
    /// The end of the job: for all nodes, down the tree below `root`.
    Exit { root: NodeId, code: i32, error: Option<String> },
    /// A larger message, which the sender of these bytes keeps at this descriptor; the receiver fetches it, then reads it as a frame.
    Large { descriptor: Descriptor },
    /// A buffer of the receiving node that is free again; its first `bytes` were taken.
    Released { token: u64, bytes: u64 },
    /// A message of the owner of a device buffer and who receives it.
    Device(DeviceFrame),
    /// News of the layout of this digest, which one of the two nodes has told the other.
    Layout { digest: [u8; 16], news: LayoutNews },
    /// Help that the sender asks for with a copy, by these layouts, from memory that the receiving node has lent to memory of the sender's,
    /// of which each takes pieces.
    Help { source: RegionKey, from: ToldLayout, target: RegionKey, to: ToldLayout },
    /// A callback that the receiving node registered for transfers, and the bytes of the transfer that was done.
    Notify { callback: ErasedCallback, bytes: u64 },
    /// Flow-control credit: messages of the receiving node have run at the sender that cost the receiving node so many bytes.
    Credit { bytes: u64 },
}

impl Header {
    /// The subject of the frame, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Call { entry, .. } => match find_entry(*entry) {
                Ok(entry) => format!("a call of {}::{}", entry.chare, entry.name),
                Err(unknown) => unknown,
            },
            Self::Create { chare, .. } => match find_chare(*chare) {
                Ok(chare) => format!("creating {}", chare.name),
                Err(unknown) => unknown,
            },
            Self::Resolve { .. } | Self::Broken { .. } => "resolving a future".to_owned(),
            Self::System { .. }
            | Self::Exit { .. }
            | Self::Large { .. }
            | Self::Released { .. }
            | Self::Device(_)
            | Self::Layout { .. }
            | Self::Help { .. }
            | Self::Notify { .. }
            | Self::Credit { .. } => "a message of the runtime".to_owned(),
        }
    }
}

/// What becomes of a layout that one node has told another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum LayoutNews {
    /// The sender of the news was told the layout and keeps it: its digest is enough from now on. Each of these is answered by one
    /// [`Forgotten`](Self::Forgotten), at once or when the receiver has no use for it any more.
    Kept,
    /// The sender of the news was told the layout and has no room for it, or none any more: the receiver is to let go of it.
    Unwanted,
    /// The sender of the news has told the layout, and lets go of it: so many messages have said its digest since the news that it is kept.
    Forgotten { uses: u64 },
}

/// Room for a header and a few arguments, in bytes. A longer message is measured first.
const ROOM_BYTES: usize = 128;

/// A frame of header and arguments.
///
/// # Errors
/// When the arguments refuse to be encoded, in words.
pub(crate) fn encode(header: &Header, arguments: Option<&Arguments>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(ROOM_BYTES);
    codec::append(&mut bytes, |writer| write(writer, header, arguments))
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A message for another node: a frame, or the memory of a message that is too long for a frame, which its clones share.
#[derive(Clone)]
pub(crate) enum Packed {
    Frame(Vec<u8>),
    Large(Memory),
}

impl Packed {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Frame(bytes) => bytes.len(),
            Self::Large(memory) => memory.len(),
        }
    }
}

/// Packs the header and arguments that `write` writes. Each byte is written once, to its final place: into `bytes`, which is empty, or,
/// if the message is longer than `frame_bytes_max`, into memory that `allocate` gives.
///
/// # Errors
/// When the arguments refuse to be encoded, in words.
pub(crate) fn pack(
    mut write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
    mut bytes: Vec<u8>,
    frame_bytes_max: usize,
    allocate: impl FnOnce(usize) -> Option<MemoryMut>,
) -> Result<Packed, String> {
    let in_words = |error: CodecError| error.to_string();
    bytes.reserve(ROOM_BYTES);
    let len = codec::append_up_to(&mut bytes, frame_bytes_max, &mut write).map_err(in_words)?;
    if len <= frame_bytes_max {
        return Ok(Packed::Frame(bytes));
    }
    let Some(mut memory) = allocate(len) else {
        bytes.reserve_exact(len);
        codec::append(&mut bytes, write).map_err(in_words)?;
        return Ok(Packed::Large(MemoryMut::from_vec(bytes).freeze()));
    };
    match codec::fill(memory.as_mut_slice(), write).map_err(in_words)? {
        written if written == len => Ok(Packed::Large(memory.freeze())),
        written => Err(format!("their serialization gives {len} bytes once and {written} the next time")),
    }
}

/// Writes a frame's header and arguments.
///
/// # Errors
/// When the arguments refuse to be encoded.
pub(crate) fn write(
    to: &mut Writer<'_>,
    header: &Header,
    arguments: Option<&Arguments>,
) -> Result<(), CodecError> {
    to.write(header)?;
    arguments.map_or(Ok(()), |arguments| arguments.encode(to))
}

/// A frame's header and the bytes after it.
///
/// # Errors
/// When the bytes are no frame, in words.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    codec::decode_front(bytes).map_err(|error| error.to_string())
}

/// A frame of a service: its message, which is empty where all of it stands in a tail that others append.
///
/// # Errors
/// When the message refuses to be encoded, in words.
pub(crate) fn encode_system(service: ServiceId, message: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(ROOM_BYTES);
    let write = |out: &mut Writer<'_>| write_system(out, (service, None), |out| out.write(message));
    codec::append(&mut bytes, write).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Writes a frame of a service.
///
/// # Errors
/// When the message refuses to be encoded.
pub(crate) fn write_system(
    out: &mut Writer<'_>,
    (service, name): (ServiceId, Option<MessageName>),
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    out.write(&Header::System { service, name })?;
    write(out)
}
