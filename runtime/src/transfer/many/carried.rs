//! Carried arguments: nocopy arguments of a call of many, as one process holds them.

use crate::model::dealing::DealtParts;
use crate::model::nocopy::{
    Descriptor, EagerBytes, Leaving, LeavingDevice, LentLayout, Local, NocopyKind, Registration, Release,
    awaited, is_answered,
};
use crate::node::Node;
use crate::node::ways_taken::Argument;
use crate::transfer::copy::packing::packed_memory;
use crate::transfer::device;
use crate::transfer::lend::send::{access, eager, inline, lend_or_copy, tell};
use crate::transfer::ways::{self, Choice};
use chare_device::DeviceBuffer;
use chare_layout::Raw;
use chare_lrts::{Memory, NodeId, RegionKey};
use std::sync::{Arc, OnceLock};

/// A nocopy argument of a broadcast, as one process holds it.
pub(crate) struct Carried {
    pub(super) kind: NocopyKind,
    place: CarriedMemory,
    /// Tells the node that lent the argument to this process that the argument is no longer needed.
    pub(super) release: Option<Arc<Release>>,
    /// The parts that are here of an argument that is dealt out, if it is known who needs which.
    pub(super) parts: Option<DealtParts>,
    /// Which argument it is, at its sender.
    argument: Option<Argument<'static>>,
}

/// Where the argument is.
enum CarriedMemory {
    Host {
        memory: Memory,
        whose: Whose,
        /// What is meant of the memory, if not all of it.
        selection: Option<Selection>,
        /// The way in which the nodes below reach the argument, as the sender wishes; bytes that came with a message go on with a message.
        registration: Registration,
    },
    /// The sender's buffer, this process's copy of it, or a view of another process's; and what is meant of it.
    Device(DeviceBuffer<u8>, Option<Arc<Raw>>),
}

/// What is meant of an argument's memory.
struct Selection {
    layout: Arc<Raw>,
    /// The same side by side, made for the first node that cannot map the memory, or is better off so; once for all of them.
    packed: OnceLock<Memory>,
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

impl Whose {
    /// The region of another node that the memory is, if it is one.
    fn region(&self) -> Option<RegionKey> {
        match self {
            Self::Mapped(key) => Some(*key),
            Self::Sent | Self::Copied => None,
        }
    }
}

impl Carried {
    /// An argument as the sender gave it.
    pub(crate) fn sent(kind: NocopyKind, Leaving { memory, layout, release, terms, .. }: Leaving) -> Self {
        Self::in_memory(kind, (memory, Whose::Sent), terms.registration, release).selected_by(layout)
    }

    /// An argument in memory of the host.
    pub(super) fn in_memory(
        kind: NocopyKind,
        (memory, whose): (Memory, Whose),
        registration: Registration,
        release: Option<Arc<Release>>,
    ) -> Self {
        let place = CarriedMemory::Host { memory, whose, selection: None, registration };
        Self { kind, place, release, parts: None, argument: None }
    }

    /// What a layout, which was checked against the memory, selects of an argument in memory of the host.
    pub(super) fn selected_by(mut self, layout: Option<Arc<Raw>>) -> Self {
        if let CarriedMemory::Host { selection, .. } = &mut self.place {
            *selection = layout.map(|layout| Selection { layout, packed: OnceLock::new() });
        }
        self
    }

    /// An argument on a device.
    pub(super) fn on_device(
        kind: NocopyKind,
        LeavingDevice { buffer, layout, release }: LeavingDevice,
    ) -> Self {
        Self { kind, place: CarriedMemory::Device(buffer, layout), release, parts: None, argument: None }
    }

    /// The same, known as an argument of its entry.
    pub(super) fn known_as(self, argument: Argument<'static>) -> Self {
        Self { argument: Some(argument), ..self }
    }

    /// Bytes of the host that this process keeps because another process sent them.
    pub(crate) fn kept_bytes(&self) -> usize {
        match &self.place {
            CarriedMemory::Host { memory, whose: Whose::Copied, .. } => memory.len(),
            CarriedMemory::Host { .. } | CarriedMemory::Device(..) => 0,
        }
    }

    /// The same argument by another handle of its memory, which is the host's, and all of which is meant.
    pub(crate) fn map(self, handle: impl FnOnce(Memory) -> Option<Memory>) -> Option<Self> {
        let Self { kind, place, release, parts, argument } = self;
        let CarriedMemory::Host { memory, whose, selection: None, registration } = place else { return None };
        Some(Self {
            parts,
            argument,
            ..Self::in_memory(kind, (handle(memory)?, whose), registration, release)
        })
    }

    /// The argument's memory, whose it is, and how the nodes below reach it, if it is the host's.
    pub(super) fn host_memory(&self) -> Option<(&Memory, &Whose, Registration)> {
        match &self.place {
            CarriedMemory::Host { memory, whose, registration, .. } => Some((memory, whose, *registration)),
            CarriedMemory::Device(..) => None,
        }
    }

    /// Bytes that are meant of memory of the host.
    fn bytes_of(memory: &Memory, selection: Option<&Selection>) -> usize {
        selection.map_or(memory.len(), |selection| selection.layout.bytes() as usize)
    }

    /// The argument for one member. A member that reads this process's copy keeps nobody else waiting.
    pub(crate) fn for_member(&self) -> Local {
        match &self.place {
            CarriedMemory::Host { memory, whose, selection, .. } => {
                let is_copy = matches!(whose, Whose::Copied);
                let release = if is_copy && !self.kind.is_posted() { None } else { self.release.clone() };
                let layout = selection.as_ref().map(|selection| Arc::clone(&selection.layout));
                let lent = whose.region();
                Local::Host(Leaving { is_copy, layout, lent, ..Leaving::plain(memory.clone(), release) })
            }
            CarriedMemory::Device(buffer, layout) => Local::Device(self.leaving(buffer, layout.as_ref())),
        }
    }

    fn leaving(&self, buffer: &DeviceBuffer<u8>, layout: Option<&Arc<Raw>>) -> LeavingDevice {
        LeavingDevice { buffer: buffer.clone(), layout: layout.cloned(), release: self.release.clone() }
    }

    /// The bytes, if they travel with the message to these nodes.
    pub(super) fn eager_bytes(&self, node: &Node, children: &[NodeId]) -> Option<usize> {
        self.eager(node, children).map(|(_, bytes)| bytes)
    }

    fn eager(&self, node: &Node, children: &[NodeId]) -> Option<(Choice, usize)> {
        let CarriedMemory::Host { memory, selection, registration, .. } = &self.place else { return None };
        let bytes = Self::bytes_of(memory, selection.as_ref());
        let eager = |_, child: &NodeId| eager(node, (memory, bytes), *registration, *child);
        children.iter().try_fold(ways::SHORT, eager).map(|choice| (choice, bytes))
    }

    /// The bytes, if all these nodes are told of the argument in the same words: by its bytes, without an answer.
    pub(super) fn bytes_alike(&self, node: &Node, children: &[NodeId]) -> Option<usize> {
        let is_answered = is_answered(self.kind, self.release.as_ref());
        self.eager_bytes(node, children).filter(|_| self.parts.is_none() && !is_answered)
    }

    /// Describes the argument to one of the nodes that the message goes to.
    pub(super) fn describe(&self, node: &Node, child: NodeId, children: &[NodeId]) -> Descriptor {
        let (memory, whose, selection) = match &self.place {
            CarriedMemory::Host { memory, whose, selection, .. } => (memory, whose, selection.as_ref()),
            CarriedMemory::Device(buffer, layout) => {
                return device::describe_to_many(node, self.kind, self.leaving(buffer, layout.as_ref()));
            }
        };
        let (choice, descriptor) = match self.eager(node, children) {
            Some((choice, _)) => {
                let bytes = EagerBytes::whole(Self::side_by_side(node, memory, selection));
                (choice, inline(node, self.kind, bytes, self.release.clone()))
            }
            None => self.lend(node, child, (memory, whose, selection)),
        };
        if let Some(argument) = self.argument {
            let bytes = Self::bytes_of(memory, selection);
            node.ways_taken.note_sent(argument, choice.words(), bytes);
        }
        descriptor
    }

    /// Lends the argument to a node, as it lies or packed.
    fn lend(
        &self,
        node: &Node,
        child: NodeId,
        (memory, whose, selection): (&Memory, &Whose, Option<&Selection>),
    ) -> (Choice, Descriptor) {
        let release = self.release.clone();
        let layout = match selection.map(|selection| self.layout_for(node, child, selection)).transpose() {
            Ok(layout) => layout,
            Err(choice) => {
                let leaving = Leaving::plain(Self::side_by_side(node, memory, selection), release);
                return (choice, lend_or_copy(node, leaving, None));
            }
        };
        match whose {
            Whose::Mapped(key) if node.network.maps(child) => {
                let is_awaited = awaited(release.as_ref()).is_some();
                let token = node.transfers.relay(release);
                (ways::MAPPED, Descriptor::Lent { key: *key, layout, token, is_awaited })
            }
            _ => {
                let selected = selection.map(|selection| Arc::clone(&selection.layout));
                let leaving = Leaving { layout: selected, ..Leaving::plain(memory.clone(), release) };
                (
                    ways::lent(access(node, memory, child)),
                    lend_or_copy(node, leaving, layout.map(|layout| (child, layout))),
                )
            }
        }
    }

    /// What is meant, side by side.
    fn side_by_side(node: &Node, memory: &Memory, selection: Option<&Selection>) -> Memory {
        selection.map_or(memory, |selection| selection.packed(node, memory)).clone()
    }

    /// The layout for a node that takes what is selected from where it lies.
    ///
    /// # Errors
    /// Why it is to be packed for the node.
    fn layout_for(&self, node: &Node, child: NodeId, selection: &Selection) -> Result<LentLayout, Choice> {
        let (layout, is_mapped) = (&selection.layout, self.is_mapped_by(node, child));
        match ways::packed_for_many(node.layout_method, self.kind, layout, is_mapped) {
            Some(packed) => Err(packed),
            None => tell(node, child, layout).ok_or(ways::UNTOLD),
        }
    }
}

impl Selection {
    fn packed(&self, node: &Node, memory: &Memory) -> &Memory {
        self.packed.get_or_init(|| packed_memory(node, memory, &self.layout))
    }
}
