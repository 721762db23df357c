//! PEs of a node, as users ask for them: a number, or as many as the node was given processors.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The most PEs of one node: more threads than any host has cores for is a mistyped number.
#[cfg_attr(not(feature = "launch"), expect(unreachable_pub, reason = "`launch` shows it"))]
pub const PES_PER_NODE_MAX: u32 = 4096;

/// What `+p` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Pes {
    /// So many; at least 1.
    Number(u32),
    /// As many as the binding, the cpuset or the quota of a node's process leaves it processors; nodes of a host that were given the same
    /// ones divide them. All nodes get what the node with the least gets.
    Auto,
}

/// A text that is no number of PEs.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("it is neither `auto` nor a number from 1 to {PES_PER_NODE_MAX}")]
pub struct PesError;

impl Default for Pes {
    fn default() -> Self {
        Self::Number(1)
    }
}

impl FromStr for Pes {
    type Err = PesError;

    fn from_str(text: &str) -> Result<Self, PesError> {
        match text.parse() {
            Ok(number) if (1..=PES_PER_NODE_MAX).contains(&number) => Ok(Self::Number(number)),
            _ if text == "auto" => Ok(Self::Auto),
            _ => Err(PesError),
        }
    }
}

impl fmt::Display for Pes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Auto => out.write_str("auto"),
        }
    }
}
