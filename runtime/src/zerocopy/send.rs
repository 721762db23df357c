//! The sender's side of a nocopy argument that leaves its process: eager or rendezvous is decided here.

use super::outgoing::Hold;
use super::{Descriptor, Leaving, Lender, Outgoing, Registration, Release};
use crate::callback::{ErasedCallback, Goal};
use crate::envelope::{Body, Envelope, Fired};
use crate::message::Arguments;
use crate::node::Node;
use crate::queue::CallOptions;
use crate::registry::NocopyKind;
use chare_lrts::{Lrts, Memory};
use parking_lot::Mutex;
use std::sync::Arc;

/// Up to here the bytes travel with the message: fetching them would cost a round trip more than copying them.
pub(crate) const EAGER_LIMIT_BYTES: usize = 2048;

/// Takes charge of what the caller gave.
pub(crate) fn leave(node: &Arc<Node>, Outgoing { memory, terms, hand_back }: Outgoing) -> Leaving {
    let offered = memory.len() as u64;
    let release = hand_back.map(|hand_back| {
        // In a mutex because a release is shared; it is run once.
        let (node, hand_back) = (Arc::clone(node), Mutex::new(hand_back));
        Release::new(offered, move |taken| {
            let (callback, sent) = hand_back.into_inner()(taken);
            fire(&node, callback, sent);
        })
    });
    let (memory, hold) = match terms.registration {
        Registration::Now => (memory.clone(), Hold::new(node, &memory)),
        Registration::Pooled => (pool(node, memory), None),
        Registration::Lazily | Registration::None => (memory, None),
    };
    Leaving { memory, release, terms, hold }
}

/// The same bytes in the runtime's pool, if there is one.
fn pool(node: &Node, memory: Memory) -> Memory {
    if memory.share().is_some() || !node.network.capabilities().view {
        return memory;
    }
    let mut pooled = node.network.allocate(memory.len());
    pooled.as_mut_slice().copy_from_slice(memory.as_slice());
    node.outside.count_copy(memory.len());
    pooled.freeze()
}

/// Describes nocopy arguments to another node. Bytes that travel along are complete at once, unless the receiver's post may be
/// shorter and the sender wants to know.
pub(crate) fn describe(node: &Node, kinds: &[NocopyKind], leaving: Vec<Leaving>) -> Vec<Descriptor> {
    kinds.iter().zip(leaving).map(|(kind, one)| describe_one(node, *kind, one)).collect()
}

fn describe_one(node: &Node, kind: NocopyKind, leaving: Leaving) -> Descriptor {
    if leaving.memory.len() <= EAGER_LIMIT_BYTES || leaving.terms.registration == Registration::None {
        let release = leaving.release.filter(|_| kind == NocopyKind::Posted);
        return copy_along(node, &leaving.memory, release);
    }
    lend_or_copy(node, leaving)
}

/// Lends memory to one receiver; copies it when no more can be registered, and says so once.
pub(crate) fn lend_or_copy(node: &Node, leaving: Leaving) -> Descriptor {
    match node.transfers.lend(node.network.regions(), leaving) {
        Ok((key, token)) => Descriptor::Lent { key, token },
        Err(Leaving { memory, release, .. }) => {
            if node.transfers.is_first_copy() {
                node.network.warn(
                    "no more memory can be registered, so buffers are copied into messages, which is slower; drop registered buffers that are no longer used"
                        .to_owned(),
                );
            }
            copy_along(node, &memory, release)
        }
    }
}

/// The bytes themselves; whoever waits for the release hears from the receiver.
fn copy_along(node: &Node, memory: &Memory, release: Option<Arc<Release>>) -> Descriptor {
    node.outside.count_copy(memory.len());
    let lender = release.map(|release| Lender { node: node.id, token: node.transfers.relay(Some(release)) });
    Descriptor::Inline { bytes: memory.as_slice().to_vec().into(), lender }
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
