//! A message in flight, and its checked way to and from bytes. `proxy -> zerocopy -> **envelope** -> location -> outbox`
//!
//! Inside a process an [`Envelope`] is a value that moves; [`Header`] and the encoded arguments after it exist only
//! between processes. What arrives is an allegation until [`decode`] has checked it against the registry.

use crate::aggregation::Bundle;
use crate::blueprint::Blueprint;
use crate::call::Call;
use crate::callback::{ErasedCallback, FutureId};
use crate::codec::{self, CodecError, Writer};
use crate::collection::CollectionInfo;
use crate::ids::{ChareId, ChareTypeId, CollectionId, EntryId, Index, PeId, SectionId, Target};
use crate::message::Arguments;
use crate::partial::Partial;
use crate::queue::CallOptions;
use crate::quiescence::Wave;
use crate::registry::{ChareRegistration, EntryRegistration, registry};
use crate::section::{CallOfSection, Leg, Multicast, SectionCall, SectionMessage};
use crate::zerocopy::carry::Carried;
use crate::zerocopy::{Descriptor, Leaving};
use chare_lrts::{Memory, MemoryMut, NodeId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One message for one PE.
pub(crate) struct Envelope {
    pub(crate) options: CallOptions,
    pub(crate) body: Body,
}

impl Envelope {
    /// Whether it is a call that is queued by default and [is plain](Call::is_plain).
    #[inline]
    pub(crate) fn is_plain_call(&self) -> bool {
        matches!(&self.body, Body::Call(call) if call.is_plain()) && self.options.is_default()
    }

    /// About how much memory it takes. Memory that others lend is not counted, nor what the runtime alone says.
    pub(crate) fn bytes(&self) -> u64 {
        let content = match &self.body {
            Body::Call(Call { arguments, nocopy, .. }) => {
                arguments.encoded_bytes() + nocopy.as_ref().map_or(0, |nocopy| nocopy.kept_bytes())
            }
            Body::Broadcast(broadcast) => broadcast.arguments.encoded_bytes() + kept_bytes(&broadcast.nocopy),
            Body::Contribution { partial, .. } => partial.bytes(),
            Body::Insert(insert) => insert.arguments.encoded_bytes(),
            Body::Bundle(bundle) => bundle.items.encoded_bytes(),
            Body::SectionCall(call) => {
                call.arguments.encoded_bytes() + call.nocopy.iter().map(Carried::kept_bytes).sum::<usize>()
            }
            Body::Multicast(multicast) => multicast.arguments.encoded_bytes() + kept_bytes(&multicast.nocopy),
            Body::Section(message) => message.bytes(),
            _ => 0,
        };
        (size_of::<Self>() + content) as u64
    }
}

fn kept_bytes(leaving: &[Leaving]) -> usize {
    leaving.iter().map(Leaving::kept_bytes).sum()
}

/// What a message asks of a PE. Moved several times on its way, so what is rare and large stands in a box.
pub(crate) enum Body {
    Call(Call),
    Create(Create),
    CreateMembers {
        info: Arc<CollectionInfo>,
        arguments: Arguments,
    },
    Insert(Box<Insert>),
    /// Nobody will insert more into the collection: from the PE that was told so, to all.
    DoneInserting(CollectionId),
    /// The same at the homes, once `insertions` have come from PE `from`.
    Closing {
        collection: CollectionId,
        from: PeId,
        insertions: u64,
    },
    Broadcast(Box<Broadcast>),
    /// Calls that travel together.
    Bundle(Box<Bundle>),
    /// To the root of a section.
    SectionCall(Box<SectionCall>),
    /// To members of a section.
    Multicast(Box<Multicast>),
    Section(Box<SectionMessage>),
    Contribution {
        collection: CollectionId,
        partial: Box<Partial>,
    },
    News(Box<News>),
    Resolve {
        future: FutureId,
        value: Arguments,
    },
    /// Its value will not come.
    Broken {
        future: FutureId,
        cause: Box<str>,
    },
    /// A callback that fires outside any entry; stays on its node.
    Callback(Box<Fired>),
    Quiescence(Box<Wave>),
}

/// A callback and the value it fires with.
pub(crate) struct Fired {
    pub(crate) callback: ErasedCallback,
    pub(crate) value: Arguments,
}

/// The creation of a singleton.
pub(crate) struct Create {
    pub(crate) id: ChareId,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) arguments: Arguments,
}

/// The insertion of a member, on its way.
pub(crate) struct Insert {
    pub(crate) order: InsertionOrder,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) arguments: Arguments,
}

/// What an insertion is about.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct InsertionOrder {
    pub(crate) collection: CollectionId,
    pub(crate) index: Index,
    /// The index's encoding, if its bits are a digest.
    pub(crate) name: Option<Box<[u8]>>,
    /// Where the member is to live, if not where its home says.
    pub(crate) on: Option<PeId>,
    /// The PE that asked.
    pub(crate) from: PeId,
    pub(crate) stage: Stage,
}

/// How far an insertion has come; see [`crate::insertion`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// On the PE that asks.
    Leaving,
    /// At the home, which decides.
    Asking,
    /// On the PE where such a member lived last, as far as the home knows.
    Contested,
    /// Back at the home: it lives there no more.
    Cleared,
    /// On the PE where it is to live.
    Granted,
    /// To the home: a call needs it, which carries no more than a digest of its index.
    Needed,
}

/// What PEs tell each other of collections.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum News {
    /// To whoever called a member: it lives there.
    Located { target: Target, at: PeId },
    /// To a member's home: it lived on `from` and is gone. Of sections, how many reductions it has contributed to.
    Gone { collection: CollectionId, index: Index, from: PeId, contributed: Vec<(SectionId, u64)> },
    /// To the first PE of a node: see [`crate::fold`].
    Begin { collection: CollectionId, before: u64 },
    /// To every PE: reductions before this one have begun.
    Begun { collection: CollectionId, before: u64 },
}

/// A call of one entry of every member.
#[derive(Clone)]
pub(crate) struct Broadcast {
    pub(crate) collection: CollectionId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// What this process has of each; all members share it.
    pub(crate) nocopy: Vec<Leaving>,
    pub(crate) reference: u64,
}

/// What one node says to another. The encoded arguments, if the variant has any, follow it in the frame.
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
    Insert { to: PeId, order: InsertionOrder, chare: ChareTypeId, options: CallOptions },
    /// For one PE of the receiving node.
    Bundle { to: PeId, from: PeId, collection: CollectionId, entry: EntryId },
    /// For one PE of the receiving node.
    Contribution { to: PeId, collection: CollectionId, partial: Partial },
    /// For one PE of the receiving node.
    News { to: PeId, news: News },
    /// For one PE of the receiving node.
    Section { to: PeId, message: SectionMessage },
    /// To a section's root, down from there, or to members that live elsewhere.
    Multicast {
        call: CallOfSection,
        leg: Leg,
        /// Lent by the node that sent the frame, whoever's memory it is.
        nocopy: Vec<Descriptor>,
    },
    /// For one PE of the receiving node.
    Resolve { future: FutureId },
    /// For one PE of the receiving node.
    Quiescence { to: PeId, wave: Wave },
    /// For all nodes, down the tree below `root`.
    Spread { root: NodeId, spread: Spread },
    /// The sender of these bytes keeps a larger message at this descriptor; fetch it, then read it as a frame.
    Large { descriptor: Descriptor },
    /// A buffer of the receiving node is free again; its first `bytes` were taken.
    Released { token: u64, bytes: u64 },
    /// The callback is for whoever registered it on this node.
    Notify { callback: ErasedCallback, bytes: u64 },
    /// Messages of the receiving node have run here that cost it so much.
    Credit { bytes: u64 },
    /// For one PE of the receiving node.
    Broken { future: FutureId, cause: Box<str> },
}

impl Header {
    /// What it is about, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Call { entry, .. } | Self::Bundle { entry, .. } => match find_entry(*entry) {
                Ok(entry) => format!("a call of {}::{}", entry.chare, entry.name),
                Err(unknown) => unknown,
            },
            Self::Create { chare, .. } => match find_chare(*chare) {
                Ok(chare) => format!("creating {}", chare.name),
                Err(unknown) => unknown,
            },
            Self::Insert { chare, .. } => match find_chare(*chare) {
                Ok(chare) => format!("inserting a member of {}", chare.name),
                Err(unknown) => unknown,
            },
            Self::News { .. } => "news of a collection".to_owned(),
            Self::Section { message, .. } => format!("news of {}", message.section),
            Self::Multicast { call, .. } => match find_entry(call.entry) {
                Ok(entry) => format!("a call of {}::{} of {}", entry.chare, entry.name, call.section),
                Err(unknown) => unknown,
            },
            Self::Contribution { .. } => "a reduction".to_owned(),
            Self::Resolve { .. } | Self::Broken { .. } => "resolving a future".to_owned(),
            Self::Quiescence { .. } => "quiescence detection".to_owned(),
            Self::Spread { .. }
            | Self::Large { .. }
            | Self::Released { .. }
            | Self::Notify { .. }
            | Self::Credit { .. } => "a message of the runtime".to_owned(),
        }
    }
}

/// What goes to all nodes.
#[derive(Serialize, Deserialize)]
pub(crate) enum Spread {
    Members(Box<Blueprint>),
    /// PE `from` will insert no more, and has asked so many homes for so many insertions.
    Closing {
        collection: CollectionId,
        from: PeId,
        insertions: Vec<(PeId, u64)>,
    },
    Broadcast {
        call: CallOfAll,
        /// Lent by the node that sent the frame, whoever's memory it is.
        nocopy: Vec<Descriptor>,
    },
    /// The readonly values; nothing runs on a node before they are here.
    Readonly {
        /// Of what is large in them; lent by the node that sent the frame.
        nocopy: Vec<Descriptor>,
    },
    Exit {
        code: i32,
        error: Option<String>,
    },
}

/// Which entry of which collection a broadcast calls, and how.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CallOfAll {
    pub(crate) collection: CollectionId,
    pub(crate) entry: EntryId,
    pub(crate) options: CallOptions,
    pub(crate) reference: u64,
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

/// The entry with this id.
///
/// # Errors
/// When this program has none, in words.
pub(crate) fn find_entry(id: EntryId) -> Result<&'static EntryRegistration, String> {
    registry().entry(id).ok_or_else(|| format!("there is no entry method {id:?}"))
}

/// The chare type with this id.
///
/// # Errors
/// When this program has none, in words.
pub(crate) fn find_chare(id: ChareTypeId) -> Result<&'static ChareRegistration, String> {
    registry().chare(id).ok_or_else(|| format!("there is no chare type {id:?}"))
}

/// Compares a message's nocopy arguments with its entry's parameters.
///
/// # Errors
/// When they are more or fewer, in words.
pub(crate) fn check_count(given: usize, entry: &EntryRegistration) -> Result<(), String> {
    let expected = entry.nocopy.len();
    if given == expected {
        return Ok(());
    }
    Err(format!("{given} nocopy arguments for the {expected} of {}::{}", entry.chare, entry.name))
}
