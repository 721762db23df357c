//! The deadline of start-up, and the hosts or nodes that keep the others waiting until then.

use super::Job;
use crate::job::patience::TIMEOUT_VARIABLE;
use chare_lrts::NodeId;
use std::time::Instant;

/// How many missing nodes are named.
const NAMED_MAX: usize = 8;

impl Job {
    pub(super) fn startup_deadline(&self) -> Option<Instant> {
        let is_everybody_here = self.nodes.iter().all(|node| node.has_joined);
        let since = if self.hosts.iter().any(|host| !host.is_ready) || (self.must_join && !is_everybody_here)
        {
            Some(self.began)
        } else if !is_everybody_here {
            self.first_join
        } else {
            self.rounds.since()
        };
        since.and_then(|since| since.checked_add(self.patience))
    }

    /// A sentence that names the hosts or nodes that keep the others waiting.
    pub(super) fn explain_wait(&self) -> String {
        let seconds = self.patience.as_secs();
        if let Some(host) = self.hosts.iter().find(|host| !host.is_ready) {
            let name = host.name.as_deref().unwrap_or("this one");
            return format!(
                "host {name} has not answered after {seconds} s; does its remote shell ask for something?"
            );
        }
        let is_everybody_here = self.nodes.iter().all(|node| node.has_joined);
        let missing: Vec<NodeId> = (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|node| match is_everybody_here {
                true => self.rounds.lacks(*node),
                false => !self.nodes[node.index()].has_joined,
            })
            .collect();
        let names: Vec<String> = missing.iter().take(NAMED_MAX).map(|node| self.name(*node)).collect();
        let more = match missing.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let have = if missing.len() == 1 { "has" } else { "have" };
        format!(
            "{}{more} {have} not arrived after {seconds} s, and the other nodes wait; `{}` sets the seconds",
            names.join(", "),
            TIMEOUT_VARIABLE
        )
    }
}
