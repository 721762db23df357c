//! Simulated network in the machine's own time: its wires with nobody who drives them, so that a node's own progress lets arrive what is due.
//!
//! Nodes have nothing to sleep on: whoever drives a simulated job is told by the wires. Get and put are those of
//! [`Emulated`](chare_lrts::emulated::Emulated), of leases, or of the wires, as in such a job.

use crate::unruly::pass_on;
use chare_lrts::leased::Leased;
use chare_lrts::simulated::{Chance, End, Endpoint, Wires};
use chare_lrts::{Capabilities, Frame, Lrts, NoRoom, NodeId, Regions, Sink, clock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// One node.
pub(crate) struct Simulated<L> {
    node: NodeId,
    end: L,
    wires: Arc<Wires>,
    /// Held by the one thread that makes progress, so that frames of one sender stay in order.
    progressing: Mutex<()>,
}

impl Simulated<End> {
    /// All nodes of a job whose frames are treated as the next seed has it.
    pub(crate) fn job(regions: &[Arc<Regions>]) -> Vec<Self> {
        Self::around(regions, &under_weather(regions), |node, nodes, wires| {
            End::new(node.node(), nodes, wires)
        })
    }

    /// The same, where a model describes the network.
    pub(crate) fn modelled(regions: &[Arc<Regions>]) -> Vec<Self> {
        let network = "loggops:L=2500,o=1500,g=1000,G=6,O=0".parse().expect("it is a model");
        let wires = Wires::modelled(regions.len() as u32, 1, network, 1);
        Self::around(regions, &wires, |node, nodes, wires| End::new(node.node(), nodes, wires))
    }

    /// The same as the first, with a get and put of its own, and memory that is viewed in place.
    pub(crate) fn direct(regions: &[Arc<Regions>]) -> Vec<Self> {
        let wires = under_weather(regions);
        Self::around(regions, &wires, |node, nodes, wires| End::direct(node, nodes, wires, true))
    }
}

impl Simulated<Leased> {
    /// All nodes of a job that reach each other's memory one-sidedly, under leases.
    pub(crate) fn leased(regions: &[Arc<Regions>]) -> Vec<Self> {
        Self::around(regions, &under_weather(regions), Endpoint::open)
    }
}

/// Wires under the weather of the next seed. There is room: with that of one frame, and delays of a tenth of a millisecond, checks of thousands
/// would outlast their patience.
fn under_weather(regions: &[Arc<Regions>]) -> Arc<Wires> {
    static SEED: AtomicU64 = AtomicU64::new(1);
    let chances = Chance::USUAL.into_iter().filter(|chance| *chance != Chance::Room).collect();
    Wires::under(regions.len() as u32, SEED.fetch_add(1, Ordering::Relaxed), chances, u64::MAX)
}

impl<L> Simulated<L> {
    fn around(
        regions: &[Arc<Regions>],
        wires: &Arc<Wires>,
        end: impl Fn(&Arc<Regions>, u32, &Arc<Wires>) -> L,
    ) -> Vec<Self> {
        let one = |node: &Arc<Regions>| Self {
            node: node.node(),
            end: end(node, regions.len() as u32, wires),
            wires: Arc::clone(wires),
            progressing: Mutex::new(()),
        };
        regions.iter().map(one).collect()
    }
}

impl<L> Drop for Simulated<L> {
    fn drop(&mut self) {
        self.wires.lose(self.node, clock::now_ns());
    }
}

impl<L: Lrts> Lrts for Simulated<L> {
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
