//! Programs that a foreign launcher started: nodes of its job.

use super::{Program, Refusal, hold_signals, say};
use crate::base::numbering::JobNumbers;
use crate::job::life::{self, Main};
use crate::job::patience;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::managed::Managed;
use chare_lrts::{LrtsError, NodeId};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn startup_patience() -> Result<Duration, Refusal> {
    patience::startup_timeout().map_err(|error| Refusal::Options(LrtsError::Bootstrap(error.to_string())))
}

impl Program {
    /// This process's place in the job of a foreign launcher, if one started it, as one of so many.
    pub(super) fn find_place(&self, _processes: Option<u32>) -> Result<Option<Managed>, Refusal> {
        Ok(Managed::from_environment(startup_patience()?)?)
    }

    /// Runs a node of a job that a foreign launcher started. The node that fails prints the cause; the others were told by it.
    pub(super) fn run_managed(&self, mut managed: Managed, main: Main) -> ExitCode {
        let held = hold_signals(managed.node());
        let main = (managed.node() == NodeId(0)).then_some(main);
        let opened = life::open(&self.options(), JobNumbers::begin(), &mut managed);
        let session = managed.into_session();
        let end = self.drive(opened, (main, held), say);
        // After a failure too: a launcher that believes a process has crashed throws its last output away.
        session.finish();
        end.exit()
    }
}
