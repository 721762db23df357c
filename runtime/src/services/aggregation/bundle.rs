//! Bundles: the calls of one buffer in one message, and the operations on them that need not know their entry's type.

use crate::model::arguments::Arguments;
use crate::model::envelope::SystemMessage;
use crate::model::ids::{CollectionId, EntryId, PeId, ServiceId};
use crate::model::registry::{EntryMethod, EntryRegistration, find_entry};
use crate::node::Delivery;
use crate::pe::Pe;
use chare_lrts::codec::{self, CodecError, Writer};
use std::any::Any;
use std::time::Duration;

pub(crate) const ID: ServiceId = ServiceId(3);

/// An entry whose calls travel together: `#[entry(aggregate)]` implements it.
pub trait AggregatedEntry: EntryMethod {
    /// The bytes that a buffer holds before it leaves. 16 KiB are two thousand numbers: more hardly makes a call cheaper, and a PE has
    /// such a buffer for each of its neighbours.
    const BUFFER_BYTES: usize = 16 << 10;
    /// Dimensions of the grid of PEs: 1, 2 or 3.
    const DIMENSIONS: u32 = 1;
    /// How long a call waits at most on a PE that is busy with short entries: many times what a message takes, and less than a user
    /// notices.
    const FLUSH_AFTER: Duration = Duration::from_millis(1);
}

/// The content of one buffer, on its way to a neighbour.
pub(super) struct Bundle {
    pub(super) collection: CollectionId,
    pub(super) entry: &'static EntryRegistration,
    /// The PE whose buffer it was.
    pub(super) from: PeId,
    /// The `Items` of the entry.
    pub(super) items: Arguments,
}

impl SystemMessage for Bundle {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        format!("calls of {}::{} that travel together", self.entry.chare, self.entry.name)
    }

    fn bytes(&self) -> usize {
        self.items.encoded_bytes()
    }

    fn has_arguments(&self) -> bool {
        true
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        let front: Front = (to, self.from, self.collection, self.entry.id);
        out.write(&front)?;
        self.items.encode(out)
    }
}

/// The head of a bundle between nodes: the PE that it is for, the PE that it is from, the collection and the entry.
type Front = (PeId, PeId, CollectionId, EntryId);

/// Operations on the bundles of an entry whose type is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct BundleOperations {
    pub(super) decode: fn(&[u8], u32) -> Result<Arguments, String>,
    pub(super) deliver: fn(&Pe, Bundle) -> Result<(), String>,
}

/// Decodes a bundle from another node of a job of so many PEs.
///
/// # Errors
/// When the bytes are no bundle, in words.
pub(super) fn decode(said: &[u8], pes: u32) -> Result<Delivery, String> {
    let ((to, from, collection, entry), rest): (Front, &[u8]) =
        codec::decode_front(said).map_err(|error| error.to_string())?;
    let entry = find_entry(entry)?;
    let items = (operations(entry)?.decode)(rest, pes)?;
    let message = Box::new(Bundle { collection, entry, from, items });
    Ok(Delivery { to, options: entry.options.clone(), message })
}

/// The operations on the bundles of an entry.
///
/// # Errors
/// When the entry's calls do not travel together, in words.
pub(super) fn operations(entry: &EntryRegistration) -> Result<&'static BundleOperations, String> {
    let attached = entry.bundles.and_then(|attached| {
        let attached: &'static dyn Any = attached.0;
        attached.downcast_ref()
    });
    attached
        .ok_or_else(|| format!("collected calls of {}::{}, which is not aggregated", entry.chare, entry.name))
}
