//! Files of a trace: one for each node, found by the path that `+trace` got, and merged into one.

use crate::error::TraceError;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files that a path means: itself, or those of all nodes if it is what `+trace` got.
///
/// # Errors
/// When there is neither.
///
/// ```
/// let none = chare_trace::find_files("/no-such-place/trace".as_ref());
/// assert!(none.unwrap_err().to_string().contains("/no-such-place/trace.0"));
/// ```
pub fn find_files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let of_node = |node: u32| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(format!(".{node}"));
        PathBuf::from(name)
    };
    let files: Vec<PathBuf> = (0..).map(of_node).take_while(|file| file.is_file()).collect();
    if files.is_empty() { Err(TraceError::Missing(path.to_owned())) } else { Ok(files) }
}

/// The text of a file.
pub(crate) fn read(file: &Path) -> Result<String, TraceError> {
    std::fs::read_to_string(file).map_err(TraceError::file(file))
}

/// Whether two paths lead to one file, by whatever links.
fn are_one(file: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    place(file).is_some_and(|here| place(other) == Some(here))
}

/// Writes the events of all files as one, which a viewer opens at once: strict JSON, one event a line.
///
/// # Errors
/// The file system's; a file that would be written over one of these.
pub fn merge(files: &[PathBuf], to: &Path) -> Result<(), TraceError> {
    if files.iter().any(|file| are_one(file, to)) {
        return Err(TraceError::Overwritten(to.to_owned()));
    }
    let failed = || TraceError::file(to);
    let mut merged = std::io::BufWriter::new(std::fs::File::create(to).map_err(failed())?);
    merged.write_all(b"[").map_err(failed())?;
    let mut separator = "\n";
    for file in files {
        let text = read(file)?;
        // A file whose process was killed may end within a line.
        let whole = if text.ends_with(']') { &text[..] } else { &text[..text.rfind('\n').unwrap_or(0)] };
        for line in whole.lines() {
            let event = line.trim_end_matches(',');
            if !matches!(event, "" | "[" | "]") {
                write!(merged, "{separator}{event}").map_err(failed())?;
                separator = ",\n";
            }
        }
    }
    merged.write_all(b"\n]\n").and_then(|()| merged.flush()).map_err(failed())
}
