//! Parcels: the state that services send along with an element that leaves a PE, one content per service.

use crate::model::ids::ServiceId;
use chare_lrts::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The encoded contents of a parcel, each with its service.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Parcel(Vec<(ServiceId, Vec<u8>)>);

impl Parcel {
    /// Puts in the content that a service sends along.
    pub(crate) fn put(&mut self, service: ServiceId, content: &impl Serialize) {
        let mut bytes = Vec::new();
        codec::encode_into(content, &mut bytes).expect("what services keep of elements encodes");
        self.0.push((service, bytes));
    }

    /// The content that a service has sent along, if there is one.
    ///
    /// # Errors
    /// When the content is not of this type, in words: the parcel may be another node's.
    pub(crate) fn open<T: DeserializeOwned>(&self, service: ServiceId) -> Result<Option<T>, String> {
        let own = self.0.iter().find(|(of, _)| *of == service);
        own.map(|(_, bytes)| codec::decode(bytes)).transpose().map_err(|error| error.to_string())
    }
}
