//! Rounds of the start-up exchange over the whole job: a value from every node, then all values to every node.

use crate::job::launch::message::ToAgent;
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::{VALUE_BYTES_MAX, VALUES_PER_MESSAGE};
use std::time::Instant;

/// The round under way.
pub(super) struct Rounds {
    number: u64,
    values: Vec<Option<Vec<u8>>>,
    arrived: usize,
    /// The time at which its first value came; `None` between rounds.
    since: Option<Instant>,
}

impl Rounds {
    pub(super) fn of(nodes: u32) -> Self {
        Self { number: 0, values: vec![None; nodes as usize], arrived: 0, since: None }
    }

    /// The time since which a node waits for the others.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Whether the round waits for this node.
    pub(super) fn lacks(&self, node: NodeId) -> bool {
        self.values[node.index()].is_none()
    }

    /// Takes a node's value; returns the orders that tell all nodes, none before the last value.
    pub(super) fn accept(
        &mut self,
        node: NodeId,
        round: u64,
        value: Vec<u8>,
        now: Instant,
    ) -> Result<Vec<ToAgent>, String> {
        if round != self.number || !self.lacks(node) {
            return Err(format!("it sent a value for round {round} of the start-up exchange out of turn"));
        }
        if value.len() > VALUE_BYTES_MAX {
            return Err(format!("it published {} bytes; {VALUE_BYTES_MAX} are allowed", value.len()));
        }
        self.values[node.index()] = Some(value);
        self.arrived += 1;
        self.since.get_or_insert(now);
        if self.arrived < self.values.len() {
            return Ok(Vec::new());
        }
        let values: Vec<Vec<u8>> = self.values.iter_mut().filter_map(Option::take).collect();
        self.number += 1;
        self.arrived = 0;
        self.since = None;
        let pieces = (0..).step_by(VALUES_PER_MESSAGE).zip(values.chunks(VALUES_PER_MESSAGE));
        Ok(pieces
            .map(|(first, values)| ToAgent::Gathered { round, first, values: values.to_vec() })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "begins anywhere")]

    use super::*;

    #[test]
    fn a_round_ends_with_its_last_value_and_the_next_begins() {
        let mut rounds = Rounds::of(17);
        let now = Instant::now();
        for node in 1..17 {
            assert!(rounds.accept(NodeId(node), 0, vec![node as u8], now).unwrap().is_empty());
        }
        assert!(rounds.since().is_some() && rounds.lacks(NodeId(0)) && !rounds.lacks(NodeId(1)));
        let pieces = rounds.accept(NodeId(0), 0, vec![0], now).unwrap();
        let all: Vec<(u32, usize)> = pieces
            .iter()
            .map(|piece| match piece {
                ToAgent::Gathered { round: 0, first, values } => (*first, values.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(all, [(0, 16), (16, 1)]);
        assert!(rounds.since().is_none());
        assert!(rounds.accept(NodeId(3), 1, vec![], now).unwrap().is_empty());
    }

    #[test]
    fn values_out_of_turn_or_too_long_are_refused() {
        let now = Instant::now();
        let mut rounds = Rounds::of(2);
        assert!(rounds.accept(NodeId(0), 1, vec![], now).is_err());
        assert!(rounds.accept(NodeId(0), 0, vec![0; VALUE_BYTES_MAX + 1], now).is_err());
        assert!(rounds.accept(NodeId(0), 0, vec![0; VALUE_BYTES_MAX], now).is_ok());
        assert!(rounds.accept(NodeId(0), 0, vec![], now).is_err());
    }
}
