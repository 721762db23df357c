//! Connections between the nodes of a host: a socket pair for every two of them.
//!
//! 1. A pair is made when both nodes have greeted, and each half leaves for its node at once.
//! 2. At most [`UNDER_WAY_MAX`] halves are on their way: a descriptor counts against the launcher's limit until its node
//!    has been sent it, and all pairs of a large job together would exceed any limit.

use super::message::FromAgent;
use super::node::{Order, Orders};
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::ToNode;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most sockets that wait to be sent; even, since they are made in pairs.
pub(super) const UNDER_WAY_MAX: usize = 128;

/// Two nodes that do not know each other yet.
pub(super) type Strangers = [(NodeId, Orders); 2];

/// Connects the pairs of nodes that come. Errors go to `events` as long as another sender is alive.
pub(super) async fn introduce(
    mut pairs: UnboundedReceiver<Strangers>,
    events: WeakUnboundedSender<FromAgent>,
) {
    let room = Arc::new(Semaphore::new(UNDER_WAY_MAX));
    while let Some([one, other]) = pairs.recv().await {
        // Nobody closes the semaphore.
        let Ok(permit) = Arc::clone(&room).acquire_many_owned(2).await else { return };
        if let Err(cause) = connect(&one, &other, permit)
            && let Some(events) = events.upgrade()
        {
            let message = format!("no sockets to its neighbours: {cause}; see `ulimit -n`");
            // A listener that is gone has ended the job.
            let _ = events.send(FromAgent::Broke { node: one.0, message });
        }
    }
}

fn connect(
    one: &(NodeId, Orders),
    other: &(NodeId, Orders),
    mut permit: OwnedSemaphorePermit,
) -> io::Result<()> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (here, there) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    // A node that is gone takes no order; its keeper reports its end.
    let _ =
        other.1.send(Order { message: ToNode::Neighbour(one.0), descriptor: Some((there, permit.split(1))) });
    let _ = one.1.send(Order { message: ToNode::Neighbour(other.0), descriptor: Some((here, Some(permit))) });
    Ok(())
}
