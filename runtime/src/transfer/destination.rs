//! Destinations of calls whose nocopy arguments are on their way.

use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{BegunCall, PeId};
use crate::node::Node;
use crate::node::credit::Cost;
use crate::node::mailbox::{Waited, Work};

/// The PE that a call goes to, and the options and the cost of the call.
#[derive(Clone)]
pub(crate) struct Destination {
    pub(crate) pe: PeId,
    pub(crate) options: CallOptions,
    /// The cost of the call, if its PE has not run any of it yet.
    pub(crate) cost: Cost,
    /// The call's name there, if it has come to its chare and waits.
    pub(crate) begun: Option<BegunCall>,
}

impl Destination {
    /// Leaves the call with its PE, ready to run.
    pub(crate) fn deliver(self, node: &Node, call: Call) {
        self.leave(node, call, None);
    }

    /// Leaves a call that cannot run with its PE: the job ends for this reason, unless the chare that the call has waited at is gone.
    ///
    /// # Panics
    /// If it has not come to a chare.
    pub(super) fn refuse(self, node: &Node, call: Call, flaw: String) {
        assert!(self.begun.is_some(), "a call that has not begun has nothing to fail at");
        self.leave(node, call, Some(flaw));
    }

    fn leave(self, node: &Node, call: Call, flaw: Option<String>) {
        let Self { pe, options, cost, begun } = self;
        let work = match begun {
            None => Work::Message(Envelope { options, body: Body::Call(call) }, cost),
            Some(begun) => Work::Waited(Box::new(Waited { begun, options, call, flaw })),
        };
        node.deliver(pe, work);
    }
}
