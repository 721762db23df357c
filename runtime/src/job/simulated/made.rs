//! Making of a simulated job: its nodes on their network, before anything happens, and what is around `main`.

use super::drawn::{Drawn, Shape};
use crate::api::{context, tasks, time};
use crate::base::numbering::JobNumbers;
use crate::job::life::{self, Main, NodeOptions};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::model::topology::Topology;
use crate::node::devices::{DeviceChoice, Devices};
use crate::node::ledger::{Ledger, Shared};
use crate::node::{Above, Node};
use crate::pe::panics;
use crate::pe::places::{ANSWERS, FEW_ANSWERS};
use crate::transfer::device;
use chare_device::VirtualTime;
use chare_lrts::reach::Reach;
use chare_lrts::simulated::{Chance, Fidelity, Wires};
use chare_lrts::{Ambient, Common, LrtsError, clock};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time after which nothing of what nodes tell each other by themselves is on its way.
const SETTLED: Duration = Duration::from_secs(1);

/// The most PEs of a job that are as they are elsewhere. Of more, each remembers few places of chares, and what they send each other within a
/// node goes through mailboxes: a way from one to another takes 4 KiB.
const USUAL_PES_MAX: u32 = 2_048;

/// The most nodes that know each other as peers of an endpoint, some hundred bytes each.
const LEASED_NODES_MAX: u32 = 1_024;

/// The ground on which the nodes of a job are made, the same for all threads that drive some of them.
pub(super) struct Ground {
    pub(super) wires: Arc<Wires>,
    lookahead: u64,
    topology: Topology,
    /// By node, the lowest one of its host.
    lowest: Vec<NodeId>,
    choice: DeviceChoice,
    numbers: Arc<JobNumbers>,
    above: Above,
}

/// The nodes of a job that one thread drives, before anything happens.
pub(super) struct Made {
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) ambients: Vec<Rc<Ambient>>,
    pub(super) wires: Arc<Wires>,
    /// Which of the districts of the wires these nodes are.
    pub(super) district: u32,
    /// Time within which one node after the other may go on, because nothing that happens meanwhile is felt elsewhere, in nanoseconds; 1 where
    /// they may not.
    pub(super) lookahead: u64,
    /// The time of their devices.
    pub(super) devices: VirtualTime,
    pub(super) common: Rc<Common>,
    /// The ledger of all nodes, if the job is audited.
    pub(super) book: Option<Shared>,
}

/// How far nodes may go on apart, one or some after the other, because what happens at one is felt at others no sooner, in nanoseconds.
///
/// # Errors
/// Why they may not at all, in words.
fn lookahead(shape: &Shape, has_devices: bool) -> Result<u64, String> {
    let refuse = |what: &str| Err(format!("several threads drive a simulated job only {what}"));
    match shape.network {
        _ if shape.nodes == 1 => Ok(1),
        None => refuse("where a model describes its network (`+model`): chance is drawn by one"),
        Some(network) if network.least_latency_ns() == 0 => {
            refuse("where messages are on their way for some time: give the model's `L` a value")
        }
        Some(_) if has_devices => refuse("without devices, which nodes of a host share"),
        Some(_) if shape.is_audited => refuse("that is not audited"),
        Some(_) if [Chance::Pauses, Chance::Losses].into_iter().any(|part| shape.chances.has(part)) => {
            refuse("whose nodes neither pause nor are lost")
        }
        Some(network) => Ok(network.least_latency_ns()),
    }
}

/// Lays the ground of a job of this shape.
///
/// # Errors
/// When the program's types cannot be told apart, or the options do not fit the machine or each other.
pub(super) fn lay(shape: &Shape, drawn: &Drawn, options: &NodeOptions) -> Result<Ground, JobError> {
    let &Shape { nodes, pes, seed, network, ref costs, chances, .. } = shape;
    life::check_names()?;
    let asked = life::above_of(options)?;
    let choice = match &options.device {
        DeviceChoice::Software(devices) => DeviceChoice::Software(devices.clone()),
        // What the machine has is no part of the job.
        DeviceChoice::Found | DeviceChoice::None => DeviceChoice::None,
        DeviceChoice::Cuda => {
            let cause = "the devices of a simulated job are `+device software` or `+device software:N`";
            return Err(JobError::Config(cause.to_owned()));
        }
    };
    if shape.fidelity == Fidelity::Leased && nodes > LEASED_NODES_MAX {
        return Err(JobError::Config(format!(
            "nodes that reach memory by leases know all others, so a job has {LEASED_NODES_MAX} of them at most, and not {nodes}: \
             `+fidelity direct` takes more"
        )));
    }
    let lookahead = match lookahead(shape, !matches!(choice, DeviceChoice::None)) {
        Err(cause) if shape.threads > 1 => return Err(JobError::Config(cause)),
        lookahead => lookahead.unwrap_or(1),
    };
    if let Some((shape, places)) = network.and_then(|it| Some((it.shape, it.shape.nodes()?)))
        && places < u64::from(nodes)
    {
        return Err(JobError::Config(format!(
            "a network of the shape {shape} has {places} places, for {nodes} nodes"
        )));
    }
    panics::install_hook();
    device::place_values();
    let host_of = |node| host_of(shape, node);
    let mut lowest: Vec<NodeId> = Vec::with_capacity(nodes as usize);
    for node in 0..nodes {
        let beside = lowest.last().copied().filter(|_| host_of(node - 1) == host_of(node));
        lowest.push(beside.unwrap_or(NodeId(node)));
    }
    let topology = Topology::new(&lowest, pes);
    let wires = match network {
        Some(network) => Wires::modelled(nodes, seed, network, shape.threads.min(nodes)),
        None => Wires::under(nodes, seed, chances, drawn.calm_from),
    };
    let mailbox_bound = asked.mailbox_bound.or(drawn.mailbox);
    let are_many = topology.pes() > USUAL_PES_MAX;
    let above = Above {
        is_timed: asked.is_timed || costs.is_some(),
        mailbox_bound,
        has_ways: mailbox_bound.is_some() || !are_many,
        answers: if are_many { FEW_ANSWERS } else { ANSWERS },
        kept_bytes_max: Some(drawn.kept_bytes_max),
        ..asked
    };
    Ok(Ground { wires, lookahead, topology, lowest, choice, numbers: JobNumbers::begin_anew(), above })
}

/// The host of a node: these are spread as evenly as they can be, neighbours by number on one.
fn host_of(&Shape { hosts, nodes, .. }: &Shape, node: u32) -> u64 {
    u64::from(node) * u64::from(hosts) / u64::from(nodes)
}

/// Makes the nodes of a district, on the thread that will drive them.
///
/// # Errors
/// When a node finds no room on the machine.
pub(super) fn make(
    shape: &Shape,
    drawn: &Drawn,
    options: &NodeOptions,
    Ground { wires, lookahead, topology, lowest, choice, numbers, above }: &Ground,
    district: u32,
) -> Result<Made, JobError> {
    let &Shape { nodes, pes, seed, fidelity, device_speeds, is_audited, .. } = shape;
    let device_time = VirtualTime::new(device_speeds, clock::now_ns, clock::spend);
    let common = Rc::new(drawn.common());
    let ids = wires.nodes_of(district).map(NodeId);
    let ambients: Vec<Rc<Ambient>> =
        ids.clone().map(|id| Ambient::of_job(seed, id.0.into(), &common)).collect();
    let book = is_audited.then(Shared::default);
    let open = |(id, ambient): (NodeId, &Rc<Ambient>)| {
        ambient.within(0, 0, || {
            // Neighbours by number are on one host.
            let lowest_here = lowest[id.index()];
            let end = lowest.partition_point(|beside| *beside <= lowest_here) as u32;
            let (neighbours, host_nodes) = (lowest_here.0..end, end - lowest_here.0);
            let network = Reach::simulated(id, nodes, neighbours, wires, fidelity, &options.network)
                .map_err(|cause: LrtsError| JobError::Lrts { node: id, cause })?;
            let (first, host_pes) = ((id.0 - lowest_here.0) * pes, host_nodes * pes);
            let devices = Devices::new(choice.clone(), (first, host_pes), pes);
            let devices = devices.within(device_time.clone(), id.0.into(), host_of(shape, id.0));
            // Each has the machine's memory for itself: what a node may keep is not to hang on how many there are.
            let mut node =
                Node::new(id, topology.clone(), network, devices, (1, Arc::clone(numbers)), above.clone());
            if let Some(book) = &book {
                node.ledger = Ledger::kept_in(book);
            }
            let node = Arc::new(node);
            life::start_timeline(&node);
            Ok(node)
        })
    };
    let nodes = ids.zip(&ambients).map(open).collect::<Result<_, JobError>>()?;
    let (wires, devices, lookahead) = (Arc::clone(wires), device_time, *lookahead);
    Ok(Made { nodes, ambients, wires, district, lookahead, devices, common, book })
}

/// Asks for an audit when `main` is over, nothing is in flight, and the nodes have had time to settle.
pub(super) fn with_audit(main: Main, due: &Arc<AtomicBool>) -> Main {
    let due = Arc::clone(due);
    Box::new(move || {
        Box::pin(async move {
            main().await;
            context::all_over().await;
            time::sleep(SETTLED).await;
            due.store(true, Ordering::Relaxed);
            // Before the job ends.
            tasks::yield_now().await;
        })
    })
}
