//! Why a job ends before its time, and which of two causes says more.

use chare_lrts::NodeId;

/// How much a cause is worth: what a node says about another is hearsay, what it says about itself is better,
/// what the kernel says is best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Weight {
    /// A node lost another.
    Hearsay,
    /// A node gave up.
    OwnWords,
    /// A node left without a word.
    Ending,
    /// Nothing can say more: a signal, a lost host, the launcher's own decision.
    Final,
}

/// Why the job ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cause {
    pub(super) weight: Weight,
    /// A sentence for the user.
    pub(super) text: String,
    /// What the launcher exits with, unless `node` has a code of its own.
    pub(super) code: u8,
    /// Whose fault it is.
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
