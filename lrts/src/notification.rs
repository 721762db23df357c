//! Notification: one call of a sink that was put off, until nothing is locked that the runtime may need.

use crate::error::LrtsError;
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Sink};

/// What the sink is to be told; `Message` is what a frame arrived in.
pub(crate) enum Notification<Message> {
    Frame { source: NodeId, channel: Channel, message: Message },
    Completion(Completion),
    Closed(NodeId),
    Lost(LrtsError),
}

impl<Message> Notification<Message> {
    /// The peer of whose loss it tells, if it does.
    #[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim"))]
    pub(crate) fn lost_peer(&self) -> Option<NodeId> {
        match self {
            Self::Lost(error) => error.peer(),
            _ => None,
        }
    }

    /// Tells the runtime, a frame by `read`. Returns its message, once it was read.
    pub(crate) fn tell(
        self,
        sink: &mut dyn Sink,
        read: impl FnOnce(&mut dyn Sink, NodeId, Channel, &Message),
    ) -> Option<Message> {
        match self {
            Self::Frame { source, channel, message } => {
                read(sink, source, channel, &message);
                return Some(message);
            }
            Self::Completion(completion) => sink.completion(completion),
            Self::Closed(peer) => sink.peer_closed(peer),
            Self::Lost(error) => sink.peer_lost(error),
        }
        None
    }
}
