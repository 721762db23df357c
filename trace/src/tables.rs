//! Summary as CSV: a file for each of its tables, with times in microseconds and shares from 0 to 1.

use crate::error::TraceError;
use crate::rows::Share;
use crate::summary::Summary;
use std::path::Path;

/// Writes `profile.csv`, `pes.csv`, `entries.csv`, `spans.csv`, `counters.csv`, `longest.csv`, `grains.csv`, `messages.csv`, `moves.csv` and
/// `network.csv` into a folder, which is made if there is none.
///
/// # Errors
/// The file system's.
pub fn write_tables(summary: &Summary, folder: &Path) -> Result<(), TraceError> {
    std::fs::create_dir_all(folder).map_err(TraceError::file(folder))?;
    let width_us = summary.length_us / summary.profile.len() as f64;
    let profile = (0..).zip(&summary.profile);
    let table =
        |name: &str, columns: &[&str], rows: Vec<Vec<String>>| write(&folder.join(name), columns, rows);
    table(
        "profile.csv",
        &["from_us", "program", "runtime", "scheduler", "idle"],
        profile.map(|(number, share)| shares((f64::from(number) * width_us).to_string(), share)).collect(),
    )?;
    table(
        "pes.csv",
        &["pe", "program", "runtime", "scheduler", "idle", "entries"],
        summary
            .pes
            .iter()
            .map(|row| [shares(row.pe.to_string(), &row.share), vec![row.entries.to_string()]].concat())
            .collect(),
    )?;
    table(
        "entries.csv",
        &["entry", "kind", "calls", "own_us", "share", "longest_us"],
        summary
            .entries
            .iter()
            .map(|row| {
                let numbers = [row.own_us, row.share, row.longest_us].map(|number| number.to_string());
                [vec![row.name.clone(), row.kind.clone(), row.calls.to_string()], numbers.to_vec()].concat()
            })
            .collect(),
    )?;
    table(
        "spans.csv",
        &["span", "spans", "lasted_us", "longest_us"],
        summary
            .own
            .iter()
            .map(|row| {
                let times = [row.lasted_us, row.longest_us].map(|time| time.to_string());
                [vec![row.name.clone(), row.spans.to_string()], times.to_vec()].concat()
            })
            .collect(),
    )?;
    table(
        "counters.csv",
        &["counter", "pe", "values", "least", "most", "last"],
        summary
            .counters
            .iter()
            .map(|row| {
                let values = [row.least, row.most, row.last].map(|value| value.to_string());
                [vec![row.name.clone(), row.pe.to_string(), row.values.to_string()], values.to_vec()].concat()
            })
            .collect(),
    )?;
    table(
        "moves.csv",
        &["from_pe", "to_pe", "elements"],
        summary
            .moves
            .iter()
            .map(|row| vec![row.from.to_string(), row.to.to_string(), row.moves.to_string()])
            .collect(),
    )?;
    table(
        "longest.csv",
        &["entry", "chare", "pe", "begun_us", "own_us"],
        summary
            .longest
            .iter()
            .map(|row| {
                let numbers = vec![row.pe.to_string(), row.begun_us.to_string(), row.own_us.to_string()];
                [vec![row.name.clone(), row.chare.clone()], numbers].concat()
            })
            .collect(),
    )?;
    let grains = summary.grains.iter();
    table(
        "grains.csv",
        &["from_us", "runs", "own_us"],
        grains
            .map(|row| vec![row.from_us.to_string(), row.calls.to_string(), row.own_us.to_string()])
            .collect(),
    )?;
    let messages = summary.messages.iter();
    table(
        "messages.csv",
        &["from_pe", "to_pe", "messages"],
        messages
            .map(|row| vec![row.from.to_string(), row.to.to_string(), row.messages.to_string()])
            .collect(),
    )?;
    table(
        "network.csv",
        &["from_node", "to_node", "frames", "frame_bytes", "transfers", "transfer_bytes"],
        summary
            .network
            .iter()
            .map(|row| {
                let nodes = [row.from, row.to].map(|node| node.to_string());
                let numbers = [row.frames, row.frame_bytes, row.transfers, row.transfer_bytes];
                [nodes.to_vec(), numbers.map(|number| number.to_string()).to_vec()].concat()
            })
            .collect(),
    )
}

fn shares(name: String, share: &Share) -> Vec<String> {
    let parts = [share.program, share.runtime, share.rest(), share.idle];
    [name].into_iter().chain(parts.map(|part| part.to_string())).collect()
}

fn write(file: &Path, columns: &[&str], rows: Vec<Vec<String>>) -> Result<(), TraceError> {
    let failed = |cause: csv::Error| TraceError::file(file)(cause.into());
    let mut writer = csv::Writer::from_path(file).map_err(failed)?;
    writer.write_record(columns).map_err(failed)?;
    rows.iter().try_for_each(|row| writer.write_record(row)).map_err(failed)?;
    writer.flush().map_err(TraceError::file(file))
}
