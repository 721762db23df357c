//! Programs that start no processes: built without the feature `launch`.

use super::Program;
use chare_lrts::events;
use std::process::ExitCode;

impl Program {
    /// Refuses to start processes.
    pub(super) fn launch(&self) -> ExitCode {
        events::error(format_args!(
            "{} nodes are asked for, and this program starts no processes: `chare` was built without its feature `launch`; \
             start it by `mpirun`, `srun` or `chare-run`",
            self.config.nodes
        ));
        ExitCode::FAILURE
    }
}
