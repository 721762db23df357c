//! Sums of messages sent and processed, on one node or on all.

use crate::node::Node;
use serde::{Deserialize, Serialize};

/// Messages sent and processed, by a node or by all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) sent: u64,
    pub(crate) processed: u64,
    /// Messages in flight that only limit the time of a wait.
    pub(crate) limits: u64,
}

impl Sums {
    /// The sums of a node. Processed messages are read before sent ones, and limits that were set before those that are over: what
    /// happens meanwhile can only make it seem that more is in flight.
    pub(crate) fn of_node(node: &Node) -> Self {
        let all = || node.counters.iter().map(|counters| &***counters).chain([&node.outside]);
        let processed = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.processed.read()));
        let set = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.limits_set.read()));
        let sent = all().fold(0u64, |sum, counters| {
            let counted = [&counters.sent, &counters.resumed, &counters.woken];
            counted.into_iter().fold(sum, |sum, counter| sum.wrapping_add(counter.read()))
        });
        let over = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.limits_over.read()));
        Self { sent, processed, limits: set.wrapping_sub(over) }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.sent = self.sent.wrapping_add(other.sent);
        self.processed = self.processed.wrapping_add(other.processed);
        self.limits = self.limits.wrapping_add(other.limits);
    }

    pub(crate) fn in_flight(self) -> u64 {
        self.sent.wrapping_sub(self.processed)
    }

    /// Whether nothing but limits of waits is in flight.
    pub(crate) fn are_limits_alone(self) -> bool {
        self.in_flight() == self.limits
    }
}
