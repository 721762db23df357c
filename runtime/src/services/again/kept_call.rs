//! Kept calls: the call of an entry as it can be made again, here or on another PE; as it is inside a process, encoded outside.

use crate::base::deadline::Deadline;
use crate::delivery::invocation;
use crate::model::arguments::Arguments;
use crate::model::ids::{BroadcastId, EntryId};
use crate::model::registry::{AnyChare, EntryRegistration, Identity, find_entry};
use crate::node::timeline::Kind;
use crate::pe::Pe;
use crate::pe::running::Whose;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::rc::Rc;

/// A call that may be made again.
pub(crate) struct KeptCall {
    pub(crate) entry: &'static EntryRegistration,
    /// The entry's own arguments; of type `E::Arguments`, not encoded.
    pub(crate) arguments: Arguments,
    pub(crate) reference: u64,
    pub(crate) within: Option<BroadcastId>,
    pub(crate) deadline: Option<Deadline>,
}

impl KeptCall {
    /// Makes the call.
    pub(super) fn make(self, pe: &Pe, chare: Rc<dyn AnyChare>) {
        let Self { entry, arguments, reference, within, deadline } = self;
        invocation::call_anew(pe, chare, entry, arguments, (reference, within, deadline));
    }

    /// Drops a call that will not be made, because its chare is gone, and tells who waits for its answer.
    pub(super) fn forsake(self, pe: &Pe, chare: &Identity) {
        let Self { entry, arguments, .. } = self;
        let whose = Whose::Unborn(Rc::new(chare.clone()));
        pe.run_inside(Kind::Task, (whose, entry.name), || (entry.forsake)(arguments));
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    entry: EntryId,
    arguments: Vec<u8>,
    reference: u64,
    within: Option<BroadcastId>,
    deadline: Option<Deadline>,
}

impl Serialize for KeptCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { entry, arguments: value, reference, within, deadline } = self;
        let (reference, within, deadline) = (*reference, *within, *deadline);
        let mut arguments = Vec::new();
        value.encode_into(&mut arguments).map_err(S::Error::custom)?;
        Written { entry: entry.id, arguments, reference, within, deadline }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeptCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { entry, arguments, reference, within, deadline } = Written::deserialize(deserializer)?;
        let entry = find_entry(entry).map_err(D::Error::custom)?;
        if !entry.nocopy.is_empty() {
            return Err(D::Error::custom("an entry with nocopy arguments is never called again"));
        }
        let arguments = entry.decode(&arguments).map_err(D::Error::custom)?;
        Ok(Self { entry, arguments, reference, within, deadline })
    }
}
