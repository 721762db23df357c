//! Aggregation: many small calls travel in one message. How a message travels, and how a call that is not aggregated is made, never
//! stands here.
//! `api/proxy -> **services/aggregation** -> model/envelope -> delivery/outbox`, and
//! `delivery/dispatch -> **services/aggregation** -> the entry method`
//!
//! 1. The PEs stand in a grid of one, two or three dimensions (see `grid`). For each entry marked `#[entry(aggregate)]` and each
//!    collection, a PE keeps one buffer for itself and one for each neighbour: a PE that differs from it in one coordinate.
//! 2. A call goes into the buffer of the neighbour that is next on its way. A buffer leaves as one message, a [`bundle`], when it is
//!    full, some time after its first call, when its PE has nothing else to do, and when the program asks (`flush_aggregated`).
//! 3. A PE that receives a bundle runs the calls of elements that live there, one after the other, and puts the other calls into buffers
//!    of its own. A call keeps the destination that was found when it was made: PEs that disagree about it would send the call to and
//!    fro.
//! 4. A call whose element does not live where it was thought to goes on as a message of its own, like any call, and the PE that sent the
//!    bundle is told where the element lives.
//! 5. For quiescence a buffer is a message that was sent when its first call came, and is processed when its bundle is. So there is no
//!    quiescence while a buffer holds calls, and a PE does not rest before it has sent them.
//!
//! The memory of a PE's buffers is bounded by their number and size; bundles between nodes take credit like any message.
//!
//! After Charm++'s TRAM (Wesolowski et al., "TRAM: Optimizing fine-grained communication with topological routing and aggregation
//! of messages", ICPP 2014).

mod buffers;
mod bundle;
mod delivery;
mod grid;
mod items;
mod stream;

pub(crate) use buffers::{call, flush};
pub use bundle::AggregatedEntry;

use crate::base::typed_box::TypedBox;
use crate::model::envelope::opened;
use crate::model::registry::{Attached, EntryRegistration};
use crate::node::NodeService;
use crate::pe::{ChareEvent, Service};
use buffers::Aggregation;
use bundle::{BundleOperations, ID};
use std::cell::RefCell;

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        arrive: |node, arrival| bundle::decode(arrival.said, node.topology.pes()).map(Some),
        ..NodeService::NONE
    },
    state: || TypedBox::new(RefCell::new(Aggregation::default())),
    deliver: |pe, options, message| delivery::deliver(pe, options, opened(message)),
    poll: buffers::flush_due,
    before_rest: flush,
    event: Some(|pe, event| {
        if let ChareEvent::Ended { collection } = event {
            buffers::end(pe, *collection);
        }
    }),
    clear: buffers::clear,
    ..Service::named(ID, "aggregation")
};

/// The registration of the marker type of an entry whose calls travel together.
pub const fn aggregated_entry<E: AggregatedEntry>() -> EntryRegistration {
    let mut registration = EntryRegistration::of::<E>();
    registration.bundles = Some(Attached(&Operations::<E>::TABLE));
    registration
}

/// The operations on the bundles of entry `E`.
struct Operations<E>(E);

impl<E: AggregatedEntry> Operations<E> {
    const TABLE: BundleOperations =
        BundleOperations { decode: items::decode::<E::Arguments>, deliver: delivery::deliver_items::<E> };
}
