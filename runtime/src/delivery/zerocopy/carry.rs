//! Nocopy arguments of a broadcast: brought into each process once, and passed on to the processes below it.
//!
//! ```text
//! sender's node --lent--> node 1 --lent--> node 5     the topology's tree, rooted at the sender's node
//!       |                   |                |
//!    members             members          members     all members of a process share one memory
//! ```
//! The tree enters each host once. So bytes go to another host once, where memory can be mapped: its leader fetches them, and the others
//! map the leader's copy.
//! 1. A node brings each argument in once: the bytes came with the message, or the node reads its parent's memory in place where that can
//!    be mapped, or it fetches the parent's copy with one get.
//! 2. When all arguments are here, the node tells its children and its own members. A child is lent the node's copy; or, where the node
//!    reads in place and the child can map, too, the very key by which the node reads, under a token of its own, so that all processes of
//!    a host map the owner's memory.
//! 3. A node sends `Released` to its parent when it has its own copy, its members' posted buffers are full and all its children have sent
//!    `Released`; a node that reads in place sends it only after its members have let go as well. So the sender's completion comes once,
//!    when every process has the data.
//! 4. A member receives a [`Leaving`], as from a sender in its own process: the rest of the argument's way is that of a call.
//!
//! The broadcast of a section differs only in its tree and in its list of members: see [`pass_to`]. A member that has moved away is
//! reached by forwarding its call, whose [`Leaving`] is then described anew.

use super::gathering::{Fetch, Gathering, Plan};
use super::remote_memory::{landing, release_to, view};
use super::send::{inline, is_eager, lend_or_copy};
use crate::base::counters::Counters;
use crate::model::envelope::frame::encode_system;
use crate::model::ids::ServiceId;
use crate::model::nocopy::{
    Descriptor, EagerBytes, Few, Leaving, Lender, NocopyKind, Registration, Release, is_answered, lent_bytes,
};
use crate::node::Node;
use crate::node::credit::cost_of;
use chare_lrts::{Memory, MemoryMut, NodeId, RegionKey};
use serde::Serialize;
use std::sync::Arc;

/// A nocopy argument of a broadcast, as one process holds it.
pub(crate) struct Carried {
    memory: Memory,
    kind: NocopyKind,
    whose: Whose,
    /// The way in which the nodes below reach the argument, as the sender wishes; bytes that came with a message go on with a message.
    registration: Registration,
    /// Tells the node that lent the argument to this process that the argument is no longer needed.
    release: Option<Arc<Release>>,
}

/// The owner of an argument's memory.
enum Whose {
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
        Self { memory, kind, whose: Whose::Sent, registration: terms.registration, release }
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

    fn is_eager(&self, node: &Node, children: &[NodeId]) -> bool {
        let what = (&self.memory, self.memory.len());
        children.iter().all(|child| is_eager(node, what, self.registration, *child))
    }

    fn describe(&self, node: &Node, child: NodeId, is_eager: bool) -> Descriptor {
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

/// A message that a node passes on to nodes below it.
#[derive(Clone, Copy)]
pub(crate) struct PassedOn<'a> {
    /// The service whose message it is.
    pub(crate) service: ServiceId,
    pub(crate) carried: &'a [Carried],
    /// Arguments that follow the message in its frame; they are encoded already.
    pub(crate) tail: &'a [u8],
    /// Whether PEs are to run the message, so that it has a cost.
    pub(crate) is_run: bool,
}

/// Sends a message to each node below this one, in the tree below `root`: a message made of the child's descriptors, then the tail.
/// Counts each message before it goes.
///
/// # Errors
/// When the message refuses to be encoded, in words.
pub(crate) fn pass_on<M: Serialize>(
    node: &Node,
    counters: &Counters,
    root: NodeId,
    passed: PassedOn<'_>,
    message: impl Fn(Vec<Descriptor>) -> M,
) -> Result<(), String> {
    let children: Vec<NodeId> = node.topology.children(node.id, root).collect();
    let carried = passed.carried;
    // One frame for all children, where no child gets descriptors of its own.
    if let Some(first) = children.first()
        && carried
            .iter()
            .all(|one| one.is_eager(node, &children) && !is_answered(one.kind, one.release.as_ref()))
    {
        carried.iter().for_each(|one| node.outside.count_copy(one.memory.len()));
        let described = describe_among(node, *first, &children, carried);
        let (frame, cost) = frame(passed, described, &message)?;
        node.post_to_children(counters, root, &frame, cost);
        return Ok(());
    }
    pass_to(node, counters, &children, passed, |_, nocopy| message(nocopy))
}

/// Sends a message to each of these nodes: a message made of the node's position and its descriptors, then the tail. Counts each message
/// before its receiver can have processed it.
///
/// # Errors
/// When a message refuses to be encoded, in words.
pub(crate) fn pass_to<M: Serialize>(
    node: &Node,
    counters: &Counters,
    children: &[NodeId],
    passed: PassedOn<'_>,
    message: impl Fn(usize, Vec<Descriptor>) -> M,
) -> Result<(), String> {
    if children.is_empty() {
        return Ok(());
    }
    for one in passed.carried.iter().filter(|one| one.is_eager(node, children)) {
        node.outside.count_copy(one.memory.len());
    }
    for (position, child) in children.iter().enumerate() {
        let described = describe_among(node, *child, children, passed.carried);
        let (frame, cost) = frame(passed, described, |nocopy| message(position, nocopy))?;
        counters.sent.add_shared(1);
        node.post_for(counters, *child, frame, cost);
    }
    Ok(())
}

/// Describes arguments to one node, the only one that the message goes to.
pub(crate) fn describe(node: &Node, child: NodeId, carried: &[Carried]) -> Vec<Descriptor> {
    describe_among(node, child, &[child], carried)
}

fn describe_among(node: &Node, child: NodeId, children: &[NodeId], carried: &[Carried]) -> Vec<Descriptor> {
    carried.iter().map(|one| one.describe(node, child, one.is_eager(node, children))).collect()
}

/// A frame, and its cost if PEs are to run it.
fn frame<M: Serialize>(
    passed: PassedOn<'_>,
    nocopy: Vec<Descriptor>,
    message: impl Fn(Vec<Descriptor>) -> M,
) -> Result<(Vec<u8>, Option<u32>), String> {
    let lent_bytes = lent_bytes(&nocopy);
    let mut bytes = encode_system(passed.service, &message(nocopy))?;
    bytes.extend_from_slice(passed.tail);
    let cost = passed.is_run.then(|| cost_of(bytes.len(), lent_bytes));
    Ok((bytes, cost))
}

/// An argument that is to be brought into this process.
pub(crate) struct Wanted {
    pub(crate) descriptor: Descriptor,
    pub(crate) kind: NocopyKind,
    /// The memory in which the argument must land; `None`: wherever it costs least.
    pub(crate) into: Option<MemoryMut>,
}

/// Brings arguments into this process, once each, from the node that lends them; `then` runs at once, or when the last transfer is over.
///
/// # Errors
/// Keys that name nothing and lengths that do not fit, in words.
pub(crate) fn bring_in(
    node: &Arc<Node>,
    lender: NodeId,
    what: impl FnOnce() -> String + Clone + Send + 'static,
    wanted: Vec<Wanted>,
    then: impl FnOnce(&Arc<Node>, Few<Carried>) + Send + 'static,
) -> Result<(), String> {
    let plans = wanted.into_iter().map(|wanted| plan(node, lender, wanted));
    match Gathering::plan(plans)?.complete() {
        Ok(carried) => then(node, carried),
        Err(gathering) => gathering.fetch(node, what, then),
    }
    Ok(())
}

fn plan(
    node: &Arc<Node>,
    lender: NodeId,
    Wanted { descriptor, kind, into }: Wanted,
) -> Result<Plan<Carried>, String> {
    let release = |token, offered| release_to(node, Lender { node: lender, token }, offered);
    let (key, token) = match descriptor {
        Descriptor::Inline { bytes, lender: awaiting } => {
            let memory = bytes.land(into)?;
            let release = awaiting.map(|awaiting| release(awaiting.token, memory.len() as u64));
            let registration = Registration::None;
            return Ok(Plan::Ready(Carried { memory, kind, whose: Whose::Copied, registration, release }));
        }
        Descriptor::Lent { key, layout: None, token } => (key, token),
        Descriptor::Lent { key, .. } => {
            return Err(format!(
                "{} sends many a buffer by a layout, which goes to one receiver only",
                key.node
            ));
        }
        Descriptor::Device(_) => return Err(format!("{lender} sends many a buffer of a device")),
    };
    let registration = Registration::Lazily;
    let in_place = if into.is_none() { view(node, &key)? } else { None };
    if let Some(memory) = in_place {
        let (whose, release) = (Whose::Mapped(key), Some(release(token, key.len)));
        return Ok(Plan::Ready(Carried { memory, kind, whose, registration, release }));
    }
    let into = landing(node, &key, into)?;
    let release = Some(release(token, key.len));
    let arrive = Box::new(move |node: &Arc<Node>, memory: MemoryMut| {
        node.outside.count_copy(memory.len());
        Ok(Carried { memory: memory.freeze(), kind, whose: Whose::Copied, registration, release })
    });
    Ok(Plan::Fetch(Fetch { key, offset: 0, bytes: into.len(), into, arrive }))
}
