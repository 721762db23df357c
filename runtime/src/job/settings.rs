//! Settings of a run: what `+options` say, or a program that has its own way to ask.

use super::cpus::CpuList;
use super::pes::Pes;
use crate::model::nocopy::LayoutMethod;
use crate::node::balancing::BalanceWhen;
use crate::node::devices::{DeviceChoice, DeviceModels};
use crate::node::seeds::Seeds;
use chare_lrts::bootstrap::listening::{Interface, Ports};
use chare_lrts::wrappers::{FaultPlan, TraceWindow};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// The exit code of a program that starts nothing, because its options are wrong or do not fit the machine.
#[cfg_attr(not(feature = "launch"), expect(unreachable_pub, reason = "`launch` shows it"))]
pub const WRONG_OPTION: u8 = 2;

/// The settings of a run, which the `+options` of a command line fill in, or the program itself:
///
/// ```no_run
/// let mut config = chare::Config::default();
/// config.pes_per_node = chare::Pes::Number(4);
/// let program = chare::Program::new(config);
/// # let _ = program;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Config {
    /// `+p`: PEs of each node.
    pub pes_per_node: Pes,
    /// `+n`: nodes that the program starts on this host; at least 1.
    pub nodes: u32,
    /// `+lrts`: the backend to use, if one was named. The backends check whether it exists.
    pub lrts: Option<String>,
    /// `+nolocal`: treat nodes of one host as if they were on different hosts.
    pub nolocal: bool,
    /// `+nocma`: do not copy directly between the memories of two processes.
    pub nocma: bool,
    /// `+noshm`: no shared memory between processes.
    pub noshm: bool,
    /// `+dsa`: offer long copies within a host to a DSA first. Needs the feature `dsa`.
    pub dsa: bool,
    /// `+interface`: the interface on which nodes listen for those of other hosts.
    pub interface: Option<Interface>,
    /// `+ports`: the ports on which they listen.
    pub ports: Option<Ports>,
    /// `+encrypt`: seal what goes over TCP between hosts.
    pub encrypt: bool,
    /// `+tags`: put tags on what goes over ofi, verbs and mpi.
    pub tags: bool,
    /// `+clear`: leave out the tags of what goes over TCP between hosts.
    pub clear: bool,
    /// `+ofi`: libfabric's name of the provider that reaches nodes of other hosts.
    pub ofi: Option<String>,
    /// `+verbs`: the RDMA devices that reach nodes of other hosts.
    pub verbs: Option<String>,
    /// `+mpi`: the shared library of the MPI that `+lrts mpi` uses.
    pub mpi: Option<String>,
    /// `+trace`: the file to which each node writes what its PEs do and what crosses its backends.
    pub trace: Option<PathBuf>,
    /// `+trace FILE,from=10,for=2`: the part of the job's time that they write.
    pub trace_window: TraceWindow,
    /// `+fault`: the faults to inject into the backends.
    pub fault: Option<FaultPlan>,
    /// `+pemap`: the CPUs that PEs are pinned to, in the order of the PEs; repeated when it is too short.
    pub pemap: Option<CpuList>,
    /// `+shuffle`: the seed of the order in which messages of equal priority run.
    pub shuffle: Option<u64>,
    /// `+balancer`: the balancer of elements that move, or several that take turns; see [`Balancer`](crate::Balancer).
    pub balancer: Option<String>,
    /// `+balance_every`: how often the balancer has a turn without a sync.
    pub balance_every: Option<Duration>,
    /// `+balance_when`: when the balancer has its turn.
    pub balance_when: BalanceWhen,
    /// `+balance_dump`: the file that what each balancing looks at and plans is written to, by node 0.
    pub balance_dump: Option<PathBuf>,
    /// `+again`: entries that may be called again ([`Again`](crate::Again)) are, wherever they might be: to test them.
    pub again: bool,
    /// `+seeds`: where singletons are created of which the program does not say where.
    pub seeds: Seeds,
    /// `+mailbox`: the messages that may wait for a PE from each other PE of its node; a PE that sends more waits.
    pub mailbox: Option<NonZeroU32>,
    /// `+layouts`: how laid-out memory of other processes is brought to its receiver, instead of the quickest way.
    pub layouts: Option<LayoutMethod>,
    /// `+device`: the devices that the PEs of each host are dealt.
    pub device: DeviceChoice,
    /// `+device_models`: where it is kept what the devices were measured to take.
    pub device_models: DeviceModels,
    /// `+sim`: the nodes of a simulated job, all of which this process runs. Needs the feature `sim`.
    pub sim: Option<u32>,
    /// `+hosts`: the hosts of a simulated job; 1 if nothing is said.
    pub hosts: Option<u32>,
    /// `+fidelity`: how memory moves between the nodes of a simulated job; see [`Simulation::fidelity`](crate::Simulation::fidelity).
    pub fidelity: Option<String>,
    /// `+threads`: the threads that run a simulated job; 1 if nothing is said.
    pub threads: Option<u32>,
    /// `+seed`: what decides a simulated job; 0 if nothing is said.
    pub seed: Option<u64>,
    /// `+model`: the model of a simulated job's network, as text, by which its time is predicted; [`Simulation::model`](crate::Simulation::model)
    /// takes it, too.
    pub model: Option<String>,
    /// `+costs`: how long entries of a simulated job take, in nanoseconds, or the file that says so for each.
    pub costs: Option<String>,
    /// `+stats`: print counters per PE at the end.
    pub stats: bool,
    /// `+times`: print how often each entry ran, and how long.
    pub times: bool,
    /// `+dashboard`: the address at which node 0 serves the job's dashboard.
    pub dashboard: Option<SocketAddr>,
    /// The processors that a batch system gave to this process, where nobody has said how many PEs are to use them.
    pub(crate) idle_processors: Option<u32>,
    /// The program's own arguments, without its name.
    pub program_arguments: Vec<String>,
}

impl Default for Config {
    /// One node with one PE, and nothing else asked for.
    fn default() -> Self {
        Self {
            pes_per_node: Pes::default(),
            nodes: 1,
            lrts: None,
            nolocal: false,
            nocma: false,
            noshm: false,
            dsa: false,
            interface: None,
            ports: None,
            encrypt: false,
            tags: false,
            clear: false,
            ofi: None,
            verbs: None,
            mpi: None,
            trace: None,
            trace_window: TraceWindow::default(),
            fault: None,
            pemap: None,
            shuffle: None,
            balancer: None,
            balance_every: None,
            balance_when: BalanceWhen::Always,
            balance_dump: None,
            again: false,
            seeds: Seeds::Random,
            mailbox: None,
            layouts: None,
            device: DeviceChoice::default(),
            device_models: DeviceModels::default(),
            sim: None,
            hosts: None,
            fidelity: None,
            threads: None,
            seed: None,
            model: None,
            costs: None,
            stats: false,
            times: false,
            dashboard: None,
            idle_processors: None,
            program_arguments: Vec::new(),
        }
    }
}
