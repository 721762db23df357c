//! What a process of a job tells: errors, to whoever started it, and the counters of `+stats`, to its standard output.

use super::table::{self, Row};
use crate::job::settings::WRONG_OPTION;
use crate::model::error::JobError;
use crate::model::ids::PeId;
use crate::node::Node;
use chare_lrts::bootstrap::launched::Control;
use chare_lrts::clock;
use chare_lrts::{LrtsError, NodeId, events};
use std::io::Write;
use std::process::ExitCode;

/// Why a program does not start.
pub(super) enum Refusal {
    /// For its options: another command line would.
    Options(LrtsError),
    /// For what it found.
    Start(LrtsError),
}

impl From<LrtsError> for Refusal {
    fn from(error: LrtsError) -> Self {
        Self::Start(error)
    }
}

/// Says why the program does not start; returns the exit code.
pub(super) fn refuse(refusal: &Refusal) -> ExitCode {
    let (error, code) = match refusal {
        Refusal::Options(error) => (error, WRONG_OPTION),
        Refusal::Start(error) => (error, 1),
    };
    events::error(error);
    ExitCode::from(code)
}

/// Writes to standard output. A reader that is gone misses nothing; why nothing else can be written is said.
pub(super) fn print(text: &str) {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            events::error(format_args!("standard output cannot be written: {error}"));
        }
        _ => {}
    }
}

pub(super) fn say(error: &JobError) {
    events::error(error);
}

/// Reports an error to the launcher.
pub(super) fn report(control: &Control, error: &JobError) {
    match error {
        JobError::Lrts { cause: LrtsError::PeerLost { peer, .. }, .. } => {
            control.report_lost(*peer, error.to_string());
        }
        _ => control.report_failure(error.to_string()),
    }
}

/// The counters that `+stats` prints.
pub(super) fn describe(node: &Node) -> String {
    let of_pe = |(pe, counters): (PeId, _)| Row { name: pe.to_string(), counters, is_pe: true };
    let pes = node.pes().zip(node.counters.iter().map(|counters| &***counters)).map(of_pe);
    let outside = Row { name: format!("{} outside", node.id), counters: &node.outside, is_pe: false };
    let rows: Vec<Row<'_>> = pes.chain([outside]).collect();
    let mut text = table::counted(&node.id.to_string(), &rows, clock::since(node.started));
    for held in node.devices.opened() {
        text += &format!("{}, {}: {}\n", node.id, held.device.info(), held.ways);
    }
    text += &node.ways_taken.describe(&node.id.to_string());
    text += &format!("{}, long copies by {}\n", node.id, node.network.copy_engines());
    for peer in (0..node.topology.nodes()).map(NodeId).filter(|peer| *peer != node.id) {
        let (path, used) = (node.network.path(peer), node.network.usage(peer));
        text += &format!("{} -> {peer}: {path}; used: {used}\n", node.id);
    }
    text
}

/// The times of entries that `+times` prints.
pub(super) fn describe_times(node: &Node) -> String {
    let of_all = clock::since(node.started) * node.pes().count() as u32;
    table::times(&node.id.to_string(), &node.entry_times.by_time(), of_all)
}
