//! Report: the table and the comma-separated values. A row is printed as soon as it is measured.

use chare::NodeId;
use chare_examples::ddtbench::Kernel;
use chare_examples::partner;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A kernel's one-way times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) kernel: &'static Kernel,
    /// By layouts, and by hand.
    pub(crate) times_us: [f64; 2],
}

impl Row {
    /// How much longer packing by hand takes.
    pub(crate) fn ratio(&self) -> f64 {
        let [layout, manual] = self.times_us;
        manual / layout
    }
}

/// Writes to standard output; what it returns tells when nobody listens any more.
#[derive(Debug)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Writes the head.
    ///
    /// # Errors
    /// When standard output is closed or full.
    pub(crate) fn begin() -> io::Result<Self> {
        write_path()?;
        let mut out = io::stdout().lock();
        let columns = ["bytes", "layout us", "manual us", "manual/layout"];
        let [bytes, layout, manual, ratio] = columns;
        writeln!(out, "{:<14} {:<16} {bytes:>9} {layout:>11} {manual:>11} {ratio:>13}", "kernel", "size")?;
        out.flush()?;
        Ok(Self { rows: Vec::new() })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// When standard output is closed or full.
    pub(crate) fn row(&mut self, row: Row) -> io::Result<()> {
        let (Kernel { name, size, .. }, [layout, manual]) = (row.kernel, row.times_us);
        let (bytes, ratio) = (row.kernel.bytes(), row.ratio());
        let mut out = io::stdout().lock();
        writeln!(out, "{name:<14} {size:<16} {bytes:>9} {layout:>11.2} {manual:>11.2} {ratio:>13.2}")?;
        self.rows.push(row);
        out.flush()
    }

    /// Writes the closing lines.
    ///
    /// # Errors
    /// When standard output is closed or full.
    pub(crate) fn end(&self, is_verified: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.rows.is_empty() {
            writeln!(out, "no kernel was played: see which have these sizes, by `--size` alone")?;
        } else {
            let logarithms: f64 = self.rows.iter().map(|row| row.ratio().ln()).sum();
            let mean = (logarithms / self.rows.len() as f64).exp();
            writeln!(out, "packing by hand takes {mean:.2} times as long in the geometric mean")?;
            if is_verified {
                writeln!(
                    out,
                    "verified {} kernels both ways, every element of every array",
                    self.rows.len()
                )?;
            }
        }
        out.flush()
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Writes who plays, and over which path, which it returns in words.
///
/// # Errors
/// When standard output is closed or full.
pub(crate) fn write_path() -> io::Result<String> {
    let partner = partner();
    let partner_node = NodeId(partner.0 / (chare::pes() / chare::nodes()));
    let path = chare::path_to(partner_node);
    let mut out = io::stdout().lock();
    writeln!(out, "PE 0 and {partner} on {partner_node}: {path}")?;
    if cfg!(debug_assertions) {
        writeln!(out, "built without optimisation: the times say little; use --release")?;
    }
    Ok(path)
}

/// Writes all rows as comma-separated values.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write_csv(file: &Path, rows: &[Row]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "kernel,size,bytes,layout_us,manual_us,ratio")?;
    for row in rows {
        let (Kernel { name, size, .. }, [layout, manual]) = (row.kernel, row.times_us);
        let (bytes, ratio) = (row.kernel.bytes(), row.ratio());
        writeln!(out, "{name},{size},{bytes},{layout:.3},{manual:.3},{ratio:.4}")?;
    }
    out.flush()
}
