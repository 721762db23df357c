//! Options of `reach`: the paths that the user allows, and what is put around the backends.

use crate::bootstrap::listening::Listening;
use crate::error::LrtsError;
use crate::wrappers::{FaultPlan, TraceWindow};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a node waits for the others to connect. They have all been started by then.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Which paths the user allows. The same on all nodes of a job.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ReachOptions {
    /// `+lrts NAME`: one of [`BACKENDS`](crate::backends::BACKENDS); `None`: the nearest path to each node.
    pub lrts: Option<String>,
    /// `+nolocal`: treats nodes of this host like those of others.
    pub nolocal: bool,
    /// `+nocma`: no copies by the kernel from process to process.
    pub nocma: bool,
    /// `+noshm`: no messages through shared memory and no mappings between nodes.
    pub noshm: bool,
    /// `+dsa`: long copies within a host are offered to a DSA first, by the feature `dsa`.
    pub dsa: bool,
    /// `+encrypt`: frames of TCP between hosts are sealed, not only tagged.
    pub encrypt: bool,
    /// `+clear`: frames of TCP between hosts are neither sealed nor tagged.
    pub clear: bool,
    /// `+tags`: frames of ofi, verbs and mpi carry tags, as TCP's between hosts always do.
    pub tags: bool,
    /// `+ofi PROVIDER`: nodes of other hosts are reached by this provider of libfabric (all nodes, with `+lrts ofi`).
    pub ofi: Option<String>,
    /// `+trace FILE`: what crosses the backends, and what the layers above add, is written to this path, a point and the node's number.
    pub trace: Option<PathBuf>,
    /// `+trace FILE,from=10,for=2`: the part of the job's time that is written.
    pub trace_window: TraceWindow,
    /// `+fault LIST`: what goes wrong in the backends.
    pub fault: Option<FaultPlan>,
    /// `+verbs DEVICES`: nodes of other hosts are reached by these RDMA devices (all nodes, with `+lrts verbs`).
    pub verbs: Option<String>,
    /// `+interface NAME|CIDR`, `+ports A-B`: where nodes listen for those of other hosts.
    pub listening: Listening,
}

impl ReachOptions {
    /// The trace that is to be written.
    pub(super) fn traced(&self) -> Option<(&Path, TraceWindow)> {
        self.trace.as_deref().map(|path| (path, self.trace_window))
    }
}

/// Refuses options that exclude each other.
pub(super) fn exclude<T>(one: &str, other: String) -> Result<T, LrtsError> {
    Err(LrtsError::Bootstrap(format!("`{one}` and `{other}` exclude each other; leave one out")))
}
