//! Causes of a job's end before its time, and their weight: of two causes the heavier one is reported.

use chare_lrts::NodeId;

/// The weight of a cause: a node's report about another node is hearsay, its report about itself is better, and the kernel's is best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Weight {
    /// A node lost another node.
    Hearsay,
    /// A node gave up.
    OwnWords,
    /// A node's process ended without a report.
    Ending,
    /// No other cause can say more: a signal, a lost host, the launcher's own decision.
    Final,
}

/// A cause of the job's end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cause {
    pub(super) weight: Weight,
    /// A sentence for the user.
    pub(super) text: String,
    /// The launcher's exit code, unless `node` has a code of its own.
    pub(super) code: u8,
    /// The node at fault.
    pub(super) node: Option<NodeId>,
}

impl Cause {
    pub(super) fn last_word(text: String, code: u8) -> Self {
        Self { weight: Weight::Final, text, code, node: None }
    }

    pub(super) fn by(node: NodeId, weight: Weight, text: String) -> Self {
        Self { weight, text, code: 1, node: Some(node) }
    }

    pub(super) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}
