//! Parcels: what services send along with an element that leaves a PE, one content per service: as it is inside a process, encoded outside.

use crate::model::ids::ServiceId;
use chare_lrts::codec::{self, CodecError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;

/// The encoded contents of a parcel, each with its service.
pub(crate) type WrittenParcel = Vec<(ServiceId, Vec<u8>)>;

/// What a service sends along.
trait Luggage: Any + Send {
    fn write(&self) -> Result<Vec<u8>, CodecError>;
}

impl<T: Any + Send + Serialize> Luggage for T {
    fn write(&self) -> Result<Vec<u8>, CodecError> {
        let mut bytes = Vec::new();
        codec::encode_into(self, &mut bytes)?;
        Ok(bytes)
    }
}

/// The content of one service.
enum Content {
    AsItIs(Box<dyn Luggage>),
    Written(Vec<u8>),
}

/// The contents of a parcel, each with its service.
#[derive(Default)]
pub(crate) struct Parcel(Vec<(ServiceId, Content)>);

impl Parcel {
    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts in the content that a service sends along. One allocation.
    pub(crate) fn put(&mut self, service: ServiceId, content: impl Any + Send + Serialize) {
        self.0.push((service, Content::AsItIs(Box::new(content))));
    }

    /// Takes out the content that a service has sent along, if there is one.
    ///
    /// # Errors
    /// When the content is not of this type, in words: the parcel may be another node's.
    pub(crate) fn take<T: Any + DeserializeOwned>(
        &mut self,
        service: ServiceId,
    ) -> Result<Option<T>, String> {
        let Some(place) = self.0.iter().position(|(of, _)| *of == service) else { return Ok(None) };
        match self.0.swap_remove(place).1 {
            Content::AsItIs(luggage) => {
                let content: Box<dyn Any> = luggage;
                Ok(Some(*content.downcast().expect("a service asks for what it has put in")))
            }
            Content::Written(bytes) => codec::decode(&bytes).map(Some).map_err(|error| error.to_string()),
        }
    }

    /// The contents, encoded: for another process.
    ///
    /// # Errors
    /// When a content does not encode.
    pub(crate) fn write(&self) -> Result<WrittenParcel, CodecError> {
        let write = |content: &Content| match content {
            Content::AsItIs(luggage) => luggage.write(),
            Content::Written(bytes) => Ok(bytes.clone()),
        };
        self.0.iter().map(|(service, content)| Ok((*service, write(content)?))).collect()
    }
}

impl From<WrittenParcel> for Parcel {
    fn from(written: WrittenParcel) -> Self {
        Self(written.into_iter().map(|(service, bytes)| (service, Content::Written(bytes))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_is_what_was_put_in_also_by_way_of_another_process() {
        let (mine, others) = (ServiceId(3), ServiceId(5));
        let mut parcel = Parcel::default();
        parcel.put(mine, vec![1_u64, 2]);
        parcel.put(others, "5".to_owned());
        let written = parcel.write().unwrap();
        for mut parcel in [parcel, Parcel::from(written)] {
            assert_eq!(parcel.take::<Vec<u64>>(mine), Ok(Some(vec![1, 2])));
            assert_eq!(parcel.take::<Vec<u64>>(mine), Ok(None));
            assert_eq!(parcel.take::<String>(others), Ok(Some("5".to_owned())));
        }
        let mut foreign = Parcel::from(vec![(mine, vec![])]);
        assert!(foreign.take::<u64>(mine).is_err());
    }
}
