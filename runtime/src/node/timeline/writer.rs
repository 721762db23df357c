//! Writer of a node's timeline: turns the events of all PEs of the node into lines of the trace file.

use super::line::{self, TraceThread};
use super::outlet::{Block, Parcel};
use crate::model::ids::{NodeId, PeId};
use chare_lrts::LrtsError;
use chare_lrts::clock;
use chare_lrts::wrappers::TraceFile;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc::Receiver;

/// Writes what comes, until no PE runs any more.
///
/// # Errors
/// Why the file ends too early.
pub(super) fn run(node: NodeId, file: &TraceFile, parcels: &Receiver<Parcel>) -> Result<(), LrtsError> {
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
