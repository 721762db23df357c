//! Writing of a node's timeline: the writer's thread, from its start to its end, which turns the events of all PEs of the node into lines of
//! the trace file.

#![expect(clippy::disallowed_methods, reason = "the writer reads alone, in the order of one channel")]

use super::line::{self, TraceThread};
use super::outlet::{Block, Outlet, Parcel};
use crate::model::ids::{NodeId, PeId};
use chare_lrts::wrappers::{Recording, TraceFile};
use chare_lrts::{LrtsError, clock};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::JoinHandle;

/// Blocks of each PE that may wait for the writer.
const BLOCKS_PER_PE: usize = 16;

struct Started {
    outlet: Outlet,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// The writer of a node's timeline, if the node has one.
#[derive(Default)]
pub(crate) struct Writing(OnceLock<Started>);

impl Writing {
    /// Starts the writer of a node with so many PEs; it calls `fail` if the file cannot be written.
    ///
    /// # Panics
    /// If it was started before, or the operating system grants no thread.
    pub(crate) fn start(
        &self,
        (node, pes): (NodeId, usize),
        file: Arc<TraceFile>,
        fail: impl FnOnce(LrtsError) + Send + 'static,
    ) {
        let recording = Arc::clone(file.recording());
        let (sender, receiver) = mpsc::sync_channel(BLOCKS_PER_PE * pes);
        let body = move || {
            let written = write(node, &file, &receiver);
            // Blocks that come now are dropped: the file has ended.
            drop(receiver);
            if let Err(cause) = written {
                fail(cause);
            }
        };
        let writer = std::thread::Builder::new().name("timeline".to_owned()).spawn(body);
        let writer = writer.expect("the operating system grants a thread for the timeline");
        let started = Started { outlet: Outlet { sender, recording }, writer: Mutex::new(Some(writer)) };
        assert!(self.0.set(started).is_ok(), "a node starts once");
    }

    /// An outlet for a PE; `None` without `+trace`.
    pub(crate) fn outlet(&self) -> Option<Outlet> {
        self.0.get().map(|started| started.outlet.clone())
    }

    /// What of the job's time is written; `None` without `+trace`.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        self.0.get().map(|started| &*started.outlet.recording)
    }

    /// Waits until all that PEs have left is written. To be called when they have ended.
    pub(crate) fn finish(&self) {
        let Some(Started { outlet, writer }) = self.0.get() else { return };
        // No receiver: the file could not be written, which was told.
        let _ = outlet.sender.send(Parcel::Finish);
        if let Some(writer) = writer.lock().take() {
            let _ = writer.join();
        }
    }
}

/// Writes what comes, until no PE runs any more.
///
/// # Errors
/// Why the file ends too early.
fn write(node: NodeId, file: &TraceFile, parcels: &Receiver<Parcel>) -> Result<(), LrtsError> {
    let mut known: BTreeMap<PeId, (TraceThread, u64)> = BTreeMap::new();
    let mut text = String::new();
    while let Ok(Parcel::Events(Block { pe, thread, events, dropped })) = parcels.recv() {
        text.clear();
        let place = TraceThread { node, thread };
        let (_, dropped_before) = known.entry(pe).or_insert_with(|| {
            line::append_name(&mut text, place, pe);
            (place, 0)
        });
        *dropped_before += dropped;
        events.iter().for_each(|event| line::append(&mut text, place, event));
        file.append(&text)?;
    }
    text.clear();
    for (pe, (place, dropped)) in known.into_iter().filter(|(_, (_, dropped))| *dropped > 0) {
        line::append_dropped(&mut text, place, clock::now_ns(), dropped);
        // A failure means that nobody reads the warning.
        let _ = writeln!(
            std::io::stderr(),
            "warning: {node}: the trace lacks {dropped} events of {pe}, which came faster than they could be written"
        );
    }
    file.append(&text)
}
