//! Events in the life of a collection's elements, of which a PE tells every service.

use crate::model::ids::{BroadcastId, CollectionId, Index, Target};
use crate::model::parcel::Parcel;

/// An event in the life of a collection's elements.
pub(crate) enum ElementEvent<'a> {
    /// All initial elements of a collection on this PE have been constructed.
    Born { collection: CollectionId },
    /// The elements of a collection on this PE, which may grow, are about to hear a broadcast.
    Called { broadcast: BroadcastId },
    /// An element that lived on this PE is gone. Services put their news for the element's home into the parcel.
    Gone {
        collection: CollectionId,
        index: Index,
        /// The first reduction of the collection to which the element has not contributed.
        next_reduction: u64,
        parcel: &'a mut Parcel,
    },
    /// At the element's home: the element is gone, wherever it lived.
    Forgotten { member: Target, parcel: &'a Parcel },
}
