//! Parts of a dealt argument on their way down a tree: each node that cannot map the memory is sent what it and the nodes below it
//! need, packed or, where that stands side by side, as it is.

use super::carried::{Carried, Whose};
use crate::model::dealing::{DealtParts, PackedParts};
use crate::model::nocopy::CarriedDescriptor;
use crate::node::Node;
use crate::transfer::copy::packing::packed_memory;
use chare_lrts::NodeId;
use std::sync::Arc;

impl Carried {
    /// Notes which nodes need which parts, if it is known.
    pub(crate) fn deal(&mut self, parts: Option<DealtParts>) {
        self.parts = parts;
    }

    /// The argument of which these parts are here, if it is not all of it.
    pub(super) fn of_parts(mut self, parts: Option<DealtParts>) -> Self {
        self.parts = parts;
        self
    }

    /// Whether a node right below the sender's reads it elsewhere than where it lies.
    pub(crate) fn is_copied(&self, node: &Node) -> bool {
        node.topology.children(node.id, node.id).any(|child| !self.is_mapped_by(node, child))
    }

    /// Where the parts stand that are here, if not all are.
    pub(crate) fn packed_parts(&self) -> Option<&PackedParts> {
        self.parts.as_ref().and_then(DealtParts::packed)
    }

    /// Whether a node reads the argument where it lies.
    pub(super) fn is_mapped_by(&self, node: &Node, child: NodeId) -> bool {
        let is_shareable = self
            .host_memory()
            .is_none_or(|(memory, whose, _)| memory.share().is_some() || matches!(whose, Whose::Mapped(_)));
        is_shareable && node.network.maps(child)
    }

    /// Describes a dealt argument to a node below, which passes it on to those that `is_below` says.
    pub(super) fn describe_parts(
        &self,
        node: &Node,
        child: NodeId,
        parts: &DealtParts,
        is_below: impl Fn(NodeId) -> bool,
    ) -> CarriedDescriptor {
        let narrowed = if self.is_mapped_by(node, child) { None } else { self.narrow(node, parts, is_below) };
        let (carried, parts) = match &narrowed {
            Some((narrowed, packed)) => (narrowed, Some(packed)),
            None => (self, parts.packed()),
        };
        if let Some(bytes) = carried.eager_bytes(node, &[child]) {
            node.outside.count_copy(bytes);
        }
        CarriedDescriptor { descriptor: carried.describe(node, child, &[child]), parts: parts.cloned() }
    }

    /// What some nodes need: a piece of the memory where it lies side by side, else packed. `None` if it takes more pieces than a layout
    /// may have; then they are sent all that is here.
    fn narrow(
        &self,
        node: &Node,
        parts: &DealtParts,
        needs: impl Fn(NodeId) -> bool,
    ) -> Option<(Self, PackedParts)> {
        let (memory, _, registration) = self.host_memory()?;
        let (layout, packed) = parts.narrow(needs).ok()?;
        // A partition of other memory is told to the members, one by one.
        layout.check_bounds(memory.len() as u64).ok()?;
        let bytes = layout.bytes();
        let memory = if layout.is_contiguous() {
            memory.slice(layout.origin() as usize, bytes as usize)
        } else {
            packed_memory(node, memory, &Arc::new(layout))
        };
        let release = self.release.as_ref().map(|whole| whole.of_part(bytes));
        Some((Self::in_memory(self.kind, (memory, Whose::Copied), registration, release), packed))
    }
}
