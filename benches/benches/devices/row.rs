//! Rows: what was measured, printed as it comes and kept as JSON.

use crate::bed::{Bed, Fallible, Kind};
use chare_benches::Spread;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// One side, for one shape.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) part: &'a str,
    pub(crate) side: &'a str,
    pub(crate) bytes: u64,
    pub(crate) block: u64,
}

/// All rows so far.
pub(crate) struct Table {
    about: Value,
    rows: Vec<Value>,
}

/// What figures of a software device are worth.
const NO_DEVICE: &str =
    "the software device is threads of this host: these figures say nothing about a device";

impl Table {
    /// Prints the head.
    pub(crate) fn new(bed: &Bed) -> Self {
        let info = bed.device.info();
        println!("{info}, {}", info.uuid);
        println!(
            "one device: nothing is said of NVLink, GPUDirect, transfers between devices, or an MPI that knows devices"
        );
        let note = (bed.kind == Kind::Software).then_some(NO_DEVICE);
        if let Some(note) = note {
            println!("{note}");
        }
        println!("microseconds: median (quartiles); GiB/s of what is selected, by the median");
        println!(
            "{:<9} {:<36} {:>9} {:>6} {:>28} {:>8} {:>8}",
            "part", "side", "bytes", "block", "us", "GiB/s", "ceiling"
        );
        let about = json!({
            "kind": bed.kind.to_string(), "device": info.name, "uuid": info.uuid.to_string(), "quick": bed.quick, "note": note,
        });
        Self { about, rows: Vec::new() }
    }

    /// Adds what a side took, in nanoseconds, and what its ceiling did.
    pub(crate) fn add(&mut self, row: Row<'_>, took: Spread, ceiling: Spread) {
        let Row { part, side, bytes, block } = row;
        let Spread { lower, median, upper } = took;
        let gib = bytes as f64 / median * 1e9 / f64::from(1 << 30);
        let of_ceiling = ceiling.median / median;
        let us = Spread { lower: lower / 1e3, median: median / 1e3, upper: upper / 1e3 }.to_string();
        println!(
            "{part:<9} {side:<36} {bytes:>9} {block:>6} {us:>28} {gib:>8.2} {:>7.0}%",
            of_ceiling * 100.0
        );
        self.rows.push(json!({
            "part": part, "side": side, "bytes": bytes, "block": block,
            "lower_ns": lower, "median_ns": median, "upper_ns": upper, "ceiling_ns": ceiling.median, "gib_per_s": gib, "of_ceiling": of_ceiling,
        }));
    }

    /// Writes the file.
    pub(crate) fn keep(self, file: &Path) -> Fallible {
        let Self { about, rows } = self;
        let text = serde_json::to_string_pretty(&json!({ "about": about, "rows": rows }))?;
        fs::write(file, text + "\n").map_err(|error| format!("{}: {error}", file.display()).into())
    }
}
