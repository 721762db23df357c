//! Simulated network in the machine's own time: its wires with nobody who drives them, so that a node's own progress lets arrive what is due.
//!
//! Nodes have nothing to sleep on: whoever drives a simulated job is told by the wires. Get and put are those of
//! [`Emulated`](chare_lrts::emulated::Emulated), as in such a job.

use crate::unruly::pass_on;
use chare_lrts::simulated::{Chance, End, Wires};
use chare_lrts::{Capabilities, Frame, Lrts, NoRoom, NodeId, Sink, clock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// One node.
pub(crate) struct Simulated {
    node: NodeId,
    end: End,
    wires: Arc<Wires>,
    /// Held by the one thread that makes progress, so that frames of one sender stay in order.
    progressing: Mutex<()>,
}

impl Simulated {
    /// All nodes of a job whose frames are treated as the next seed has it. There is room: with that of one frame, and delays of a tenth of a
    /// millisecond, checks of thousands would outlast their patience.
    pub(crate) fn job(nodes: u32) -> Vec<Self> {
        static SEED: AtomicU64 = AtomicU64::new(1);
        let chances = Chance::USUAL.into_iter().filter(|chance| *chance != Chance::Room).collect();
        let seed = SEED.fetch_add(1, Ordering::Relaxed);
        Self::around(nodes, &Wires::under(nodes, seed, chances, u64::MAX))
    }

    /// The same, where a model describes the network.
    pub(crate) fn modelled(nodes: u32) -> Vec<Self> {
        let network = "loggops:L=2500,o=1500,g=1000,G=6,O=0".parse().expect("it is a model");
        Self::around(nodes, &Wires::modelled(nodes, 1, network, 1))
    }

    fn around(nodes: u32, wires: &Arc<Wires>) -> Vec<Self> {
        let one = |node| Self {
            node,
            end: End::new(node, nodes, wires),
            wires: Arc::clone(wires),
            progressing: Mutex::new(()),
        };
        (0..nodes).map(NodeId).map(one).collect()
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.wires.lose(self.node, clock::now_ns());
    }
}

impl Lrts for Simulated {
    fn name(&self) -> &'static str {
        self.end.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.end.capabilities()
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        self.end.send(target, frame)
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Ok(_held) = self.progressing.try_lock() else { return false };
        let now = clock::now_ns();
        while let Some((_, node)) = self.wires.next(0).filter(|(moment, _)| *moment <= now) {
            self.wires.arrive(node);
        }
        self.end.progress(sink)
    }

    pass_on!(end);
}
