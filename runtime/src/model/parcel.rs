//! Parcels: what services send along with an element that leaves a PE, each its own.

use crate::model::ids::ServiceId;
use chare_lrts::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// See the file's head.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Parcel(Vec<(ServiceId, Vec<u8>)>);

impl Parcel {
    /// Puts in what a service sends along.
    pub(crate) fn put(&mut self, service: ServiceId, content: &impl Serialize) {
        let mut bytes = Vec::new();
        codec::encode_into(content, &mut bytes).expect("what services keep of elements encodes");
        self.0.push((service, bytes));
    }

    /// What a service has sent along, if it has.
    ///
    /// # Errors
    /// When it is nothing of this type, in words: the parcel may be another node's.
    pub(crate) fn open<T: DeserializeOwned>(&self, service: ServiceId) -> Result<Option<T>, String> {
        let own = self.0.iter().find(|(of, _)| *of == service);
        own.map(|(_, bytes)| codec::decode(bytes)).transpose().map_err(|error| error.to_string())
    }
}
