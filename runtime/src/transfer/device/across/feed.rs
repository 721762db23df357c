//! Feeds: arguments in memory of the host on their way into a room, chunk by chunk.

use super::inflow::Inflow;
use super::legs;
use super::room::Room;
use crate::model::nocopy::selected;
use crate::model::nocopy::{Arrived, Release};
use crate::node::Node;
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::take::gathering::{Failure, Finish};
use chare_layout::{Plan, Raw};
use chare_lrts::{Memory, MemoryMut};
use std::sync::Arc;

/// What is read of an argument.
pub(super) struct Feed {
    memory: Memory,
    layout: Arc<Raw>,
    /// Dropped after the memory.
    _release: Option<Arc<Release>>,
}

impl Feed {
    /// Packs an argument chunk by chunk, as the room has memory for them; `finish` takes it where it is to be.
    pub(super) fn begin(
        node: &Arc<Node>,
        (memory, layout, release): (Memory, Option<Arc<Raw>>, Option<Arc<Release>>),
        room: Room,
        finish: Finish<Arrived>,
    ) {
        let bytes = room.bytes();
        if let Some(release) = &release {
            release.take(bytes as u64);
        }
        let layout = match layout.map_or_else(|| Raw::bytes_of(memory.len() as u64).map(Arc::new), Ok) {
            Ok(layout) => layout,
            Err(error) => return finish(node, Err(Failure::Words(in_words(error)))),
        };
        let (feed, inflow) = (
            Arc::new(Self { memory, layout, _release: release }),
            Inflow::begin(node, room, &[legs::HERE], finish),
        );
        let chunk_bytes = usize::try_from(inflow.chunk_bytes()).unwrap_or(usize::MAX);
        for at in (0..bytes).step_by(chunk_bytes) {
            let (feed, to, len) = (Arc::clone(&feed), Arc::clone(&inflow), chunk_bytes.min(bytes - at));
            let fill = move |node: &Arc<Node>, mut chunk: MemoryMut| match feed.pack(at as u64, &mut chunk) {
                Ok(()) => to.arrive(node, at as u64, chunk),
                Err(cause) => to.fail(node, Failure::Words(cause)),
            };
            inflow.make_room(node, len, Box::new(fill));
        }
    }

    /// # Errors
    /// A layout that selects what is not there, in words.
    fn pack(&self, at: u64, chunk: &mut MemoryMut) -> Result<(), String> {
        let plan = Plan::pack_range(&self.layout, at..at + chunk.len() as u64);
        plan.and_then(|plan| selected::copy(&plan, &self.memory, chunk)).map_err(in_words)
    }
}
