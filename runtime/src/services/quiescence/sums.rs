//! Sums of messages sent and processed, on one node or on all.

use crate::node::Node;
use serde::{Deserialize, Serialize};

/// Messages sent and processed, by a node or by all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    pub(super) sent: u64,
    pub(super) processed: u64,
}

impl Sums {
    /// The sums of a node. Processed messages are read before sent ones: a message that is sent meanwhile can only make the sums
    /// unequal.
    pub(super) fn of_node(node: &Node) -> Self {
        let all = || node.counters.iter().map(|counters| &***counters).chain([&node.outside]);
        let processed = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.processed.read()));
        let sent = all().fold(0u64, |sum, counters| {
            let counted = [&counters.sent, &counters.resumed, &counters.woken];
            counted.into_iter().fold(sum, |sum, counter| sum.wrapping_add(counter.read()))
        });
        Self { sent, processed }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.sent = self.sent.wrapping_add(other.sent);
        self.processed = self.processed.wrapping_add(other.processed);
    }

    pub(super) fn in_flight(self) -> u64 {
        self.sent.wrapping_sub(self.processed)
    }
}
