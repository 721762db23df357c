//! Errors of reading a trace and of writing what is made of it, each with what to do.

use std::io;
use std::path::PathBuf;

/// The cause why a trace cannot be read, or its summary not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// No such file, nor one of a node.
    #[error("there is neither {0} nor {0}.0; give the path that `+trace` got, or the files of all nodes")]
    Missing(PathBuf),
    /// The file system's.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: PathBuf,
        /// What it said.
        cause: io::Error,
    },
    /// A line that is no event.
    #[error("{file}, line {line}: {cause}; give files that `+trace` wrote")]
    Line {
        /// The file.
        file: String,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
    /// The merged file would be written over one that is merged.
    #[error(
        "{0} is one of the files to merge, which writing it would destroy; give the merged file another name"
    )]
    Overwritten(PathBuf),
    /// Files of several jobs.
    #[error("{0} is in two files; give the files of one job")]
    Twice(String),
    /// No PE did anything.
    #[error(
        "no PE is in these files: the program was started without `+trace`, or ended before its first entry"
    )]
    Empty,
    /// A picture that cannot be drawn.
    #[error("drawing the picture failed: {0}")]
    Picture(String),
}

impl TraceError {
    /// The file system's answer about a file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |cause| Self::File { path, cause }
    }
}
