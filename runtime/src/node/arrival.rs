//! Arrivals: what has come from another node for a service, and what is left of it for a PE.

use crate::model::call_options::CallOptions;
use crate::model::envelope::SystemMessage;
use crate::model::ids::{NodeId, PeId};
use chare_lrts::codec;
use serde::de::DeserializeOwned;

/// A frame of a service. All of it is an allegation.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) source: NodeId,
    /// The whole of it, to be passed on.
    pub(crate) frame: &'a [u8],
    /// What the service said.
    pub(crate) said: &'a [u8],
}

/// A message for one PE of this node; its sender has paid for its bytes.
pub(crate) struct Delivery {
    pub(crate) to: PeId,
    pub(crate) options: CallOptions,
    pub(crate) message: Box<dyn SystemMessage>,
}

impl Delivery {
    /// A message of this type that was written behind the PE that it is for.
    ///
    /// # Errors
    /// When that is not what was said, in words.
    pub(crate) fn of<M: SystemMessage + DeserializeOwned>(
        arrival: Arrival<'_>,
    ) -> Result<Option<Self>, String> {
        let (to, message): (PeId, M) = codec::decode(arrival.said).map_err(|error| error.to_string())?;
        Ok(Some(Self { to, options: CallOptions::new(), message: Box::new(message) }))
    }
}
