//! Calls of sections, as they stand on each part of their way: at the root, at the homes of members, between nodes.

use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{EntryId, PeId, SectionId, Target};
use crate::model::nocopy::{CarriedDescriptor, Local};
use crate::model::registry::EntryRegistration;
use crate::transfer::many::Carried;
use serde::{Deserialize, Serialize};

/// A call of one entry of every member, at the root or on its way there.
pub(crate) struct SectionCall {
    pub(crate) section: SectionId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    pub(crate) nocopy: Vec<Carried>,
    pub(crate) reference: u64,
}

/// The section and the entry that are called, and the call's options.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct CallOfSection {
    pub(crate) section: SectionId,
    pub(crate) entry: EntryId,
    pub(crate) options: CallOptions,
    pub(crate) reference: u64,
}

/// The part of its way that a call of a section is on.
#[derive(Serialize, Deserialize)]
pub(super) enum Leg {
    /// To the root.
    Up,
    /// Down the tree, to these PEs: those of the node that receives the call, and those of the nodes below.
    Down(Vec<PeId>),
    /// From members' homes to the PE where the members live.
    Away { to: PeId, members: Vec<Target> },
}

/// A call of one entry of the members that have their home on one PE, or that live there.
#[derive(Clone)]
pub(super) struct Multicast {
    pub(crate) section: SectionId,
    /// The members that live there, as far as their home knows; `None`: all that have their home there.
    pub(crate) members: Option<Vec<Target>>,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// This process's memory of each nocopy argument, of the host or of a device; all members share it.
    pub(crate) nocopy: Vec<Local>,
    pub(crate) reference: u64,
}

/// A call of a section between nodes; the encoded arguments follow.
#[derive(Serialize, Deserialize)]
pub(super) struct CallFrame {
    pub(super) call: CallOfSection,
    pub(super) leg: Leg,
    /// Memory lent by the node that sent the frame, whichever node owns it.
    pub(super) nocopy: Vec<CarriedDescriptor>,
}
