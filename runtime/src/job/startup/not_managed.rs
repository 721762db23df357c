//! Programs that find no other processes of a foreign launcher: built without the feature `net`.

use super::{Managed, Program, Refusal};
use crate::job::life::Main;
use chare_lrts::bootstrap::launchers;
use std::process::ExitCode;

impl Program {
    /// No place.
    ///
    /// # Errors
    /// A foreign launcher started several processes, each of which would be a job of its own.
    pub(super) fn find_place(&self, processes: Option<u32>) -> Result<Option<Managed>, Refusal> {
        launchers::refuse_company(processes)?;
        Ok(None)
    }

    /// Nobody has a place with which to call it.
    pub(super) fn run_managed(&self, managed: Managed, _: Main) -> ExitCode {
        match managed {}
    }
}
