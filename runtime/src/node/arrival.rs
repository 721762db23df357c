//! Arrivals and deliveries: a service's frame from another node, and the message for one PE that the service makes of it.

use crate::model::call_options::CallOptions;
use crate::model::envelope::SystemMessage;
use crate::model::ids::{NodeId, PeId};
use chare_lrts::codec;
use serde::de::DeserializeOwned;

/// A frame for a service, from another node. Every byte is an allegation until the service has checked it.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) source: NodeId,
    /// The whole frame, for a service that passes it on.
    pub(crate) frame: &'a [u8],
    /// The rest of the frame behind its header: the message as the service on the source node encoded it.
    pub(crate) said: &'a [u8],
}

/// A message for one PE of this node; the sending node has paid for its bytes.
pub(crate) struct Delivery {
    pub(crate) to: PeId,
    pub(crate) options: CallOptions,
    pub(crate) message: Box<dyn SystemMessage>,
}

impl Delivery {
    /// Decodes a PE of this node and, behind it, the message of type `M` for that PE.
    ///
    /// # Errors
    /// When the bytes hold no such pair, in words.
    pub(crate) fn of<M: SystemMessage + DeserializeOwned>(
        arrival: Arrival<'_>,
    ) -> Result<Option<Self>, String> {
        let (to, message): (PeId, M) = codec::decode(arrival.said).map_err(|error| error.to_string())?;
        Ok(Some(Self { to, options: CallOptions::new(), message: Box::new(message) }))
    }
}
