//! Frames: what one node says to another, and its checked way to and from bytes.
//!
//! A frame is a [`Header`], then encoded arguments or a service's own words. What arrives is an allegation until [`decode`] and those who
//! read what follows the header have checked it.

use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{ErasedCallback, FutureId};
use crate::model::ids::{ChareId, ChareTypeId, EntryId, NodeId, PeId, ServiceId, Target};
use crate::model::nocopy::Descriptor;
use crate::model::registry::{find_chare, find_entry};
use chare_lrts::codec::{self, CodecError, Writer};
use chare_lrts::{Memory, MemoryMut};
use serde::{Deserialize, Serialize};

/// What a frame is about. The encoded arguments, if the variant has any, follow it.
#[derive(Serialize, Deserialize)]
pub(crate) enum Header {
    /// For one PE of the receiving node.
    Call {
        to: PeId,
        from: PeId,
        target: Target,
        entry: EntryId,
        options: CallOptions,
        reference: u64,
        nocopy: Vec<Descriptor>,
    },
    /// For one PE of the receiving node.
    Create { id: ChareId, chare: ChareTypeId, options: CallOptions },
    /// For one PE of the receiving node.
    Resolve { future: FutureId },
    /// For one PE of the receiving node.
    Broken { future: FutureId, cause: Box<str> },
    /// What this service says follows.
    System { service: ServiceId },
    /// The job ends: for all nodes, down the tree below `root`.
    Exit { root: NodeId, code: i32, error: Option<String> },
    /// The sender of these bytes keeps a larger message at this descriptor; fetch it, then read it as a frame.
    Large { descriptor: Descriptor },
    /// A buffer of the receiving node is free again; its first `bytes` were taken.
    Released { token: u64, bytes: u64 },
    /// The callback is for whoever registered it on this node.
    Notify { callback: ErasedCallback, bytes: u64 },
    /// Messages of the receiving node have run here that cost it so much.
    Credit { bytes: u64 },
}

impl Header {
    /// What it is about, for messages to humans.
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
            | Self::Notify { .. }
            | Self::Credit { .. } => "a message of the runtime".to_owned(),
        }
    }
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

/// A message for another node: a frame, or what is too long for one.
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

/// Packs what `write` writes, header and arguments: each byte is written once, to where it is to lie: into `bytes`, which is empty, or if
/// it is longer than `frame_bytes_max` into memory that `allocate` gives.
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
        codec::append(&mut bytes, write).map_err(in_words)?;
        return Ok(Packed::Large(MemoryMut::from_vec(bytes).freeze()));
    };
    match codec::fill(memory.as_mut_slice(), write).map_err(in_words)? {
        written if written == len => Ok(Packed::Large(memory.freeze())),
        written => Err(format!("their serialization gives {len} bytes once and {written} the next time")),
    }
}

/// Writes header and arguments.
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

/// Header and the bytes after it.
///
/// # Errors
/// When the bytes are no frame of ours, in words.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    codec::decode_front(bytes).map_err(|error| error.to_string())
}

/// A frame of a service: what it says, which is empty where it says all of it in a tail that others append.
///
/// # Errors
/// When that refuses to be encoded, in words.
pub(crate) fn encode_system(service: ServiceId, message: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(ROOM_BYTES);
    let write = |out: &mut Writer<'_>| write_system(out, service, |out| out.write(message));
    codec::append(&mut bytes, write).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Writes a frame of a service.
///
/// # Errors
/// When what it says refuses to be encoded.
pub(crate) fn write_system(
    out: &mut Writer<'_>,
    service: ServiceId,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    out.write(&Header::System { service })?;
    write(out)
}
