//! Opening: decides, once, which path leads to each node, and opens the backends that the paths need.
//!
//! Collective: all nodes of a job decide alike, because all have the same options and know who is whose neighbour.

use super::by_tcp::{self, Tcp, TcpOptions};
use super::network::open_network;
use super::options::{PATIENCE, ReachOptions, exclude};
use super::paths::{self, NoPath};
use super::route::{Carrier, Route};
use super::{Parts, Reach};
use crate::backends::{self, Backend, KernelCopy, Messages, Network};
use crate::bootstrap::Bootstrap;
use crate::cma::Cma;
use crate::emulated::Emulated;
#[cfg(feature = "dsa")]
use crate::engine::Dsa;
use crate::engine::{self, Engine};
use crate::error::LrtsError;
use crate::host::HostPeers;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::shm::Shm;
use crate::wrappers::Wrappers;
use std::sync::Arc;

/// Plan of the paths: a backend's meaning, less what the other options take from it.
struct Plan {
    backend: Backend,
    /// Messages between neighbours go through shared memory.
    shm: bool,
    mapping: bool,
    kernel_copy: bool,
    /// The network that reaches nodes which shared memory does not, if not TCP.
    network: Option<Network>,
    tcp: TcpOptions,
    /// The option that keeps neighbours from shared memory, if any.
    forbidden_by: Option<&'static str>,
}

impl Plan {
    fn new(options: &ReachOptions) -> Result<Self, LrtsError> {
        let backend = match &options.lrts {
            Some(name) => backends::find(name)?,
            None => backends::NEAREST,
        };
        let network = network(backend, options)?;
        check_tags(network, options)?;
        let forbidden_by = match (options.nolocal, options.noshm) {
            (true, _) => Some("+nolocal"),
            (false, true) => Some("+noshm"),
            (false, false) => None,
        };
        let shm = matches!(backend.messages, Messages::Nearest | Messages::Shm) && forbidden_by.is_none();
        Ok(Self {
            backend,
            shm,
            mapping: backend.mapping && shm,
            network,
            tcp: by_tcp::plan(network, options)?,
            kernel_copy: backend.kernel_copy != KernelCopy::Forbidden && !options.nocma && !options.nolocal,
            forbidden_by,
        })
    }

    /// Which backend carries messages to a node.
    fn carrier(&self, peer: NodeId, is_neighbour: bool) -> Result<Carrier, LrtsError> {
        let name = self.backend.name;
        let unreachable = |cause| Err(LrtsError::Unreachable { peer, cause });
        let is_allowed = self.forbidden_by.is_none();
        paths::carrier(self.backend.messages, is_allowed, self.network.is_some(), is_neighbour).or_else(
            |why| {
                unreachable(match why {
                    NoPath::OneProcess => {
                        format!("`+lrts {name}` serves one process and this job has more; leave it out")
                    }
                    NoPath::Forbidden => {
                        let option = self.forbidden_by.unwrap_or_default();
                        format!("`+lrts {name}` and `{option}` exclude each other; leave one out")
                    }
                    NoPath::OneHost => format!(
                        "it is not on this host, which is as far as `+lrts {name}` goes; use `+lrts tcp`"
                    ),
                })
            },
        )
    }

    fn needs_host_peers(&self) -> bool {
        self.shm || self.kernel_copy
    }
}

/// Checks that the options about tags fit the others.
fn check_tags(network: Option<Network>, options: &ReachOptions) -> Result<(), LrtsError> {
    match (options.tags, options.clear, network) {
        (true, true, _) => exclude("+tags", "+clear".to_owned()),
        (true, false, None) => Err(LrtsError::Bootstrap(
            "`+tags` puts tags on what goes over ofi, verbs or mpi, and the job uses none of them; TCP's frames between hosts have tags without it: leave it out".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Checks that all nodes have the same option about tags. Collective where there is a network.
///
/// # Errors
/// What does not fit, in words.
fn agree_on_tags(
    bootstrap: &mut dyn Bootstrap,
    network: Option<Network>,
    options: &ReachOptions,
) -> Result<(), LrtsError> {
    if network.is_none() {
        return Ok(());
    }
    let all = bootstrap.all_gather(vec![u8::from(options.tags)])?;
    let unlike = (0..).map(NodeId).zip(all).find(|(_, theirs)| *theirs != [u8::from(options.tags)]);
    unlike.map_or(Ok(()), |(peer, _)| {
        let [its, ours] = if options.tags { ["without", "with"] } else { ["with", "without"] };
        Err(LrtsError::Bootstrap(format!(
            "{peer} was started {its} `+tags`, and this node {ours}; start all nodes with the same options"
        )))
    })
}

/// The nodes to which no bit flips though the options ask for it, in words.
fn spared(options: &ReachOptions, carriers: &[Carrier], tcp: Option<&Tcp>) -> Option<String> {
    options.fault.as_ref()?.flip?;
    let is_spared = |(peer, carrier): (NodeId, &Carrier)| match carrier {
        Carrier::Myself => false,
        Carrier::Tcp => tcp.is_none_or(|tcp| tcp.protection(peer).is_empty()),
        Carrier::Shm | Carrier::Fabric => true,
    };
    let spared = (0..).map(NodeId).zip(carriers).filter(|one| is_spared(*one)).count();
    (spared > 0).then(|| {
        format!(
            "`+fault flip` changes nothing on the way to {spared} nodes: only TCP between hosts has tags that tell of it; `+nolocal` makes each node a host of its own"
        )
    })
}

/// The network that the options ask for, if they ask for one.
fn network(backend: Backend, options: &ReachOptions) -> Result<Option<Network>, LrtsError> {
    let asked = match (&options.ofi, &options.verbs) {
        (Some(_), Some(_)) => return exclude("+ofi", "+verbs".to_owned()),
        (Some(_), None) => Some((Network::Ofi, "+ofi")),
        (None, Some(_)) => Some((Network::Verbs, "+verbs")),
        (None, None) => None,
    };
    // Also where no node would use it: the user believes that it is used.
    if let Some((network, option)) = asked {
        backends::require(network.name(), || option.to_owned())?;
    }
    match (backend.messages, asked) {
        #[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
        (Messages::Network(own), None) => Ok(Some(own)),
        #[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
        (Messages::Network(own), Some((asked, _))) if own == asked => Ok(Some(own)),
        (Messages::Nearest, asked) => Ok(asked.map(|(network, _)| network)),
        (_, Some((_, option))) => exclude(option, format!("+lrts {}", backend.name)),
        (_, None) => Ok(None),
    }
}

impl ReachOptions {
    /// Checks what can be known before other nodes are: that the options fit each other, and that this build can follow them.
    ///
    /// # Errors
    /// An unknown backend, a feature that the build lacks, or options that exclude each other.
    pub fn check(&self) -> Result<(), LrtsError> {
        Plan::new(self).map(drop)
    }
}

impl Reach {
    /// Opens all that the paths to the other nodes need: shared memory and its private sockets between
    /// neighbours, TCP to the rest. Blocks until all nodes have done so. Collective.
    ///
    /// # Errors
    /// An unknown backend, a node that no path leads to, one that does not come in time, or the kernel's.
    pub fn open(bootstrap: &mut dyn Bootstrap, options: &ReachOptions) -> Result<Self, LrtsError> {
        let plan = Plan::new(options)?;
        let (node, nodes) = (bootstrap.node(), bootstrap.nodes());
        bootstrap.listen(&options.listening)?;
        let regions = Arc::new(Regions::new(node)?);
        agree_on_tags(bootstrap, plan.network, options)?;
        let tags = options.tags.then(|| (bootstrap.key().clone(), nodes));
        let wrappers = Wrappers::new(node, options.traced(), options.fault.as_ref(), tags)?;
        let host_peers = match plan.needs_host_peers() && nodes > 1 {
            true => Some(HostPeers::open(bootstrap, Arc::clone(&regions), PATIENCE)?),
            false => None,
        };
        let is_neighbour =
            |peer| host_peers.as_ref().is_some_and(|host| host.nodes().any(|neighbour| neighbour == peer));
        let carrier = |peer| match peer == node {
            true => Ok(Carrier::Myself),
            false => plan.carrier(peer, is_neighbour(peer)),
        };
        let carriers: Vec<Carrier> = (0..nodes).map(NodeId).map(carrier).collect::<Result<_, _>>()?;
        let by = |wanted| (0..nodes).map(NodeId).filter(|peer| carriers[peer.index()] == wanted).collect();
        let tcp_peers: Vec<NodeId> = by(Carrier::Tcp);
        let fabric_peers: Vec<NodeId> = by(Carrier::Fabric);
        let tcp = by_tcp::open(bootstrap, &tcp_peers, &plan.tcp)?;
        let shm = host_peers.as_ref().filter(|_| plan.shm).map(|host| Shm::open(Arc::clone(host)));
        let cma = match host_peers.as_ref().filter(|_| plan.kernel_copy) {
            Some(host) => Some(Cma::agree(Arc::clone(host), bootstrap)?),
            None => None,
        };
        let (engines, no_engine) = open_engines(node, options);
        let cma_warning = cma.as_ref().and_then(Cma::warning);
        let warnings = cma_warning
            .into_iter()
            .chain(spared(options, &carriers, tcp.as_ref()))
            .chain(no_engine)
            .collect();
        if plan.backend.kernel_copy == KernelCopy::Required {
            require_kernel_copy(&carriers, cma.as_ref())?;
        }
        let arenas = host_peers
            .as_ref()
            .filter(|host| plan.mapping && host.nodes().next().is_some())
            .map(|host| Arc::clone(host.arenas()));
        let tcp = tcp.map(|tcp| wrappers.around(tcp)).transpose()?;
        let tcp = tcp.map(|tcp| Emulated::new(tcp, Arc::clone(&regions), nodes));
        let shm = shm.map(|shm| wrappers.around(shm)).transpose()?;
        let shm = shm.map(|shm| Emulated::new(shm, Arc::clone(&regions), nodes));
        // Either all nodes have peers of other hosts or none has.
        let fabric = match plan.network.filter(|_| !fabric_peers.is_empty()) {
            None => None,
            Some(network) => {
                Some(open_network(bootstrap, &fabric_peers, &regions, (options, &wrappers), network)?)
            }
        };
        let route = |(peer, messages)| Route {
            messages,
            mapping: plan.mapping && messages == Carrier::Shm,
            kernel_copy: is_neighbour(peer) && cma.as_ref().is_some_and(|cma| cma.denied(peer).is_none()),
            direct: messages == Carrier::Fabric,
        };
        let routes = (0..).map(NodeId).zip(carriers).map(route).collect();
        let cma = cma.map(|cma| wrappers.around(cma)).transpose()?;
        let trace = wrappers.trace_file().cloned();
        Self::assemble(Parts {
            regions,
            host_peers,
            routes,
            shm,
            tcp,
            fabric,
            cma,
            arenas,
            engines,
            thresholds: engine::measure(),
            trace,
            warnings,
        })
    }
}

/// The engines that the options ask for; what is not to be had is told in words, since processors copy as well.
fn open_engines(node: NodeId, options: &ReachOptions) -> (Vec<Box<dyn Engine>>, Option<String>) {
    match options.dsa.then(|| open_dsa(node)) {
        None => (Vec::new(), None),
        Some(Ok(dsa)) => (vec![dsa], None),
        Some(Err(why)) => (Vec::new(), Some(format!("no DSA for `+dsa`, so processors copy: {why}"))),
    }
}

#[cfg(feature = "dsa")]
fn open_dsa(node: NodeId) -> Result<Box<dyn Engine>, String> {
    Ok(Box::new(Dsa::open(node)?))
}

#[cfg(not(feature = "dsa"))]
fn open_dsa(_: NodeId) -> Result<Box<dyn Engine>, String> {
    Err("this program was built without the feature `dsa` of the crate `chare`".to_owned())
}

/// Fails unless the memory of all other nodes can be copied by the kernel.
fn require_kernel_copy(carriers: &[Carrier], cma: Option<&Cma>) -> Result<(), LrtsError> {
    for (index, carrier) in carriers.iter().enumerate() {
        let peer = NodeId(index as u32);
        let cause = match (carrier, cma) {
            (Carrier::Myself, _) => continue,
            (_, None) => "`+lrts cma` and `+nocma` exclude each other; leave one out".to_owned(),
            (_, Some(cma)) => match cma.denied(peer) {
                None => continue,
                Some(cause) => format!("copying its memory (CMA) is not possible: {cause}; use `+lrts shm`"),
            },
        };
        return Err(LrtsError::Unreachable { peer, cause });
    }
    Ok(())
}
