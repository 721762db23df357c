//! Errors of MPI, as sentences.

use std::fmt;

/// Why no MPI can be used, and what helps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// What a function of MPI returned instead of success.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MpiError {
    /// The function.
    pub function: &'static str,
    /// MPI's own text for its error code.
    pub text: String,
}

impl fmt::Display for MpiError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} failed: {}", self.function, self.text)
    }
}

impl std::error::Error for MpiError {}
