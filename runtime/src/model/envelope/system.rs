//! System messages: messages from one of the runtime's services to itself on other PEs and other nodes.
//!
//! An envelope carries them without knowing their content, so that a service is one folder. The idea is Converse's: a message names its
//! handler (Charm++ manual, "Converse: handlers").

use crate::model::ids::{PeId, ServiceId};
use chare_lrts::codec::{CodecError, Writer};
use std::any::Any;

/// A message of a service to one PE.
pub(crate) trait SystemMessage: Any + Send {
    /// The service whose message it is.
    fn service(&self) -> ServiceId;

    /// The subject of the message, for messages to humans.
    fn describe(&self) -> String;

    /// The memory that the message's contents take, in bytes, roughly, without memory that others lend.
    fn bytes(&self) -> usize {
        0
    }

    /// Whether quiescence detection counts the message.
    fn is_counted(&self) -> bool {
        true
    }

    /// Whether arguments of the program are encoded when the message leaves the process.
    fn has_arguments(&self) -> bool {
        false
    }

    /// Bytes of memory that go with the message and have to be fetched, or read where they are lent.
    fn lent_bytes(&self) -> u64 {
        0
    }

    /// Writes the message for a PE of another node, where the service's row of functions reads it.
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
/// If the message is another service's.
pub(crate) fn opened<M: SystemMessage>(message: Box<dyn SystemMessage>) -> M {
    let message: Box<dyn Any> = message;
    *message.downcast().expect("a service gets its own messages")
}
