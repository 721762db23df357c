//! Wrapped backend: one as a job uses it, bare or within the wrappers that its options ask for.

#[cfg(feature = "net")]
use super::Tags;
use super::{Fault, FaultPlan, Trace, TraceFile, TraceWindow, pass_on};
use crate::bootstrap::JobKey;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::lrts::Lrts;
use std::path::Path;
use std::sync::Arc;

/// What a node puts around each of its backends.
pub(crate) struct Wrappers {
    node: NodeId,
    trace: Option<Arc<TraceFile>>,
    fault: Option<FaultPlan>,
    /// The key of tags on the frames of a network, and the number of nodes.
    tags: Option<(JobKey, u32)>,
}

impl Wrappers {
    /// # Errors
    /// When the trace's file cannot be written.
    pub(crate) fn new(
        node: NodeId,
        trace: Option<(&Path, TraceWindow)>,
        fault: Option<&FaultPlan>,
        tags: Option<(JobKey, u32)>,
    ) -> Result<Self, LrtsError> {
        let trace =
            trace.map(|(path, window)| TraceFile::create(path, node, window)).transpose()?.map(Arc::new);
        Ok(Self { node, trace, fault: fault.cloned(), tags })
    }

    /// The trace's file, if there is one.
    pub(crate) fn trace_file(&self) -> Option<&Arc<TraceFile>> {
        self.trace.as_ref()
    }

    /// Puts them around a backend.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptors.
    pub(crate) fn around<L: Lrts + 'static>(&self, bare: L) -> Result<Wrapped<L>, LrtsError> {
        self.wrap(bare, None)
    }

    /// Puts them around a network whose frames carry no tags of its own.
    ///
    /// # Errors
    /// As of [`Wrappers::around`].
    #[cfg_attr(
        not(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim")),
        expect(dead_code, reason = "this build has no such network")
    )]
    pub(crate) fn around_network<L: Lrts + 'static>(&self, bare: L) -> Result<Wrapped<L>, LrtsError> {
        self.wrap(bare, self.tags.as_ref())
    }

    fn wrap<L: Lrts + 'static>(
        &self,
        bare: L,
        tags: Option<&(JobKey, u32)>,
    ) -> Result<Wrapped<L>, LrtsError> {
        if self.trace.is_none() && self.fault.is_none() && tags.is_none() {
            return Ok(Wrapped::Bare(bare));
        }
        let bare = Arc::new(bare);
        let mut outer: Arc<dyn Lrts> = Arc::clone(&bare) as Arc<dyn Lrts>;
        if let Some(plan) = &self.fault {
            outer = Arc::new(Fault::around(outer, self.node, plan)?);
        }
        #[cfg(feature = "net")]
        if let Some((key, nodes)) = tags {
            outer = Arc::new(Tags::around(outer, key, self.node, *nodes));
        }
        if let Some(file) = &self.trace {
            outer = Arc::new(Trace::around(outer, Arc::clone(file)));
        }
        Ok(Wrapped::Within { bare, outer, has_tags: tags.is_some() })
    }
}

/// A backend, bare or within wrappers.
pub(crate) enum Wrapped<L> {
    Bare(L),
    Within { bare: Arc<L>, outer: Arc<dyn Lrts>, has_tags: bool },
}

impl<L: Lrts> Wrapped<L> {
    /// What guards the frames of a network, in words that follow its name; none where nothing does.
    #[cfg_attr(
        not(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim")),
        expect(dead_code, reason = "this build has no such network")
    )]
    pub(crate) fn guard(&self) -> &'static str {
        if matches!(self, Self::Within { has_tags: true, .. }) { " (authenticated)" } else { "" }
    }

    /// The backend itself, for what is its own.
    pub(crate) fn bare(&self) -> &L {
        match self {
            Self::Bare(bare) => bare,
            Self::Within { bare, .. } => bare,
        }
    }
}

/// Calls the outermost; without a table of functions where there is no wrapper.
macro_rules! outermost {
    ($wrapped:expr, $lrts:ident => $call:expr) => {
        match $wrapped {
            Wrapped::Bare($lrts) => $call,
            Wrapped::Within { outer: $lrts, .. } => $call,
        }
    };
}

impl<L: Lrts> Lrts for Wrapped<L> {
    pass_on!(
        outermost: name capabilities send progress get put get_runs put_runs view claim arm event_fd shutdown is_closed
    );
}
