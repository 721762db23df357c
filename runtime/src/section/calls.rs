//! What a call of a section is on each part of its way, and how other nodes are told of it.

use crate::envelope::Header;
use crate::ids::{EntryId, PeId, SectionId, Target};
use crate::message::Arguments;
use crate::node::Node;
use crate::queue::CallOptions;
use crate::registry::EntryRegistration;
use crate::zerocopy::carry::{self, Carried};
use crate::zerocopy::{Leaving, Nocopy, send};
use serde::{Deserialize, Serialize};

/// A call of one entry of every member, at the root or on its way there.
pub(crate) struct SectionCall {
    pub(crate) section: SectionId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    pub(crate) nocopy: Vec<Carried>,
    pub(crate) reference: u64,
}

/// Which entry of which section is called, and how.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CallOfSection {
    pub(crate) section: SectionId,
    pub(crate) entry: EntryId,
    pub(crate) options: CallOptions,
    pub(crate) reference: u64,
}

/// How far a call of a section has come.
#[derive(Serialize, Deserialize)]
pub(crate) enum Leg {
    /// To the root.
    Up,
    /// Down the tree, to these PEs: those of the node that hears it, and those of the nodes below.
    Down(Vec<PeId>),
    /// From members' homes to where those live.
    Away { to: PeId, members: Vec<Target> },
}

/// A call of one entry of the members that have their home on one PE, or that live there.
#[derive(Clone)]
pub(crate) struct Multicast {
    pub(crate) section: SectionId,
    /// Those that live there, in the eyes of their home; nothing: all that have their home there.
    pub(crate) members: Option<Vec<Target>>,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// What this process has of each; all members share it.
    pub(crate) nocopy: Vec<Leaving>,
    pub(crate) reference: u64,
}

/// A call on its way to a root on another node.
pub(crate) fn describe_call(node: &Node, options: CallOptions, call: SectionCall) -> (Header, Arguments) {
    let SectionCall { section, entry, arguments, nocopy, reference } = call;
    let call = CallOfSection { section, entry: entry.id, options, reference };
    let nocopy = carry::describe(node, node.layout.node_of(section.creator), &nocopy);
    (Header::Multicast { call, leg: Leg::Up, nocopy }, arguments)
}

/// A call on its way to members that live on another node.
pub(crate) fn describe_multicast(
    node: &Node,
    to: PeId,
    options: CallOptions,
    multicast: Multicast,
) -> (Header, Arguments) {
    let Multicast { section, members, entry, arguments, nocopy, reference } = multicast;
    let call = CallOfSection { section, entry: entry.id, options, reference };
    let leg = Leg::Away { to, members: members.unwrap_or_default() };
    let nocopy: Vec<Leaving> = nocopy;
    let nocopy = send::describe(node, node.layout.node_of(to), entry.nocopy, Nocopy::Leaving(nocopy.into()));
    (Header::Multicast { call, leg, nocopy }, arguments)
}
