//! Faults of a run, and the mark that tells when one was raised.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The fault that the program under test raises in itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
pub enum Raise {
    /// SIGKILL to the victims, itself last
    Kill,
    /// SIGSTOP to itself
    Stop,
    /// SIGKILL to the launcher
    KillLauncher,
}

/// The fault of a job of the campaign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, ValueEnum)]
pub enum Fault {
    /// Nothing: the result must be right
    None,
    /// One node is killed
    Kill,
    /// One node is stopped, and goes on soon, is killed soon, or stays stopped
    Stop,
    /// The launcher is killed
    Launcher,
    /// Two of four nodes are killed
    Two,
}

impl Fault {
    /// The program's part in it.
    pub fn raise(self) -> Option<Raise> {
        match self {
            Self::None => None,
            Self::Kill | Self::Two => Some(Raise::Kill),
            Self::Stop => Some(Raise::Stop),
            Self::Launcher => Some(Raise::KillLauncher),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// The process that raised a fault, and the time: a file that the program writes just before it does.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The process.
    pub process: u32,
    /// By the clock of this host.
    pub at: Duration,
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Mark {
    /// A mark of this moment.
    pub fn now(process: u32) -> Self {
        Self { process, at: now() }
    }

    /// Time that has passed since.
    pub fn age(&self) -> Duration {
        now().saturating_sub(self.at)
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The file system's.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let unfinished = path.with_extension("unfinished");
        std::fs::write(&unfinished, format!("{} {}", self.process, self.at.as_nanos()))?;
        std::fs::rename(unfinished, path)
    }

    /// Reads it, if it is there.
    pub fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let (process, at_ns) = text.split_once(' ')?;
        Some(Self { process: process.parse().ok()?, at: Duration::from_nanos(at_ns.parse().ok()?) })
    }
}
