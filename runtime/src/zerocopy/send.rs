//! The sender's side of a nocopy argument that leaves its process: eager or rendezvous is decided here.

use super::{Descriptor, Leaving, Lender, Outgoing, Release};
use crate::callback::{ErasedCallback, Goal};
use crate::envelope::{Body, Envelope, Fired};
use crate::message::Arguments;
use crate::node::Node;
use crate::queue::CallOptions;
use crate::registry::NocopyKind;
use parking_lot::Mutex;
use std::sync::Arc;

/// Up to here the bytes travel with the message: fetching them would cost a round trip more than copying them.
pub(crate) const EAGER_LIMIT_BYTES: usize = 2048;

/// Takes charge of what the caller gave.
pub(crate) fn leave(node: &Arc<Node>, Outgoing { memory, hand_back }: Outgoing) -> Leaving {
    let offered = memory.len() as u64;
    let release = hand_back.map(|hand_back| {
        // In a mutex because a release is shared; it is run once.
        let (node, hand_back) = (Arc::clone(node), Mutex::new(hand_back));
        Release::new(offered, move |taken| {
            let (callback, sent) = hand_back.into_inner()(taken);
            fire(&node, callback, sent);
        })
    });
    Leaving { memory, release }
}

/// Describes nocopy arguments to another node. Eager ones are complete at once, unless the receiver's post may be shorter and
/// the sender wants to know.
///
/// # Errors
/// When no more memory can be registered, in words.
pub(crate) fn describe(
    node: &Node,
    kinds: &[NocopyKind],
    leaving: Vec<Leaving>,
) -> Result<Vec<Descriptor>, String> {
    kinds.iter().zip(leaving).map(|(kind, one)| describe_one(node, *kind, one)).collect()
}

fn describe_one(
    node: &Node,
    kind: NocopyKind,
    Leaving { memory, release }: Leaving,
) -> Result<Descriptor, String> {
    if memory.len() <= EAGER_LIMIT_BYTES {
        node.outside.count_copy(memory.len());
        let bytes = memory.as_slice().to_vec();
        drop(memory);
        let awaited = release.filter(|_| kind == NocopyKind::Posted);
        let lender =
            awaited.map(|release| Lender { node: node.id, token: node.transfers.relay(Some(release)) });
        return Ok(Descriptor::Inline { bytes: bytes.into(), lender });
    }
    let (key, token) = node.transfers.lend(node.network.regions(), memory, release)?;
    Ok(Descriptor::Lent { key, token })
}

/// Fires a callback from outside any PE's entries: a future of this node at once, anything else through a
/// PE, which knows all the ways out.
pub(crate) fn fire(node: &Node, callback: ErasedCallback, value: Arguments) {
    if node.has_ended() {
        return;
    }
    let (to, body) = match callback.goal {
        Goal::Ignore => return,
        Goal::Resolve(future) if node.is_here(future.pe) => (future.pe, Body::Resolve { future, value }),
        _ => (node.layout.pe(node.id, 0), Body::Callback(Box::new(Fired { callback, value }))),
    };
    node.deliver_counted(to, Envelope { options: CallOptions::new(), body });
}
