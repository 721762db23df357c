//! Broadcasts as messages to one PE.

use crate::model::arguments::Arguments;
use crate::model::envelope::SystemMessage;
use crate::model::ids::{CollectionId, ServiceId};
use crate::model::nocopy::Local;
use crate::model::registry::EntryRegistration;

pub(crate) const ID: ServiceId = ServiceId(0);

/// A call of one entry of every member.
#[derive(Clone)]
pub(crate) struct Broadcast {
    pub(crate) collection: CollectionId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// This process's memory of each nocopy argument, of the host or of a device; all members share it.
    pub(crate) nocopy: Vec<Local>,
    pub(crate) reference: u64,
}

impl SystemMessage for Broadcast {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        format!("a call of all {}::{}", self.entry.chare, self.entry.name)
    }

    fn bytes(&self) -> usize {
        self.arguments.encoded_bytes() + self.nocopy.iter().map(Local::kept_bytes).sum::<usize>()
    }
}
