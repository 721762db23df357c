//! Destinations of calls whose nocopy arguments are on their way.

use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::PeId;
use crate::node::Node;
use crate::node::credit::Cost;
use crate::node::mailbox::Work;

/// The PE that a call goes to, and the options and the cost of the call.
#[derive(Clone)]
pub(crate) struct Destination {
    pub(crate) pe: PeId,
    pub(crate) options: CallOptions,
    /// The cost of the call, if its PE has not run any of it yet.
    pub(crate) cost: Cost,
}

impl Destination {
    /// Leaves the call with its PE, ready to run.
    pub(crate) fn deliver(self, node: &Node, call: Call) {
        let Self { pe, options, cost } = self;
        node.deliver(pe, Work::Message(Envelope { options, body: Body::Call(call) }, cost));
    }
}
