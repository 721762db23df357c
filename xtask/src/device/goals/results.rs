//! Results of a run: which parts passed, and their rows.

use crate::device::part::{figures, has_passed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a side took for a shape.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) side: String,
    pub(super) bytes: u64,
    pub(super) block: u64,
    pub(super) median_ns: f64,
    /// What the best that the device could do took, in the same run.
    pub(super) ceiling_ns: Option<f64>,
    /// Lines of the program that do it.
    pub(super) lines: Option<f64>,
}

/// A part that was run to its end.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Part {
    pub(super) has_passed: bool,
    pub(super) rows: Vec<Row>,
}

/// All of them, by their names.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Results {
    pub(super) is_hardware: bool,
    parts: BTreeMap<String, Part>,
}

impl Results {
    /// What a directory holds.
    ///
    /// # Errors
    /// A directory or figures that cannot be read, in words.
    pub(super) fn read(kind: &str, directory: &Path) -> Result<Self, String> {
        let named = |error: std::io::Error| format!("{}: {error}", directory.display());
        let mut results = Self::new(kind == "cuda");
        for entry in fs::read_dir(directory).map_err(named)? {
            let file = entry.map_err(named)?.file_name().to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(".failed.txt").or_else(|| file.strip_suffix(".txt")) else {
                continue;
            };
            let Some(has_passed) = has_passed(directory, name) else { continue };
            let figures = figures(directory, name);
            let told = match fs::read_to_string(&figures) {
                Ok(text) if has_passed => {
                    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", figures.display()))?
                }
                _ => Value::Null,
            };
            results.add(name, has_passed, &told);
        }
        Ok(results)
    }

    pub(super) fn new(is_hardware: bool) -> Self {
        Self { is_hardware, parts: BTreeMap::new() }
    }

    /// Adds a part and its figures, if it has some.
    pub(super) fn add(&mut self, name: &str, has_passed: bool, figures: &Value) {
        let row = |row: &Value| {
            Some(Row {
                side: row["side"].as_str()?.to_owned(),
                bytes: row["bytes"].as_u64()?,
                block: row["block"].as_u64()?,
                median_ns: row["median_ns"].as_f64()?,
                ceiling_ns: row["ceiling_ns"].as_f64(),
                lines: row["lines"].as_f64(),
            })
        };
        let rows = figures["rows"].as_array().into_iter().flatten().filter_map(row).collect();
        self.parts.insert(name.to_owned(), Part { has_passed, rows });
    }

    pub(super) fn part(&self, name: &str) -> Option<&Part> {
        self.parts.get(name)
    }

    /// The rows of a part.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub(super) fn rows(&self, name: &str) -> Result<&[Row], String> {
        match self.part(name) {
            None => Err(format!("{name} has not run")),
            Some(part) if !part.has_passed => Err(format!("{name} has failed")),
            Some(part) if part.rows.is_empty() => Err(format!("{name} has no figures")),
            Some(part) => Ok(&part.rows),
        }
    }
}

/// The nanoseconds of a side for a shape.
///
/// # Errors
/// That there is no such row, in words.
pub(super) fn time_ns(rows: &[Row], side: &str, shape: impl Fn(&Row) -> bool) -> Result<f64, String> {
    let found = rows.iter().find(|row| row.side == side && shape(row));
    found.map(|row| row.median_ns).ok_or_else(|| format!("`{side}` was not measured for that shape"))
}
