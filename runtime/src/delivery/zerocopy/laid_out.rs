//! Laid-out memory: nocopy arguments of which a layout selects a part, copied in one pass to where they are to be.
//!
//! 1. An argument keeps its layout on its way wherever its receiver reaches the memory in place: in the same process, or by a mapping. The
//!    receiver copies once, from the sender's layout to its own.
//! 2. Elsewhere the sender packs the argument into memory of the runtime, which is lent like any other; and whoever calls many members
//!    packs once for all of them.
//! 3. A receiver that cannot map what the sender thought it could fetches the whole span of the selection, and copies from there.
//!
//! A long layout is told to each peer once (see [`known_layouts`](crate::node::lending::known_layouts)).
//!
//! A layout from another node is an allegation: its decoding bounds its size, and here its bounds are checked against the memory.

use crate::base::recent::Recent;
use crate::model::envelope::frame::{self, Header};
use crate::model::nocopy::{Arrived, Descriptor, Filled, Leaving, PostedMemory, selected};
use crate::node::Node;
use crate::node::lending::transfers::Status;
use chare_layout::{LayoutError, Plan, Raw};
use chare_lrts::{Completion, Lrts, Memory, MemoryMut, NodeId, RegionKey, TransferError};
use std::cell::RefCell;
use std::sync::Arc;

/// The same argument as the whole of its memory: packed into memory of the runtime, if a layout selected a part.
pub(crate) fn packed(node: &Node, leaving: Leaving) -> Leaving {
    let Leaving { memory, layout: Some(layout), release, terms, is_copy } = leaving else { return leaving };
    Leaving { memory: packed_memory(node, &memory, &layout), layout: None, release, terms, is_copy }
}

/// What a layout, which was checked against the memory, selects of it: packed into memory of the runtime.
pub(crate) fn packed_memory(node: &Node, memory: &Memory, layout: &Arc<Raw>) -> Memory {
    let mut packed = node.network.allocate(layout.bytes() as usize);
    let plan = planned_to_pack(layout);
    plan.and_then(|plan| selected::copy(&plan, memory, &mut packed))
        .unwrap_or_else(|error| unreachable!("the layout was checked against its buffer: {error}"));
    node.outside.count_copy(packed.len());
    node.outside.packed.add_shared(1);
    packed.freeze()
}

/// Takes in the layout of lent memory that came from `source`, if there is one: finds what is said by a digest, and tells the owner of the
/// memory if the digest will do from now on.
///
/// # Errors
/// Those of [`KnownLayouts::admit`](crate::node::lending::known_layouts::KnownLayouts::admit).
pub(crate) fn admit(node: &Node, source: NodeId, descriptor: &mut Descriptor) -> Result<(), String> {
    let Descriptor::Lent { key, layout: Some(layout), .. } = descriptor else { return Ok(()) };
    let kept = node.known_layouts.admit(layout)?;
    // A call that was sent on says its owner's layout, and the owner has not told it to this node.
    if let Some(digest) = kept
        && key.node == source
    {
        let frame = frame::encode(&Header::LayoutKept { digest }, None)?;
        node.outside.sent.add_shared(1);
        node.post(&node.outside, source, frame);
    }
    Ok(())
}

/// Most indices on both sides of a plan that is kept for the next time: a plan keeps the lists of its layouts.
const PLANNED_INDICES: u64 = 64;

thread_local! {
    /// Plans that this thread made last.
    static PLANS: RefCell<Recent<[Arc<Raw>; 2], Arc<Plan>>> = const { RefCell::new(Recent::new()) };
}

/// The plan from layout to layout, as far as the shorter of the two goes; where lists are short or none, the one that was made before.
fn planned(from: &Arc<Raw>, to: &Arc<Raw>) -> Result<Arc<Plan>, LayoutError> {
    if from.index_count() + to.index_count() > PLANNED_INDICES {
        return Plan::beginning(from, to).map(Arc::new);
    }
    PLANS.with_borrow_mut(|plans| {
        if let Some(known) = plans.find(|[known_from, known_to]| known_from == from && known_to == to) {
            return Ok(known);
        }
        let plan = Arc::new(Plan::beginning(from, to)?);
        plans.keep([Arc::clone(from), Arc::clone(to)], Arc::clone(&plan));
        Ok(plan)
    })
}

/// The plan from a layout to one piece of memory.
fn planned_to_pack(layout: &Arc<Raw>) -> Result<Arc<Plan>, LayoutError> {
    planned(layout, &Arc::new(Raw::bytes_of(layout.bytes())?))
}

/// Memory that can be read here, and the selection of it that is meant.
pub(super) struct Source {
    pub(super) memory: Memory,
    pub(super) layout: Option<Arc<Raw>>,
}

impl Source {
    /// The elements where a nocopy parameter is to see them: in memory of the runtime, or in the buffer that was given.
    ///
    /// # Errors
    /// A layout that selects what is not there, and lengths that there is no memory for, in words.
    pub(super) fn land(&self, node: &Node, given: Option<PostedMemory>) -> Result<Arrived, String> {
        match given {
            None => {
                let memory = self.pack(node)?;
                Ok(Arrived::Received { memory, layout: None, release: None })
            }
            Some(given) => self.fill(node, given),
        }
    }

    fn pack(&self, node: &Node) -> Result<Memory, String> {
        let Some(layout) = &self.layout else { return Ok(self.memory.clone()) };
        let mut into = room(node, layout.bytes())?;
        self.check(layout)?;
        let plan = planned_to_pack(layout).map_err(in_words)?;
        self.step(node, &plan, &mut into)?;
        Ok(into.freeze())
    }

    fn fill(&self, node: &Node, given: PostedMemory) -> Result<Arrived, String> {
        let PostedMemory { mut memory, bytes, layout } = given;
        match (&self.layout, &layout) {
            (None, None) => {
                memory.as_mut_slice()[..bytes].copy_from_slice(&self.memory.as_slice()[..bytes]);
                node.outside.count_copy(bytes);
            }
            (from, to) => {
                let whole = |len: usize| Raw::bytes_of(len as u64).map(Arc::new);
                let from = from.clone().map_or_else(|| whole(self.memory.len()), Ok).map_err(in_words)?;
                let to = to.clone().map_or_else(|| whole(bytes), Ok).map_err(in_words)?;
                self.check(&from)?;
                let plan = planned(&from, &to).map_err(in_words)?;
                self.step(node, &plan, &mut memory)?;
            }
        }
        Ok(Arrived::Posted(Filled { memory, layout, len: bytes }.into()))
    }

    fn check(&self, layout: &Raw) -> Result<(), String> {
        layout.check_bounds(self.memory.len() as u64).map_err(in_words)
    }

    fn step(&self, node: &Node, plan: &Plan, into: &mut MemoryMut) -> Result<(), String> {
        selected::copy(plan, &self.memory, into).map_err(in_words)?;
        node.outside.count_copy(plan.bytes() as usize);
        node.outside.stepped.add_shared(1);
        Ok(())
    }
}

/// A range of a peer's region, and the selection of the range that is meant, if not all of it.
pub(crate) struct Remote {
    pub(crate) key: RegionKey,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) layout: Option<Arc<Raw>>,
}

/// Reads what is selected of a region to where a landing wants it: in place where the region can be mapped, else by way of the span that is
/// fetched. `finish` gets the landing's memory, however the transfer ends.
pub(crate) fn get(
    node: &Arc<Node>,
    Remote { key, offset, bytes, layout }: Remote,
    landing: PostedMemory,
    finish: impl FnOnce(Result<usize, TransferError>, MemoryMut) + Send + 'static,
) -> Status {
    let PostedMemory { mut memory, layout: to, .. } = landing;
    match node.network.view(&key, offset, bytes) {
        Err(cause) => finish(Err(cause), memory),
        Ok(Some(source)) => {
            let moved = scatter(&source, layout.as_deref(), &mut memory, to.as_deref());
            node.outside.stepped.add_shared(1);
            finish(Ok(moved), memory);
        }
        Ok(None) => {
            let origin = layout.as_ref().map_or(0, |layout| layout.origin());
            let span = layout.as_ref().map_or(bytes, |layout| layout.span() as usize);
            let Ok(within) = layout.map(|layout| layout.shifted(-origin)).transpose() else {
                // Only a peer invents such bounds.
                let (offset, len) = (origin as u64, span as u64);
                let cause =
                    TransferError::OutOfRange { node: key.node, offset, len, region_len: bytes as u64 };
                finish(Err(cause), memory);
                return Status::Complete;
            };
            let then_node = Arc::clone(node);
            let then = move |completion: Completion| {
                let moved = completion.result.map(|fetched| {
                    let source = completion.memory.expect("a get hands its memory back").freeze();
                    then_node.outside.count_copy(fetched);
                    then_node.outside.sieved.add_shared(1);
                    scatter(&source, within.as_ref(), &mut memory, to.as_deref())
                });
                finish(moved, memory);
            };
            let (place, into) = ((key, offset + origin as u64), (node.network.allocate(span), span));
            return node.get(place, into, Box::new(then));
        }
    }
    Status::Complete
}

/// Copies what is selected of a source to where a layout selects, or side by side; either may be longer. Returns how many bytes that were.
fn scatter(source: &Memory, from: Option<&Raw>, into: &mut MemoryMut, to: Option<&Raw>) -> usize {
    let whole = |len: usize| Raw::bytes_of(len as u64);
    let copied = whole(source.len()).and_then(|all| {
        let room = whole(into.len())?;
        let plan = Plan::beginning(from.unwrap_or(&all), to.unwrap_or(&room))?;
        selected::copy(&plan, source, into).map(|()| plan.bytes() as usize)
    });
    copied.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"))
}

/// Memory of the runtime for a length that a peer says.
///
/// # Errors
/// When there is no such memory, in words.
pub(super) fn room(node: &Node, bytes: u64) -> Result<MemoryMut, String> {
    node.note_fetched(bytes)?;
    let none = || format!("a layout selects {bytes} bytes, which {} has no memory for", node.id);
    node.network.allocate_announced(bytes).ok_or_else(none)
}

fn in_words(error: LayoutError) -> String {
    format!("a layout: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_layouts_are_planned_once_for_a_pair_and_long_lists_each_time() {
        let double = Raw::bytes_of(8).expect("bytes");
        let every = |stride| Arc::new(double.vector(10, 1, stride).expect("it fits"));
        let squares: Vec<i64> = (0..100).map(|place| place * place).collect();
        let list = Arc::new(double.indexed_block(1, &squares).expect("it fits"));
        let planned = |from: &Arc<Raw>, to: &Arc<Raw>| planned(from, to).expect("a plan");
        let there = planned(&every(2), &every(3));
        let back = planned(&every(3), &every(2));
        assert!(Arc::ptr_eq(&there, &planned(&every(2), &every(3))), "equal layouts are the same pair");
        assert!(!Arc::ptr_eq(&there, &back));
        assert!(!Arc::ptr_eq(&planned(&list, &list), &planned(&list, &list)));
    }
}
