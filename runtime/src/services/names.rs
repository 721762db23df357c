//! Names of a job: values, mostly proxies, that one chare registers by a name and others find by it.
//!
//! 1. A name belongs to the PE that its hash says, the same on all nodes; that PE alone keeps what is registered by it, encoded. So the first
//!    who registers a name has it, whatever others do at that moment.
//! 2. A name stays until the job is over. Names from other nodes are an allegation: they are short, and there are so many at most.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Envelope, SystemMessage, opened};
use crate::model::error::NameError;
use crate::model::ids::{PeId, ServiceId};
use crate::node::{Delivery, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

const ID: ServiceId = ServiceId(14);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<Message>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Names::default())),
    deliver: |pe, _, message| {
        receive(pe, opened(message));
        Outcome::Processed
    },
    ..Service::named(ID, "names of chares")
};

/// The longest name, and the longest value, in bytes: a proxy has some thirty, one of a section eight more for each member that it lists.
pub(crate) const NAME_BYTES_MAX: usize = 256;
const VALUE_BYTES_MAX: usize = 1 << 16;

/// The most names on one PE: with proxies 20 MB.
const NAMES_MAX: usize = 1 << 16;

/// The most bytes of names and values on one PE: three times what as many proxies take.
const BYTES_MAX: usize = 64 << 20;

/// A value as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Named {
    /// The name of its type.
    pub(crate) what: String,
    pub(crate) bytes: Vec<u8>,
}

/// A question to the PE that keeps a name.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    /// The callback takes a `Result<(), NameError>`.
    Register { name: String, value: Named, told: ErasedCallback },
    /// The callback takes an `Option<Named>`.
    Find { name: String, told: ErasedCallback },
}

impl SystemMessage for Message {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        let (Self::Register { name, .. } | Self::Find { name, .. }) = self;
        format!("the name {name:?}")
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Register { name, value: Named { what, bytes }, .. } => {
                name.len() + what.len() + bytes.len()
            }
            Self::Find { name, .. } => name.len(),
        }
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

/// The names that this PE keeps.
#[derive(Default)]
struct Names {
    by_name: FxHashMap<String, Named>,
    /// Of names and values.
    bytes: usize,
}

impl Names {
    fn register(&mut self, name: String, value: Named) -> Result<(), NameError> {
        let (name_bytes, value_bytes) = (name.len(), value.what.len() + value.bytes.len());
        let is_too_long = name_bytes > NAME_BYTES_MAX || value_bytes > VALUE_BYTES_MAX;
        let bytes = self.bytes.saturating_add(name_bytes).saturating_add(value_bytes);
        if is_too_long || self.by_name.len() >= NAMES_MAX || bytes > BYTES_MAX {
            return Err(NameError::NoRoom { name });
        }
        match self.by_name.entry(name) {
            Entry::Vacant(free) => {
                free.insert(value);
                self.bytes = bytes;
                Ok(())
            }
            Entry::Occupied(taken) => {
                Err(NameError::Taken { name: taken.key().clone(), what: taken.get().what.clone() })
            }
        }
    }
}

/// Registers a value by a name, if the name is free. `told` takes a `Result<(), NameError>`.
pub(crate) fn register(pe: &Pe, name: String, value: Named, told: ErasedCallback) {
    send(pe, keeper(pe, &name), Message::Register { name, value, told });
}

/// Finds what is registered by a name. `told` takes an `Option<Named>`.
pub(crate) fn find(pe: &Pe, name: String, told: ErasedCallback) {
    send(pe, keeper(pe, &name), Message::Find { name, told });
}

fn send(pe: &Pe, to: PeId, message: Message) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

/// The PE that keeps a name.
fn keeper(pe: &Pe, name: &str) -> PeId {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    PeId((hasher.finish() % u64::from(pe.node.topology.pes())) as u32)
}

fn receive(pe: &Pe, message: Message) {
    let names: &RefCell<Names> = pe.state(ID);
    match message {
        Message::Register { name, value, told } => {
            let answer = names.borrow_mut().register(name, value);
            fire(pe, told, Arguments::new(answer));
        }
        Message::Find { name, told } => {
            let found = names.borrow().by_name.get(&name).cloned();
            fire(pe, told, Arguments::new(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_and_long_values_find_no_room() {
        let value = |bytes| Named { what: "x".to_owned(), bytes: vec![0; bytes] };
        let mut names = Names::default();
        assert_eq!(names.register("n".repeat(NAME_BYTES_MAX), value(VALUE_BYTES_MAX - 1)), Ok(()));
        for (name, value) in
            [("n".repeat(NAME_BYTES_MAX + 1), value(0)), ("n".to_owned(), value(VALUE_BYTES_MAX))]
        {
            assert_eq!(names.register(name.clone(), value), Err(NameError::NoRoom { name }));
        }
    }
}
