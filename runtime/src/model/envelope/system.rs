//! Messages of services: what the runtime's services say to themselves on other PEs and other nodes.
//!
//! An envelope carries them without knowing what they say, so that a service is one folder. The idea is Converse's: a message names its
//! handler (Charm++ manual, "Converse: handlers").

use crate::model::ids::{PeId, ServiceId};
use chare_lrts::codec::{CodecError, Writer};
use std::any::Any;

/// What a service says to one PE.
pub(crate) trait SystemMessage: Any + Send {
    /// Whose it is.
    fn service(&self) -> ServiceId;

    /// What it is about, for messages to humans.
    fn describe(&self) -> String;

    /// About how much memory its contents take; not what others lend.
    fn bytes(&self) -> usize {
        0
    }

    /// Whether it is a message to quiescence.
    fn is_counted(&self) -> bool {
        true
    }

    /// Whether arguments of the program are encoded when it leaves the process.
    fn has_arguments(&self) -> bool {
        false
    }

    /// Memory that goes with it and has to be fetched, or read where it is lent.
    fn lent_bytes(&self) -> u64 {
        0
    }

    /// Writes it for a PE of another node, so that the service's row reads it there.
    ///
    /// # Errors
    /// When arguments of the program refuse to be encoded.
    fn write(&self, _to: PeId, _out: &mut Writer<'_>) -> Result<(), CodecError> {
        unreachable!(
            "{} goes to all nodes, or stays on its own: it is never sent to one PE of another",
            self.describe()
        )
    }
}

/// The message as its service knows it.
///
/// # Panics
/// If it is another service's.
pub(crate) fn opened<M: SystemMessage>(message: Box<dyn SystemMessage>) -> M {
    let message: Box<dyn Any> = message;
    *message.downcast().expect("a service gets its own messages")
}
