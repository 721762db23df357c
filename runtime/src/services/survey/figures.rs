//! Figures of one PE: what it did so far, what lies before it and lives there, and how long its entries ran; and those of its node.

use crate::model::ids::{NodeId, PeId};
use crate::node::Node;
use crate::node::balancing::BalancingFigures;
use crate::pe::Pe;
use crate::pe::times::Spent;
use chare_lrts::clock;
use serde::{Deserialize, Serialize};

/// The most entries of which one PE tells, those of the most time.
const ENTRIES_MAX: usize = 64;

/// The most peers of which one node tells.
const PEERS_MAX: usize = 64;

/// The most collections of which one PE tells, those of the most elements.
const COLLECTIONS_MAX: usize = 64;

/// The figures of one PE. Counts and times are those since the job's start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) node: u32,
    /// The time for which the node has run.
    pub(crate) uptime_ns: u64,
    pub(crate) idle_ns: u64,
    /// Messages that wait in the PE's queue.
    pub(crate) queued: u64,
    /// Messages that wait for what is not created.
    pub(crate) early: u64,
    pub(crate) sent: u64,
    pub(crate) processed: u64,
    pub(crate) entries: u64,
    pub(crate) network_bytes: u64,
    pub(crate) copies: u64,
    pub(crate) copied_bytes: u64,
    /// The chares that live here.
    pub(crate) chares: u64,
    pub(crate) times: Vec<EntryTime>,
    pub(crate) collections: Vec<CollectionFigures>,
    /// The last balancings, from the PE that plans them.
    pub(crate) balancings: Vec<BalancingFigures>,
    /// Of the node, from its first PE.
    pub(crate) of_node: Option<NodeFigures>,
}

/// How often an entry ran on a PE, and how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EntryTime {
    pub(crate) chare: String,
    pub(crate) entry: String,
    pub(crate) runs: u64,
    pub(crate) ns: u64,
}

/// The elements of a collection that live on a PE.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct CollectionFigures {
    /// The PE that created it, and its number there.
    pub(crate) id: String,
    pub(crate) chare: String,
    pub(crate) elements: u64,
}

/// The figures of a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NodeFigures {
    /// Memory of the process that is in use, if the kernel tells.
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) paths: Vec<PathFigures>,
}

/// The path from a node to another, and its use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathFigures {
    pub(crate) to: u32,
    pub(crate) path: String,
    pub(crate) used: String,
    pub(crate) messages: u64,
    pub(crate) message_bytes: u64,
}

impl Figures {
    /// The figures of this PE.
    pub(super) fn of(pe: &Pe) -> Self {
        let (node, counters) = (&pe.node, &pe.counters);
        let mut times: Vec<_> = pe.times.as_deref().map(|times| times.all()).unwrap_or_default();
        times.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.time));
        let time = |((chare, entry), spent): &((&str, &str), Spent)| EntryTime {
            chare: (*chare).to_owned(),
            entry: (*entry).to_owned(),
            runs: spent.runs,
            ns: spent.time.as_nanos() as u64,
        };
        Self {
            node: node.id.0,
            uptime_ns: clock::since(node.started).as_nanos() as u64,
            idle_ns: counters.idle_ns.read(),
            queued: pe.queue.borrow().len() as u64,
            early: pe.early.borrow().waiting().count() as u64,
            sent: counters.sent.read(),
            processed: counters.processed.read(),
            entries: counters.entries.read(),
            network_bytes: counters.bytes.read(),
            copies: counters.copies.read(),
            copied_bytes: counters.copied_bytes.read(),
            chares: pe.places.borrow().chares(),
            times: times.iter().take(ENTRIES_MAX).map(time).collect(),
            collections: collections(pe),
            balancings: if pe.id == PeId(0) { node.balancing_history.all() } else { Vec::new() },
            of_node: (node.topology.rank_of(pe.id) == 0).then(|| NodeFigures::of(node)),
        }
    }
}

/// The elements of each collection that live on this PE, for those that have some.
fn collections(pe: &Pe) -> Vec<CollectionFigures> {
    let places = pe.places.borrow();
    let figures = places.collections().map(|collection| CollectionFigures {
        id: format!("{}.{}", collection.info.id.creator.0, collection.info.id.serial),
        chare: collection.info.chare.name.to_string(),
        elements: collection.members.len() as u64,
    });
    let mut figures: Vec<CollectionFigures> = figures.filter(|figures| figures.elements > 0).collect();
    figures.sort_by(|one, other| other.elements.cmp(&one.elements).then_with(|| one.id.cmp(&other.id)));
    figures.truncate(COLLECTIONS_MAX);
    figures
}

impl NodeFigures {
    fn of(node: &Node) -> Self {
        let peers = (0..node.topology.nodes()).map(NodeId).filter(|peer| *peer != node.id);
        let path = |peer: NodeId| {
            let used = node.network.usage(peer);
            PathFigures {
                to: peer.0,
                path: node.network.path(peer),
                used: used.to_string(),
                messages: used.messages.operations,
                message_bytes: used.messages.bytes,
            }
        };
        Self { resident_bytes: resident_bytes(), paths: peers.take(PEERS_MAX).map(path).collect() }
    }
}

/// Memory of this process that is in use.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}
