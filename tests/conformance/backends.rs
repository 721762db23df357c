//! Backends under test, and the way in which the suite opens each.

use crate::group::{Backend, Group, Node, PATIENCE};
use crate::loopback::Loopback;
#[cfg(feature = "sim")]
use crate::simulated::Simulated;
use crate::unruly::Unruly;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::local::Local;
use chare_lrts::cma::{Cma, Permit, permit};
use chare_lrts::emulated::Emulated;
use chare_lrts::host::HostPeers;
#[cfg(any(feature = "ofi", feature = "verbs"))]
use chare_lrts::leased::Leased;
use chare_lrts::memcpy::{Hub, Memcpy};
#[cfg(feature = "ofi")]
use chare_lrts::ofi::{self, OfiOptions};
use chare_lrts::reach::{Reach, ReachOptions};
use chare_lrts::shm::Shm;
use chare_lrts::tcp::{Tcp, TcpOptions};
#[cfg(feature = "verbs")]
use chare_lrts::verbs::{self, VerbsOptions};
use chare_lrts::wrappers::FaultPlan;
use chare_lrts::{Lrts, LrtsError, NodeId, Regions};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Every backend, in the order in which they are checked.
pub(crate) fn all() -> Vec<Rc<dyn Backend>> {
    vec![
        Rc::new(InProcess { name: "memcpy", open: memcpy, emulated: false }),
        Rc::new(InProcess { name: "emulated-memcpy", open: memcpy, emulated: true }),
        Rc::new(InProcess { name: "loopback", open: loopback, emulated: false }),
        Rc::new(InProcess { name: "emulated-loopback", open: loopback, emulated: true }),
        Rc::new(InProcess { name: "unruly", open: unruly, emulated: false }),
        Rc::new(InProcess { name: "emulated-unruly", open: unruly, emulated: true }),
        #[cfg(feature = "sim")]
        Rc::new(InProcess { name: "sim", open: simulated, emulated: true }),
        #[cfg(feature = "sim")]
        Rc::new(InProcess { name: "sim-modelled", open: modelled, emulated: true }),
        #[cfg(feature = "sim")]
        Rc::new(InProcess { name: "sim-leased", open: leased, emulated: false }),
        #[cfg(feature = "sim")]
        Rc::new(InProcess { name: "emulated-sim-leased", open: leased, emulated: true }),
        #[cfg(feature = "sim")]
        Rc::new(InProcess { name: "sim-direct", open: direct, emulated: false }),
        Rc::new(Opened { serves_its_own_node: false, ..Opened::new("shm", shm) }),
        Rc::new(Opened::emulated("emulated-shm", emulated_shm)),
        Rc::new(Opened { serves_its_own_node: false, ..Opened::new("cma", cma) }),
        Rc::new(Opened::new("tcp", tcp)),
        Rc::new(Opened::emulated("emulated-tcp", emulated_tcp)),
        reach("reach", ReachOptions::default()),
        reach("reach-shm", named("shm")),
        reach("reach-cma", named("cma")),
        reach("reach-emulated", named("emulated")),
        reach("reach-tcp", named("tcp")),
        reach("reach-nocma", ReachOptions { nocma: true, ..ReachOptions::default() }),
        reach("reach-noshm", ReachOptions { noshm: true, ..ReachOptions::default() }),
        reach("reach-nolocal", ReachOptions { nolocal: true, ..ReachOptions::default() }),
        reach("reach-encrypt", ReachOptions { nolocal: true, encrypt: true, ..ReachOptions::default() }),
        reach("reach-clear", ReachOptions { nolocal: true, clear: true, ..ReachOptions::default() }),
        reach("reach-trace", ReachOptions { trace: Some(trace_file()), ..ReachOptions::default() }),
        reach("reach-fault", ReachOptions { fault: Some(bad_day()), ..ReachOptions::default() }),
        reach("reach-fault-emulated", ReachOptions { fault: Some(bad_day()), ..named("emulated") }),
        reach("reach-fault-tcp", ReachOptions { fault: Some(bad_day()), nocma: true, ..named("tcp") }),
        #[cfg(feature = "ofi")]
        Rc::new(ofi("ofi-tcp", "tcp;ofi_rxm")),
        #[cfg(feature = "ofi")]
        Rc::new(ofi("ofi-net", "net")),
        #[cfg(feature = "ofi")]
        Rc::new(Opened { hang_of_survivors: Some(LOCK_OF_THE_DEAD), ..ofi("ofi-shm", "shm") }),
        #[cfg(feature = "ofi")]
        Rc::new(ofi("ofi-udp", "udp;ofi_rxd")),
        #[cfg(feature = "ofi")]
        Rc::new(ofi("ofi-sockets", "sockets")),
        #[cfg(feature = "ofi")]
        Rc::new(Opened { crash_of_survivors: Some(ENDED_CONNECTIONS), ..ofi("ofi-rdma", "verbs;ofi_rxm") }),
        #[cfg(feature = "ofi")]
        Rc::new(Opened::emulated("emulated-ofi", emulated_ofi)),
        #[cfg(feature = "ofi")]
        reach("reach-ofi", named("ofi")),
        #[cfg(feature = "ofi")]
        reach("reach-fault-ofi", ReachOptions { fault: Some(bad_day()), ..named("ofi") }),
        #[cfg(feature = "verbs")]
        Rc::new(Opened::new("verbs", native_verbs)),
        #[cfg(feature = "verbs")]
        Rc::new(Opened::emulated("emulated-verbs", emulated_verbs)),
        #[cfg(feature = "verbs")]
        reach("reach-verbs", ReachOptions { verbs: verbs_devices(), ..named("verbs") }),
    ]
}

/// The file of the suite's traces, each over the last.
fn trace_file() -> PathBuf {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance-trace").into()
}

/// Faults of a network that the checks do not forbid: some of them count on room.
fn bad_day() -> FaultPlan {
    "delay=200,seed=1".parse().expect("it is a list of faults")
}

/// Seen in libfabric 1.17.0: the survivor spins in `fi_cq_read` on the lock at the start of its own region.
#[cfg(feature = "ofi")]
const LOCK_OF_THE_DEAD: &str =
    "a sender holds a spinning lock in the receiver's shared memory, and one that is killed never lets it go";

/// Seen in libfabric 1.17.0 over soft-RoCE.
#[cfg(feature = "ofi")]
const ENDED_CONNECTIONS: &str =
    "`verbs;ofi_rxm` dies of a segmentation fault in `fi_cq_read` after a connection's end";

/// Nodes on one provider of libfabric.
#[cfg(feature = "ofi")]
fn ofi(name: &'static str, provider: &'static str) -> Opened {
    let open = move |bootstrap: &mut dyn Bootstrap| {
        let regions = regions(bootstrap)?;
        Ok(Node::with_heap(Arc::new(join(bootstrap, &regions, provider)?), regions))
    };
    Opened::new(name, open)
}

#[cfg(feature = "ofi")]
fn emulated_ofi(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let regions = regions(bootstrap)?;
    let ofi = join(bootstrap, &regions, "tcp;ofi_rxm")?;
    let lrts = Emulated::new(ofi, Arc::clone(&regions), bootstrap.nodes());
    Ok(Node::with_heap(Arc::new(lrts), regions))
}

#[cfg(feature = "ofi")]
fn join(bootstrap: &mut dyn Bootstrap, regions: &Arc<Regions>, provider: &str) -> Result<Leased, LrtsError> {
    let options = OfiOptions { provider: Some(provider.to_owned()), ..OfiOptions::default() };
    let peers = others(bootstrap);
    ofi::open(bootstrap, &peers, Arc::clone(regions), &options, PATIENCE)
}

#[cfg(feature = "verbs")]
fn native_verbs(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let regions = regions(bootstrap)?;
    Ok(Node::with_heap(Arc::new(join_verbs(bootstrap, &regions)?), regions))
}

#[cfg(feature = "verbs")]
fn emulated_verbs(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let regions = regions(bootstrap)?;
    let verbs = join_verbs(bootstrap, &regions)?;
    let lrts = Emulated::new(verbs, Arc::clone(&regions), bootstrap.nodes());
    Ok(Node::with_heap(Arc::new(lrts), regions))
}

#[cfg(feature = "verbs")]
fn join_verbs(bootstrap: &mut dyn Bootstrap, regions: &Arc<Regions>) -> Result<Leased, LrtsError> {
    let options = VerbsOptions { device: verbs_devices(), ..VerbsOptions::default() };
    let peers = others(bootstrap);
    verbs::open(bootstrap, &peers, Arc::clone(regions), &options, PATIENCE)
}

/// The devices that programs would use here, too.
#[cfg(feature = "verbs")]
fn verbs_devices() -> Option<String> {
    std::env::var("CHARE_VERBS").ok()
}

fn others(bootstrap: &dyn Bootstrap) -> Vec<NodeId> {
    let me = bootstrap.node();
    (0..bootstrap.nodes()).map(NodeId).filter(|peer| *peer != me).collect()
}

/// Opens nodes with these tables, their get and put made of messages or not.
type OpenAll = fn(Vec<Arc<Regions>>, bool) -> Result<Vec<Node>, String>;

/// Nodes of one process that need no bootstrap.
struct InProcess {
    name: &'static str,
    open: OpenAll,
    emulated: bool,
}

/// Nodes that meet at a hub.
fn memcpy(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    let hub = Hub::new(regions.len() as u32).map_err(|error| error.to_string())?;
    let job = regions.iter().map(|regions| Memcpy::open(&hub, Arc::clone(regions))).collect();
    Ok(with_regions(job, regions, emulated))
}

fn loopback(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    let job = Loopback::job(regions.len() as u32).map_err(|error| error.to_string())?;
    Ok(with_regions(job, regions, emulated))
}

/// Nodes on a network that keeps no order but what it has to.
fn unruly(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    let job = Loopback::job(regions.len() as u32).map_err(|error| error.to_string())?;
    Ok(with_regions(job.into_iter().map(Unruly::new).collect(), regions, emulated))
}

/// Nodes on the simulated network, which a seed decides.
#[cfg(feature = "sim")]
fn simulated(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    Ok(with_regions(Simulated::job(&regions), regions, emulated))
}

/// The same network, which a model describes.
#[cfg(feature = "sim")]
fn modelled(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    Ok(with_regions(Simulated::modelled(&regions), regions, emulated))
}

/// The same network, whose nodes reach each other's memory under leases.
#[cfg(feature = "sim")]
fn leased(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    Ok(with_regions(Simulated::leased(&regions), regions, emulated))
}

/// The same network, whose nodes reach each other's memory at once.
#[cfg(feature = "sim")]
fn direct(regions: Vec<Arc<Regions>>, emulated: bool) -> Result<Vec<Node>, String> {
    Ok(with_regions(Simulated::direct(&regions), regions, emulated))
}

fn with_regions<L: Lrts + 'static>(job: Vec<L>, regions: Vec<Arc<Regions>>, emulated: bool) -> Vec<Node> {
    let nodes = regions.len() as u32;
    let node = |(lrts, regions): (L, Arc<Regions>)| match emulated {
        false => Node::with_heap(Arc::new(lrts), regions),
        true => Node::with_heap(Arc::new(Emulated::new(lrts, Arc::clone(&regions), nodes)), regions),
    };
    job.into_iter().zip(regions).map(node).collect()
}

impl Backend for InProcess {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_emulated(&self) -> bool {
        self.emulated
    }

    fn open(&self, nodes: u32) -> Result<Group, String> {
        let table = |index| Regions::new(NodeId(index)).map(Arc::new).map_err(|error| error.to_string());
        let regions = (0..nodes).map(table).collect::<Result<_, String>>()?;
        (self.open)(regions, self.emulated).map(Group::new)
    }

    fn open_one(&self, _: &mut dyn Bootstrap) -> Result<Node, String> {
        Err("nodes of one process".to_owned())
    }

    fn one_process_only(&self) -> Option<&'static str> {
        Some("its nodes are one process and die together")
    }
}

type Open = Arc<dyn Fn(&mut dyn Bootstrap) -> Result<Node, LrtsError> + Send + Sync>;

/// Opens all nodes of a job at once, since each waits for the others.
fn open_job<T: Send>(
    nodes: u32,
    open: &(dyn Fn(&mut dyn Bootstrap) -> Result<T, LrtsError> + Sync),
) -> Result<Vec<T>, LrtsError> {
    let job = Local::job(nodes).map_err(|error| LrtsError::Bootstrap(error.to_string()))?;
    std::thread::scope(|scope| {
        let openers: Vec<_> =
            job.into_iter().map(|mut bootstrap| scope.spawn(move || open(&mut bootstrap))).collect();
        let opened: Vec<_> =
            openers.into_iter().map(|opener| opener.join().expect("no opener panicked")).collect();
        opened.into_iter().collect()
    })
}

/// A job whose paths follow options.
pub(crate) fn open_reach(nodes: u32, options: &ReachOptions) -> Result<Vec<Arc<Reach>>, LrtsError> {
    open_job(nodes, &|bootstrap| Reach::open(bootstrap, options).map(Arc::new))
}

/// Nodes whose paths follow options.
fn reach(name: &'static str, options: ReachOptions) -> Rc<dyn Backend> {
    let open = move |bootstrap: &mut dyn Bootstrap| {
        let reach = Arc::new(Reach::open(bootstrap, &options)?);
        let (regions, arenas) = (Arc::clone(reach.regions()), Arc::clone(&reach));
        Ok(Node { lrts: reach, regions, allocate: Box::new(move |len| arenas.allocate(len)) })
    };
    Rc::new(Opened::emulated(name, open))
}

/// `+lrts NAME` alone.
pub(crate) fn named(name: &str) -> ReachOptions {
    ReachOptions { lrts: Some(name.to_owned()), ..ReachOptions::default() }
}

/// Nodes that meet by their bootstrap.
struct Opened {
    name: &'static str,
    open: Open,
    is_emulated: bool,
    serves_its_own_node: bool,
    hang_of_survivors: Option<&'static str>,
    crash_of_survivors: Option<&'static str>,
}

impl Opened {
    /// Without peculiarities.
    fn new(
        name: &'static str,
        open: impl Fn(&mut dyn Bootstrap) -> Result<Node, LrtsError> + Send + Sync + 'static,
    ) -> Self {
        let (hang_of_survivors, crash_of_survivors) = (None, None);
        let (is_emulated, serves_its_own_node, open) = (false, true, Arc::new(open));
        Self { name, open, is_emulated, serves_its_own_node, hang_of_survivors, crash_of_survivors }
    }

    /// The same, with get and put made of messages.
    fn emulated(
        name: &'static str,
        open: impl Fn(&mut dyn Bootstrap) -> Result<Node, LrtsError> + Send + Sync + 'static,
    ) -> Self {
        Self { is_emulated: true, ..Self::new(name, open) }
    }
}

impl Backend for Opened {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_emulated(&self) -> bool {
        self.is_emulated
    }

    fn open(&self, nodes: u32) -> Result<Group, String> {
        let nodes = open_job(nodes, &*self.open).map_err(|error| error.to_string())?;
        Ok(Group::new(nodes))
    }

    fn open_one(&self, bootstrap: &mut dyn Bootstrap) -> Result<Node, String> {
        (self.open)(bootstrap).map_err(|error| error.to_string())
    }

    fn serves_its_own_node(&self) -> bool {
        self.serves_its_own_node
    }

    fn hang_of_survivors(&self) -> Option<&'static str> {
        self.hang_of_survivors
    }

    fn crash_of_survivors(&self) -> Option<&'static str> {
        self.crash_of_survivors
    }
}

fn regions(bootstrap: &dyn Bootstrap) -> Result<Arc<Regions>, LrtsError> {
    Regions::new(bootstrap.node()).map(Arc::new)
}

fn connect(bootstrap: &mut dyn Bootstrap) -> Result<Tcp, LrtsError> {
    let peers = others(bootstrap);
    Tcp::open(bootstrap, &peers, &TcpOptions::default(), PATIENCE)
}

/// A node whose memory neighbours can map.
fn with_arenas(lrts: Arc<dyn Lrts>, host: &Arc<HostPeers>) -> Node {
    let arenas = Arc::clone(host.arenas());
    let allocate = move |len| arenas.allocate(len).expect("there is shareable memory");
    Node { lrts, regions: Arc::clone(host.regions()), allocate: Box::new(allocate) }
}

fn meet(bootstrap: &mut dyn Bootstrap) -> Result<Arc<HostPeers>, LrtsError> {
    let regions = regions(bootstrap)?;
    HostPeers::open(bootstrap, regions, PATIENCE)
}

fn shm(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let host = meet(bootstrap)?;
    Ok(with_arenas(Arc::new(Shm::open(Arc::clone(&host))), &host))
}

fn emulated_shm(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let host = meet(bootstrap)?;
    let shm = Shm::open(Arc::clone(&host));
    let lrts = Emulated::new(shm, Arc::clone(host.regions()), bootstrap.nodes());
    Ok(with_arenas(Arc::new(lrts), &host))
}

fn cma(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    permit(Permit::Anybody);
    let host = meet(bootstrap)?;
    let cma = Cma::open(Arc::clone(&host));
    let other = NodeId(u32::from(bootstrap.node() == NodeId(0)));
    if let Some(cause) = cma.denied(other) {
        return Err(LrtsError::Unreachable { peer: other, cause: cause.to_owned() });
    }
    Ok(Node::with_heap(Arc::new(cma), Arc::clone(host.regions())))
}

fn tcp(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    Ok(Node::with_heap(Arc::new(connect(bootstrap)?), regions(bootstrap)?))
}

fn emulated_tcp(bootstrap: &mut dyn Bootstrap) -> Result<Node, LrtsError> {
    let (tcp, regions) = (connect(bootstrap)?, regions(bootstrap)?);
    let lrts = Emulated::new(tcp, Arc::clone(&regions), bootstrap.nodes());
    Ok(Node::with_heap(Arc::new(lrts), regions))
}
