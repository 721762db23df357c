//! Our side for messages: frames through the trait and nothing above it.

use crate::node::{self, Node};
use chare_benches::Batches;
use chare_lrts::NodeId;
use std::process::ExitCode;
use std::time::Instant;

/// Eight bytes to and fro.
pub(crate) fn to_and_fro(batches: Batches, backend: &str) -> ExitCode {
    node::run(backend, |node| {
        if node.id == NodeId(0) {
            ask(batches, node);
        } else {
            answer(node);
        }
        Ok(())
    })
}

fn ask(batches: Batches, node: &mut Node) {
    batches.run(|frames| {
        let began = Instant::now();
        for _ in 0..frames / 2 {
            node.send(&[7; 8]);
            node.hear();
        }
        began.elapsed()
    });
    node.send(&[]);
}

fn answer(node: &mut Node) {
    while node.hear().is_some_and(|frame| !frame.is_empty()) {
        node.send(&[7; 8]);
    }
}
