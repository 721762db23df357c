//! Packing: what a layout selects of an argument, side by side in memory of the runtime or in a message. The sender's copies.

use super::planned::planned_to_pack;
use crate::model::nocopy::selected;
use crate::model::nocopy::{EagerBytes, Leaving};
use crate::node::Node;
use chare_layout::{LayoutError, Raw};
use chare_lrts::Memory;
use std::sync::Arc;

/// The same argument as the whole of its memory: packed into memory of the runtime, if a layout selected a part.
pub(in crate::transfer) fn packed(node: &Node, leaving: Leaving) -> Leaving {
    let Some(layout) = &leaving.layout else { return leaving };
    let memory = packed_memory(node, &leaving.memory, layout);
    Leaving { memory, layout: None, lent: None, ..leaving }
}

/// What a layout, which was checked against the memory, selects of it, or all of it: to be written into a message.
pub(in crate::transfer) fn eager(node: &Node, memory: Memory, layout: Option<&Arc<Raw>>) -> EagerBytes {
    let bytes = match layout {
        None => EagerBytes::whole(memory),
        Some(layout) => {
            node.outside.packed.add_shared(1);
            EagerBytes::gathered(memory, planned_to_pack(layout).unwrap_or_else(never))
        }
    };
    node.outside.count_copy(bytes.len());
    bytes
}

/// What a layout, which was checked against the memory, selects of it: packed into memory of the runtime.
pub(crate) fn packed_memory(node: &Node, memory: &Memory, layout: &Arc<Raw>) -> Memory {
    let mut packed = node.network.allocate(layout.bytes() as usize);
    let plan = planned_to_pack(layout);
    plan.and_then(|plan| selected::copy(&plan, memory, &mut packed)).unwrap_or_else(never);
    node.outside.count_copy(packed.len());
    node.outside.packed.add_shared(1);
    packed.freeze()
}

fn never<T>(error: LayoutError) -> T {
    unreachable!("the layout was checked against its buffer: {error}")
}
