//! Start-up of a program, from `main` to a running node: its options, its role in the job, and the exit code. How processes are launched
//! (`launch`) and how a node lives (`life`) never stands here.
//!
//! ```text
//! ./app            one process, a job of its own
//! ./app +n 4       this process becomes the launcher of four nodes and runs no PE
//! under a launcher this process finds its place and becomes a node: under our own, `mpirun`, `mpiexec` or `srun`
//! ```

#[cfg(feature = "launch")]
pub(crate) mod command_line;
mod end;
#[cfg(feature = "net")]
mod managed;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "launch"))]
mod no_launcher;
#[cfg(not(feature = "net"))]
mod not_managed;
mod start;
mod table;
mod telling;

use crate::base::numbering::JobNumbers;
use crate::job::asking;
#[cfg(feature = "dashboard")]
use crate::job::dashboard::Dashboard;
use crate::job::life::{self, Main, NodeOptions, ReadyNode};
use crate::job::pes::Pes;
use crate::job::settings::Config;
#[cfg(feature = "sim")]
use crate::job::settings::WRONG_OPTION;
#[cfg(feature = "sim")]
use crate::job::simulated::Simulation;
use crate::model::error::JobError;
#[cfg(feature = "dashboard")]
use crate::node::Node;
use crate::node::balancing::Balancing;
use crate::node::devices::DeviceChoice;
use crate::services::shutdown::{self, Held};
use chare_lrts::bootstrap::launched::{self, Launched, Ordered};
use chare_lrts::bootstrap::launchers;
use chare_lrts::bootstrap::listening::Listening;
#[cfg(feature = "net")]
use chare_lrts::bootstrap::managed::Managed;
use chare_lrts::bootstrap::single::Single;
use chare_lrts::bootstrap::{Bootstrap, quit};
use chare_lrts::reach::ReachOptions;
use chare_lrts::{LrtsError, NodeId, events};
use end::{End, exit_byte, join_within};
use rustix::process::{Signal, getpgrp, kill_process_group};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use telling::{Refusal, describe, describe_times, print, refuse, report, say};

/// How long PEs may go on with the entries they are in after a job has failed.
const GRACE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A program whose settings are known and which has not started, for callers that have settings of their own, look at the options or
/// change the paths between nodes before the start.
#[derive(Debug)]
pub struct Program {
    config: Config,
    network: ReachOptions,
}

impl Program {
    /// A program with these settings, whose command line is its own.
    ///
    /// ```
    /// let program = chare::Program::new(chare::Config::default());
    /// let code = program.run(|_arguments| async { assert_eq!(chare::pes(), 1) });
    /// assert_eq!(code, std::process::ExitCode::SUCCESS);
    /// ```
    ///
    /// # Panics
    /// If it has no PE or no node.
    pub fn new(config: Config) -> Self {
        assert!(
            config.nodes > 0 && config.pes_per_node != Pes::Number(0),
            "a job has at least one node and one PE"
        );
        let network = ReachOptions {
            lrts: config.lrts.clone(),
            nolocal: config.nolocal,
            nocma: config.nocma,
            noshm: config.noshm,
            dsa: config.dsa,
            encrypt: config.encrypt,
            clear: config.clear,
            tags: config.tags,
            ofi: config.ofi.clone(),
            trace: config.trace.clone(),
            trace_window: config.trace_window,
            fault: config.fault.clone(),
            verbs: config.verbs.clone(),
            listening: Listening { interface: config.interface.clone(), ports: config.ports },
        };
        Self { config, network }
    }

    /// The arguments that are the program's own.
    pub fn arguments(&self) -> &[String] {
        &self.config.program_arguments
    }

    /// PEs per node: `+p`.
    pub fn pes_per_node(&self) -> Pes {
        self.config.pes_per_node
    }

    /// Nodes that the program starts on this host: `+n`.
    pub fn nodes(&self) -> u32 {
        self.config.nodes
    }

    /// The devices that the PEs of each host are dealt: `+device`.
    pub fn devices(&self) -> &DeviceChoice {
        &self.config.device
    }

    /// Whether a launcher started this process as one node of its job; [`Program::nodes`] is then the launcher's business.
    pub fn is_launched(&self) -> bool {
        std::env::var_os(launched::VARIABLE).is_some() || matches!(launchers::processes(), Ok(Some(2..)))
    }

    /// The paths between nodes, as the options or [`Program::network`] chose them.
    pub fn paths(&self) -> &ReachOptions {
        &self.network
    }

    /// Chooses the paths between nodes instead of the options.
    pub fn network(mut self, network: ReachOptions) -> Self {
        self.network = network;
        self
    }

    /// Chooses the devices that PEs are dealt, in place of what `+device` said. All nodes of the job must choose alike.
    pub fn device(mut self, choice: DeviceChoice) -> Self {
        self.config.device = choice;
        self
    }

    /// Runs `main` on PE 0 with the program's own arguments, and returns the exit code for `fn main`.
    ///
    /// The job ends when any PE calls [`exit`](crate::exit()), or when `main` is over and nothing is in flight. The code is what `exit` was
    /// given, 0 at the end of `main`, 1 if the job failed, and 2 if nothing started because an option is wrong.
    ///
    /// A process of the job, unless that is simulated, that gets `SIGUSR1` makes the job say on standard error what waits in it, unless the program ignores or handles
    /// that signal itself when it calls this, or sets a handler later.
    ///
    /// It does not return where PEs may be in the middle of entries: in a process that its launcher tells to end, and in one whose entries
    /// go on for a second after the job has failed. What was printed is written there, and the process ends without exit handlers (C's
    /// `atexit`), which would take apart what those entries use.
    #[must_use = "the code says how the job ended: return it from `fn main() -> std::process::ExitCode`"]
    pub fn run<F, Fut>(self, main: F) -> ExitCode
    where
        F: FnOnce(Vec<String>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let arguments = self.config.program_arguments.clone();
        let main: Main = Box::new(move || Box::pin(main(arguments)));
        #[cfg(feature = "sim")]
        if let Some(nodes) = self.config.sim {
            return self.run_simulated(nodes, main);
        }
        let place = match self.check().and_then(|()| self.find_role()) {
            Ok(place) => place,
            Err(error) => return refuse(&error),
        };
        match place {
            Role::Launched(launched) => self.run_launched(launched, main),
            Role::Launcher => self.launch(),
            Role::Managed(managed) => {
                self.tell_of_idle_processors();
                self.run_managed(managed, main)
            }
            Role::Alone => {
                self.tell_of_idle_processors();
                self.run_alone(main)
            }
        }
    }

    /// Checks the paths before any process is started.
    fn check(&self) -> Result<(), Refusal> {
        if self.config.sim.is_some() && !cfg!(feature = "sim") {
            let cause = "`sim` needs the feature `sim` of the crate `chare`".to_owned();
            return Err(Refusal::Options(LrtsError::Bootstrap(cause)));
        }
        let is_built_in = self
            .config
            .mpi
            .as_ref()
            .map_or(Ok(()), |library| chare_lrts::backends::require("mpi", || format!("+mpi {library}")));
        is_built_in.and_then(|()| self.network.check()).map_err(Refusal::Options)
    }

    /// Tells of processors that a batch system gave to this process and that no PE will use, unless the user has said how many PEs there are.
    fn tell_of_idle_processors(&self) {
        if let Some(processors) = self.config.idle_processors {
            chare_lrts::events::warn(format_args!(
                "this process was given {processors} processors and runs 1 PE: `+p auto` makes a PE for each, and `+p 1` says that one is meant"
            ));
        }
    }

    /// The role of this process, by its environment and its options.
    fn find_role(&self) -> Result<Role, Refusal> {
        if let Some(launched) = Launched::from_environment()? {
            return Ok(Role::Launched(launched));
        }
        let nodes = self.config.nodes;
        #[cfg(feature = "mpi")]
        if self.is_over_mpi() {
            return self.find_role_in_mpi();
        }
        let processes = launchers::processes()?;
        match processes {
            // One process of a foreign launcher may start a job of its own.
            None | Some(1) if nodes > 1 => return Ok(Role::Launcher),
            Some(processes) if nodes > 1 => {
                return Err(Refusal::Options(LrtsError::Bootstrap(format!(
                    "a launcher started {processes} processes already; leave out `+n {nodes}`"
                ))));
            }
            _ => {}
        }
        Ok(self.find_place(processes)?.map_or(Role::Alone, Role::Managed))
    }

    fn options(&self) -> NodeOptions {
        let cpus =
            self.config.pemap.as_ref().map(|list| list.as_slice().iter().map(|cpu| *cpu as usize).collect());
        NodeOptions {
            pes: self.config.pes_per_node,
            network: self.network.clone(),
            processors: cpus,
            pin: true,
            shuffle: self.config.shuffle,
            is_timed: self.config.dashboard.is_some() || self.config.times,
            tells_ways: self.config.stats,
            balancer: self.config.balancer.as_deref().map(Arc::from),
            balancing: Balancing {
                every: self.config.balance_every,
                when: self.config.balance_when,
                dump: self.config.balance_dump.as_deref().map(Arc::from),
                ..Balancing::default()
            },
            begins_anew: self.config.again,
            seeds: self.config.seeds,
            mailbox: self.config.mailbox,
            layouts: self.config.layouts,
            device: self.config.device.clone(),
            device_models: self.config.device_models.clone(),
        }
    }

    /// Runs all nodes of a simulated job.
    #[cfg(feature = "sim")]
    fn run_simulated(&self, nodes: u32, main: Main) -> ExitCode {
        let simulation = match self.simulation(nodes) {
            Ok(simulation) => simulation,
            Err(cause) => return refuse(&Refusal::Options(LrtsError::Bootstrap(cause))),
        };
        let seed = self.config.seed.unwrap_or(0);
        let outcome = simulation.run_main(main);
        let is_refused = matches!(outcome.code(), Err(JobError::Config(_)));
        if (self.config.stats || self.config.model.is_some()) && !is_refused {
            let (time, events, hash) = (outcome.time(), outcome.events(), outcome.trace_hash());
            print(&format!("simulated {time:?} by seed {seed}: {events} events, trace {hash:016x}\n"));
        }
        match outcome.code() {
            Ok(code) => ExitCode::from(exit_byte(code)),
            Err(error) => {
                say(&error);
                ExitCode::from(if is_refused { WRONG_OPTION } else { 1 })
            }
        }
    }

    /// The simulated job that the options ask for.
    ///
    /// # Errors
    /// What of them is wrong, in words.
    #[cfg(feature = "sim")]
    fn simulation(&self, nodes: u32) -> Result<Simulation, String> {
        let pes = self.simulated_pes().map_err(str::to_owned)?;
        let Config { hosts, fidelity, threads, seed, model, costs, .. } = &self.config;
        let mut simulation = Simulation::new(nodes, pes).hosts(hosts.unwrap_or(1)).seed(seed.unwrap_or(0));
        simulation = simulation.threads(threads.unwrap_or(1));
        if let Some(fidelity) = fidelity {
            simulation = simulation.fidelity(fidelity.parse()?);
        }
        if let Some(model) = model {
            simulation = simulation.model(model.parse()?);
        }
        if let Some(costs) = costs {
            let is_number = costs.bytes().all(|byte| byte.is_ascii_digit());
            let text = if is_number { Ok(costs.clone()) } else { std::fs::read_to_string(costs) };
            let text = text.map_err(|error| {
                format!("`+costs` takes nanoseconds, or a file, and {costs} cannot be read: {error}")
            })?;
            simulation =
                simulation.costs(text.parse().map_err(|error| format!("`+costs {costs}`: {error}"))?);
        }
        Ok(simulation.with_options(self.options()))
    }

    /// The PEs of each node of a simulated job.
    ///
    /// # Errors
    /// What was asked for that such a job has not, in words.
    #[cfg(feature = "sim")]
    fn simulated_pes(&self) -> Result<u32, &'static str> {
        let Config { nodes, pes_per_node, pemap, mpi, dashboard, times, .. } = &self.config;
        let ReachOptions { trace, trace_window, fault, .. } = self.network.clone();
        let Pes::Number(pes) = *pes_per_node else {
            return Err(
                "`+sim` needs a number of PEs, which no processors limit: write `+p N` in place of `+p auto`",
            );
        };
        if self.is_launched() {
            return Err("`+sim` runs all nodes in one process: start it without a launcher");
        }
        if *nodes > 1 {
            return Err("`+sim N` runs N nodes in this process and starts none: leave out `+n`");
        }
        if self.network != (ReachOptions { trace, trace_window, fault, ..ReachOptions::default() })
            || mpi.is_some()
        {
            return Err(
                "`+sim` has a network of its own: leave out the options that choose another or its paths",
            );
        }
        if pemap.is_some() || dashboard.is_some() || *times {
            return Err(
                "`+sim` gives PEs no processors, and a time of their own: leave out `+pemap`, `+dashboard` and `+times`",
            );
        }
        Ok(pes)
    }

    fn run_alone(&self, main: Main) -> ExitCode {
        let opened = life::open(&self.options(), JobNumbers::begin(), &mut Single::new());
        self.drive(opened, (Some(main), None), say).exit()
    }

    /// Runs a node of a job that our own launcher started: failures are reported to the launcher, which prints them, once.
    fn run_launched(&self, mut launched: Launched, main: Main) -> ExitCode {
        let (held, launcher) = (hold_signals(launched.node()), rustix::process::getppid());
        let main = (launched.node() == NodeId(0)).then_some(main);
        let mut opened = life::open(&self.options(), JobNumbers::begin(), &mut launched);
        let control = Arc::new(launched.into_control());
        // The launcher has printed the cause, or is gone.
        if let Err(error) = control.watch(end_as_ordered) {
            opened = opened.and_then(|ready| {
                let cause = format!("no thread for the launcher's messages: {error}");
                Err(JobError::Lrts { node: ready.node.id, cause: LrtsError::Bootstrap(cause) })
            });
        } else {
            // The kernel would end this process alone, and leave what it has started.
            let _ = rustix::process::set_parent_process_death_signal(None);
        }
        let herald = {
            let control = Arc::clone(&control);
            move |error: &JobError| report(&control, error)
        };
        let end = self.drive(opened, (main, held), herald);
        match &end.result {
            Ok(code) => control.finished(exit_byte(*code)),
            // This node was told by another one, whose own report may still be on its way.
            Err(error @ JobError::Elsewhere(_)) => report(&control, error),
            Err(_) => {}
        }
        // Nobody watches the launcher from here on: the kernel does again.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        if rustix::process::getppid() != launcher {
            end_as_ordered(Ordered::Abandoned("the launcher of this job is gone".to_owned()));
        }
        end.exit()
    }

    /// Serves the dashboard, if this node is to. A job runs without it, too.
    #[cfg(feature = "dashboard")]
    fn serve_dashboard(&self, node: &Arc<Node>) -> Option<Dashboard> {
        let at = self.config.dashboard.filter(|_| node.id == NodeId(0))?;
        let cannot = |cause: &std::io::Error| {
            chare_lrts::events::warn(format_args!(
                "the dashboard cannot be served at {at}: {cause}; name another address and port"
            ));
        };
        Dashboard::serve(node, at).inspect_err(cannot).ok()
    }

    /// Runs a node to its end: node 0 with `main`, the others with the signals that they hold. If this node is the one that fails, `herald`
    /// reports the cause.
    fn drive(
        &self,
        opened: Result<ReadyNode, JobError>,
        (main, held): (Option<Main>, Option<Held>),
        herald: impl FnOnce(&JobError) + Send + 'static,
    ) -> End {
        let ready = match opened {
            Ok(ready) => ready,
            Err(error) => {
                herald(&error);
                return End { result: Err(error), is_quiet: true, outcome: None };
            }
        };
        let node = Arc::clone(&ready.node);
        node.set_herald(herald);
        held.into_iter().for_each(|held| shutdown::hear(&node, held));
        let attention = asking::attend(&node);
        #[cfg(feature = "dashboard")]
        let dashboard = self.serve_dashboard(&node);
        let threads = ready.start(main);
        node.network.attend(&|| node.has_ended());
        life::wait_for_end(&node);
        #[cfg(feature = "dashboard")]
        drop(dashboard);
        drop(attention);
        let is_quiet = if node.has_failed() {
            join_within(threads, GRACE_AFTER_FAILURE)
        } else {
            threads.into_iter().for_each(|thread| drop(thread.join()));
            true
        };
        life::close(&node);
        if self.config.stats {
            print(&describe(&node));
        }
        if self.config.times {
            print(&describe_times(&node));
        }
        // Not before: drops at the end may have failed.
        End { result: life::result(&node), is_quiet, outcome: Some(node.outcome().clone()) }
    }
}

/// A place in the job of a foreign launcher, which nobody has in this build.
#[cfg(not(feature = "net"))]
type Managed = std::convert::Infallible;

/// The role of a process in its job.
enum Role {
    /// A node; our own launcher started it.
    Launched(Launched),
    /// A node; a foreign launcher started it.
    Managed(Managed),
    /// The launcher, which is to start the nodes.
    Launcher,
    /// The only node.
    Alone,
}

/// Ends this process because the job is over. Where the launcher is gone, so that it ends nobody, all that this process has started ends as
/// well, which is in the group that the launcher has made for the node.
fn end_as_ordered(end: Ordered) {
    if let Ordered::Abandoned(_) = end {
        let _ = kill_process_group(getpgrp(), Signal::KILL);
    }
    quit(1)
}

/// Holds the signals that ask for the job's end, on all nodes but node 0: before they meet it, so that none is lost once node 0 runs.
fn hold_signals(node: NodeId) -> Option<Held> {
    let cannot = |cause: &io::Error| events::warn(format_args!("SIGINT and SIGTERM are not held: {cause}"));
    (node != NodeId(0)).then(|| shutdown::hold().inspect_err(cannot).ok()).flatten()
}
