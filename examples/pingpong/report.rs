//! Report: the table and the comma-separated values. A row is written as soon as it is measured.

use crate::tables::Table;
use chare::{NodeId, PeId};

/// Facts of the measurement, for the head of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    pub(crate) table: Table,
    /// The path that the user asked for.
    pub(crate) path_name: &'a str,
    /// The path that the runtime says it uses.
    pub(crate) path: &'a str,
    pub(crate) partner: PeId,
    pub(crate) partner_node: NodeId,
    pub(crate) pool: bool,
    /// The device of the first player's buffers, if they are on one.
    pub(crate) device: Option<&'a str>,
    pub(crate) verify: bool,
    pub(crate) csv: bool,
}

/// The times of one buffer size.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) size: usize,
    pub(crate) iterations: u32,
    /// In the order of [`Table::columns`].
    pub(crate) times_us: Vec<f64>,
}

/// Writes to standard output.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    header: Header<'a>,
    transfers: u64,
    bytes: u128,
}

impl<'a> Report<'a> {
    /// Writes the head.
    pub(crate) fn begin(header: Header<'a>) -> Self {
        let mark = if header.csv { "# " } else { "" };
        let Header { table, path_name, path, partner, partner_node, pool, verify, .. } = header;
        let players = match partner {
            PeId(0) => "both players on PE 0".to_owned(),
            _ => format!("PE 0 on node 0 and {partner} on {partner_node}"),
        };
        let mut lines = vec![format!("path {path_name}: {players}"), format!("used: {path}")];
        if table == Table::Thesis {
            let memory = if pool { "allocated by the runtime" } else { "from the heap" };
            lines.push(format!("buffers {memory}"));
        }
        if let Some(device) = header.device {
            lines.push(format!("buffers on {device}"));
            if device.contains("software") {
                lines.push(
                    "the software device has no speed: these times say nothing about a device".to_owned(),
                );
            }
        }
        lines.extend(table.describe().iter().map(|line| (*line).to_owned()));
        if verify {
            lines.push("every byte is written and checked, and the times include that".to_owned());
        }
        if cfg!(debug_assertions) {
            lines.push("built without optimisation: the times say little; use --release".to_owned());
        }
        for line in lines {
            println!("{mark}{line}");
        }
        if header.csv {
            println!("path,bytes,iterations,{}", table.columns().join(","));
        } else {
            let columns: String = table.columns().iter().map(|column| format!(" {column:>13}")).collect();
            println!("{:>9} {:>10}{columns}", "size", "iterations");
        }
        Self { header, transfers: 0, bytes: 0 }
    }

    /// Notes transfers for the closing line.
    pub(crate) fn count(&mut self, transfers: u64, size: usize) {
        self.transfers += transfers;
        self.bytes += u128::from(transfers) * size as u128;
    }

    /// Writes a row.
    pub(crate) fn row(&self, row: &Row) {
        let times = row.times_us.iter();
        if self.header.csv {
            let times: String = times.map(|time_us| format!(",{time_us:.3}")).collect();
            println!("{},{},{}{times}", self.header.path_name, row.size, row.iterations);
        } else {
            let times: String = times.map(|time_us| format!(" {time_us:>13.2}")).collect();
            println!("{:>9} {:>10}{times}", describe_size(row.size), row.iterations);
        }
    }

    /// Writes the closing lines; `path` is what the runtime uses now, if that has changed.
    pub(crate) fn end(&self, path: Option<&String>) {
        let mark = if self.header.csv { "# " } else { "" };
        if let Some(path) = path {
            println!("{mark}the path changed on the way; used in the end: {path}");
        }
        if self.header.verify {
            println!("{mark}verified {} transfers, {} bytes", self.transfers, self.bytes);
        }
        if !self.header.csv {
            println!();
        }
    }
}

/// `2 KiB`, `64 MiB`; odd sizes in bytes.
pub(crate) fn describe_size(size: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| size != 0 && size.is_multiple_of(1 << shift));
    unit.map_or_else(|| format!("{size} B"), |(shift, unit)| format!("{} {unit}", size >> shift))
}
