//! Carried arguments: nocopy arguments of a call of many, as one process holds them.

use crate::delivery::zerocopy::send::{inline, is_eager, lend_or_copy};
use crate::model::dealing::Parts;
use crate::model::nocopy::{Descriptor, EagerBytes, Leaving, NocopyKind, Registration, Release, is_answered};
use crate::node::Node;
use chare_lrts::{Memory, NodeId, RegionKey};
use std::sync::Arc;

/// A nocopy argument of a broadcast, as one process holds it.
pub(crate) struct Carried {
    pub(super) memory: Memory,
    pub(super) kind: NocopyKind,
    pub(super) whose: Whose,
    /// The way in which the nodes below reach the argument, as the sender wishes; bytes that came with a message go on with a message.
    pub(super) registration: Registration,
    /// Tells the node that lent the argument to this process that the argument is no longer needed.
    pub(super) release: Option<Arc<Release>>,
    /// The parts that are here of an argument that is dealt out, if it is known who needs which.
    pub(super) parts: Option<Parts>,
}

/// The owner of an argument's memory.
pub(super) enum Whose {
    /// The sender, in this process.
    Sent,
    /// This process, which has its own copy.
    Copied,
    /// Another node; this process reads the memory in place by this key.
    Mapped(RegionKey),
}

impl Carried {
    /// An argument as the sender gave it, packed.
    pub(crate) fn sent(kind: NocopyKind, Leaving { memory, layout, release, terms, .. }: Leaving) -> Self {
        debug_assert!(layout.is_none(), "what many receive is packed once");
        Self { memory, kind, whose: Whose::Sent, registration: terms.registration, release, parts: None }
    }

    /// Bytes that this process keeps because another process sent them.
    pub(crate) fn kept_bytes(&self) -> usize {
        match self.whose {
            Whose::Copied => self.memory.len(),
            Whose::Sent | Whose::Mapped(_) => 0,
        }
    }

    /// The same argument by another handle of its memory.
    pub(crate) fn map(self, handle: impl FnOnce(Memory) -> Option<Memory>) -> Option<Self> {
        Some(Self { memory: handle(self.memory)?, ..self })
    }

    /// The argument for one member. A member that reads this process's copy keeps nobody else waiting.
    pub(crate) fn for_member(&self) -> Leaving {
        let own_copy = matches!(self.whose, Whose::Copied) && !self.kind.is_posted();
        let release = if own_copy { None } else { self.release.clone() };
        let is_copy = matches!(self.whose, Whose::Copied);
        Leaving { is_copy, ..Leaving::plain(self.memory.clone(), release) }
    }

    /// Whether all these nodes are told of it in the same words: by its bytes, without an answer.
    pub(super) fn goes_alike(&self, node: &Node, children: &[NodeId]) -> bool {
        self.parts.is_none()
            && self.is_eager(node, children)
            && !is_answered(self.kind, self.release.as_ref())
    }

    pub(super) fn is_eager(&self, node: &Node, children: &[NodeId]) -> bool {
        let what = (&self.memory, self.memory.len());
        children.iter().all(|child| is_eager(node, what, self.registration, *child))
    }

    pub(super) fn describe(&self, node: &Node, child: NodeId, is_eager: bool) -> Descriptor {
        if is_eager {
            return inline(node, self.kind, EagerBytes::whole(self.memory.clone()), self.release.clone());
        }
        let release = self.release.clone();
        match self.whose {
            Whose::Mapped(key) if node.network.maps(child) => {
                Descriptor::Lent { key, layout: None, token: node.transfers.relay(release) }
            }
            _ => lend_or_copy(node, Leaving::plain(self.memory.clone(), release), None),
        }
    }
}
