//! Outlet of a PE's events: blocks of them, and the bounded way by which they reach the writer.

use super::event::Event;
use crate::model::ids::PeId;
use chare_lrts::wrappers::Recording;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

/// Events of a block: 50 KB, which a PE fills in some milliseconds if it does nothing but small calls.
pub(crate) const BLOCK_EVENTS: usize = 512;

/// Events of one PE, on their way to the writer.
pub(crate) struct Block {
    pub(crate) pe: PeId,
    /// The operating system's number of the PE's thread, by which the backends name it.
    pub(crate) thread: i32,
    pub(crate) events: Vec<Event>,
    /// The events that were dropped since the last block.
    pub(crate) dropped: u64,
}

/// What the writer gets.
pub(super) enum Parcel {
    Events(Block),
    /// No PE runs any more.
    Finish,
}

/// A PE's end of the way to the writer.
#[derive(Clone)]
pub(crate) struct Outlet {
    pub(super) sender: SyncSender<Parcel>,
    /// What of the job's time the writer is to get.
    pub(crate) recording: Arc<Recording>,
}

impl Outlet {
    /// Leaves a block with the writer, if there is room.
    ///
    /// # Errors
    /// The block, when there is none.
    pub(crate) fn offer(&self, block: Block) -> Result<(), Block> {
        match self.sender.try_send(Parcel::Events(block)) {
            Err(TrySendError::Full(Parcel::Events(block))) => Err(block),
            // A writer that is gone could not write its file, which has ended the job.
            _ => Ok(()),
        }
    }

    /// Leaves the last block with the writer; waits for room.
    pub(crate) fn leave(&self, block: Block) {
        let _ = self.sender.send(Parcel::Events(block));
    }

    /// An outlet to nobody, whose blocks stay where they are.
    #[cfg(test)]
    pub(crate) fn blocked(blocks: usize) -> (Self, impl Sized) {
        let (sender, receiver) = std::sync::mpsc::sync_channel(blocks);
        let recording = Arc::new(Recording::new(chare_lrts::wrappers::TraceWindow::default()));
        (Self { sender, recording }, receiver)
    }
}
