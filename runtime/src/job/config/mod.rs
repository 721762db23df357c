//! Options of every program (`+name`): read from its arguments and from the environment, and taken out before the program sees its own
//! arguments. How a job is started by them never stands here.
//!
//! 1. `+name`, `+name value` and `+name=value` are options, and so is a number glued to its letter (`+p4`). A plus sign
//!    with anything but a letter behind it (`+5`) belongs to the program, and so does everything from `--` on. An option whose value may
//!    be left out (`+dashboard`) takes what follows it as its value only if that can be one.
//! 2. Each option has a twin in the environment: `+pemap` is `CHARE_PEMAP`. The command line wins.
//! 3. An argument or variable that begins like an option or a twin and is none stops the start; the error names the right spelling, or what
//!    stands here for an option of Charm++.

mod arguments;
mod charm;
mod environment;
mod error;
mod trace;

pub use crate::job::launch::hosts::NODES_PER_HOST_MAX;
pub use crate::job::pes::PES_PER_NODE_MAX;
pub use error::ConfigError;

use crate::job::cpus::CpuList;
use crate::job::pes::Pes;
use crate::job::settings::Config;
use crate::model::nocopy::LayoutMethod;
use crate::node::balancing::BalanceWhen;
use crate::node::devices::{DeviceChoice, DeviceModels};
use crate::node::seeds::Seeds;
use arguments::Split;
use chare_lrts::bootstrap::listening::{Interface, Ports};
use chare_lrts::wrappers::FaultPlan;
use clap::{Args, Command, FromArgMatches};
use error::variable_of;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use trace::TraceChoice;

/// The request of a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// To run.
    Run(Box<Config>),
    /// To print this and exit with success.
    Help(String),
}

/// The most nodes of a simulated job: each has a table of all others.
const SIMULATED_NODES_MAX: u32 = 16_384;

/// Where the dashboard is served if nothing else is said: on a free port, for users of this host.
const DASHBOARD_HERE: &str = "127.0.0.1:0";

/// The options as clap knows them; the doc comments are the help table.
#[derive(Args)]
struct Options {
    /// PEs (threads) of each node; auto: one for each processor [default: 1]
    #[arg(long, value_name = "N")]
    p: Option<Pes>,
    /// Nodes (processes) that the program starts on this host
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(NODES_PER_HOST_MAX)))]
    n: u32,
    /// One backend instead of the nearest path to each node
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    lrts: Option<String>,
    /// Treat nodes of this host as if each had a host of its own
    #[arg(long)]
    nolocal: bool,
    /// Do not copy directly between the memories of two processes
    #[arg(long)]
    nocma: bool,
    /// Do not use shared memory between processes
    #[arg(long)]
    noshm: bool,
    /// Let Intel's DSA copy (feature `dsa`; never seen on hardware)
    #[arg(long)]
    dsa: bool,
    /// Where nodes listen for other hosts, as eth0 or 10.1.0.0/16
    #[arg(long, value_name = "NAME")]
    interface: Option<Interface>,
    /// Ports on which nodes listen for other hosts, such as 5000-5099
    #[arg(long, value_name = "A-B")]
    ports: Option<Ports>,
    /// Seal frames between hosts: nobody on the path can read them
    #[arg(long)]
    encrypt: bool,
    /// No tags on frames between hosts: forged ones are believed
    #[arg(long)]
    clear: bool,
    /// Tags on frames of ofi, verbs and mpi, too: forged ones end the job
    #[arg(long)]
    tags: bool,
    /// Provider of libfabric for other hosts
    #[arg(long, value_name = "PROVIDER", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    ofi: Option<String>,
    /// RDMA devices for other hosts, such as rxe0,rxe1
    #[arg(long, value_name = "DEVICES", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    verbs: Option<String>,
    /// Shared library of MPI for +lrts mpi
    #[arg(long, value_name = "LIBRARY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    mpi: Option<String>,
    /// Write the timeline of node I to FILE.I; FILE,from=10,for=2: a part
    #[arg(long, value_name = "FILE")]
    trace: Option<TraceChoice>,
    /// Faults of the network, such as refuse=10,drop=1000,seed=7
    #[arg(long, value_name = "LIST")]
    fault: Option<FaultPlan>,
    /// CPUs for the PEs in their order, such as 0-3,8,10-14:2
    #[arg(long, value_name = "LIST")]
    pemap: Option<CpuList>,
    /// Random order among messages of equal priority
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Balancer of elements that move: greedy_refine, hilbert, diffuse, rotate, ..
    #[arg(long, value_name = "NAME")]
    balancer: Option<String>,
    /// Time between two turns of the balancer without a sync, such as 500ms or 10s
    #[arg(long = "balance_every", value_name = "TIME", requires = "balancer", value_parser = read_time)]
    balance_every: Option<Duration>,
    /// When the balancer has its turn: always, or auto (when that gains more than it costs)
    #[arg(long = "balance_when", value_name = "WHEN", requires = "balancer", value_parser = read_when)]
    balance_when: Option<BalanceWhen>,
    /// Write what each balancing looks at and plans to FILE, a line for each
    #[arg(long = "balance_dump", value_name = "FILE", requires = "balancer")]
    balance_dump: Option<PathBuf>,
    /// Begin entries that may be called again anew at every sync: a test
    #[arg(long)]
    again: bool,
    /// Where singletons are created that may be anywhere: random, least or steal
    #[arg(long, value_name = "KIND")]
    seeds: Option<Seeds>,
    /// Messages that may wait for a PE from each other PE of its node
    #[arg(long, value_name = "N")]
    mailbox: Option<NonZeroU32>,
    /// Way of layouts out of private memory: pack, sieve or vectors
    #[arg(long, value_name = "METHOD")]
    layouts: Option<LayoutMethod>,
    /// Devices of each host: cuda, software, software:N or none
    #[arg(long, value_name = "KIND")]
    device: Option<DeviceChoice>,
    /// Folder of what devices were measured to take, or none
    #[arg(long = "device_models", value_name = "FOLDER", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    device_models: Option<String>,
    /// Simulated job of N nodes in this process (feature `sim`)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SIMULATED_NODES_MAX)))]
    sim: Option<u32>,
    /// Hosts of a simulated job
    #[arg(long, value_name = "N", requires = "sim", value_parser = clap::value_parser!(u32).range(1..))]
    hosts: Option<u32>,
    /// How memory moves between nodes of a simulated job: emulated, leased or direct
    #[arg(long, value_name = "WAY", requires = "sim")]
    fidelity: Option<String>,
    /// Threads that run a simulated job, if a model describes its network
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// What decides a simulated job: the same seed, the same run
    #[arg(long, value_name = "SEED", requires = "sim")]
    seed: Option<u64>,
    /// Network of a simulated job, such as loggops:L=2500,o=1500,g=1000,G=6,O=0
    #[arg(long, value_name = "MODEL", requires = "sim")]
    model: Option<String>,
    /// Nanoseconds that each entry of a simulated job takes, or a file that has them
    #[arg(long, value_name = "NS|FILE", requires = "sim")]
    costs: Option<String>,
    /// Print counters per PE at the end
    #[arg(long)]
    stats: bool,
    /// Print how often each entry ran, and how long
    #[arg(long)]
    times: bool,
    /// Serve a page and metrics of the job, here [default: a free port]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true,
          default_missing_value = DASHBOARD_HERE)]
    dashboard: Option<SocketAddr>,
    /// Print this table
    #[arg(long)]
    help: bool,
}

/// Reads a time, `500ms` or `10s`.
///
/// # Errors
/// What is none, or no time at all, in words.
fn read_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, Duration::from_millis(1)),
        None => (text.strip_suffix('s').unwrap_or(text), Duration::from_secs(1)),
    };
    let times = number.parse::<u32>().ok().filter(|times| *times > 0);
    times.map(|times| unit * times).ok_or_else(|| format!("{text} is no time: write 500ms, or 10s"))
}

/// Reads when a balancer has its turn.
///
/// # Errors
/// What is none, in words.
fn read_when(text: &str) -> Result<BalanceWhen, String> {
    match text {
        "always" => Ok(BalanceWhen::Always),
        "auto" => Ok(BalanceWhen::Auto),
        _ => Err("write always, or auto".to_owned()),
    }
}

impl Config {
    /// Reads options from `arguments` (without the program's name) and their twins from `environment`.
    ///
    /// # Errors
    /// [`ConfigError`] for the first thing that is wrong.
    pub fn from_arguments(
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Parsed, ConfigError> {
        let environment: Vec<_> = environment.into_iter().collect();
        let given = environment::processors_of_task(&environment);
        let command = command();
        let Split { mut options, program_arguments } = Split::of(arguments, &command)?;
        let twins = environment::twins(environment, &command)?;
        let from_environment: BTreeMap<String, String> = twins
            .into_iter()
            .filter(|(name, _)| !options.iter().any(|option| arguments::is_named(option, name)))
            .collect();
        options.extend(from_environment.values().cloned());
        let options = command
            .clone()
            .try_get_matches_from(options)
            .and_then(|matches| Options::from_arg_matches(&matches))
            .map_err(|error| error::explain(&error, &from_environment))?;
        if options.help {
            return Ok(Parsed::Help(help(command)));
        }
        let lacks = |option, is_given: bool, is_here: bool| match is_given && !is_here {
            true => Err(ConfigError::Value(format!(
                "`+{option}` needs the feature `{option}` of the crate `chare`, without which this program was built"
            ))),
            false => Ok(()),
        };
        lacks("dashboard", options.dashboard.is_some(), cfg!(feature = "dashboard"))?;
        lacks("dsa", options.dsa, cfg!(feature = "dsa"))?;
        lacks("sim", options.sim.is_some(), cfg!(feature = "sim"))?;
        if options.device == Some(DeviceChoice::Cuda) && !cfg!(feature = "cuda") {
            let cause = "`+device cuda` needs the feature `cuda` of the crate `chare`, without which this program was built; \
                         `+device software` does without a device";
            return Err(ConfigError::Value(cause.to_owned()));
        }
        let (trace, trace_window) = options.trace.map(|TraceChoice { file, window }| (file, window)).unzip();
        let idle_processors = given.filter(|_| options.p.is_none());
        Ok(Parsed::Run(Box::new(Self {
            pes_per_node: options.p.unwrap_or_default(),
            nodes: options.n,
            lrts: options.lrts,
            nolocal: options.nolocal,
            nocma: options.nocma,
            noshm: options.noshm,
            dsa: options.dsa,
            interface: options.interface,
            ports: options.ports,
            encrypt: options.encrypt,
            clear: options.clear,
            tags: options.tags,
            ofi: options.ofi,
            verbs: options.verbs,
            mpi: options.mpi,
            trace,
            trace_window: trace_window.unwrap_or_default(),
            fault: options.fault,
            pemap: options.pemap,
            shuffle: options.shuffle,
            balancer: options.balancer,
            balance_every: options.balance_every,
            balance_when: options.balance_when.unwrap_or_default(),
            balance_dump: options.balance_dump,
            again: options.again,
            seeds: options.seeds.unwrap_or_default(),
            mailbox: options.mailbox,
            layouts: options.layouts,
            device: options.device.unwrap_or_default(),
            device_models: options.device_models.as_deref().map(DeviceModels::from).unwrap_or_default(),
            sim: options.sim,
            hosts: options.hosts,
            fidelity: options.fidelity,
            threads: options.threads,
            seed: options.seed,
            model: options.model,
            costs: options.costs,
            stats: options.stats,
            times: options.times,
            dashboard: options.dashboard,
            idle_processors,
            program_arguments,
        })))
    }
}

fn command() -> Command {
    let command =
        Command::new("chare").no_binary_name(true).disable_help_flag(true).disable_version_flag(true);
    Options::augment_args(command)
}

fn help(command: Command) -> String {
    let mut command = command
        .mut_args(|option| {
            let help = option.get_help().cloned().unwrap_or_default();
            let twin = variable_of(option.get_long().unwrap_or_default());
            let is_help = option.get_long() == Some("help");
            if is_help { option } else { option.help(format!("{help} [env: {twin}]")) }
        })
        .term_width(118)
        .help_template("{options}");
    let table = command.render_help().to_string().replace("--", "+");
    format!(
        "Options of every chare program; what follows `--` is the program's own.\n\n{table}\n\n\
         Environment only:\n      {}  Seconds that nodes may wait for each other at start-up [default: 30]\n      \
         {}     1: nodes may run different builds of the program [default: 0]\n",
        crate::job::patience::TIMEOUT_VARIABLE,
        crate::job::build::VARIABLE
    )
}

#[cfg(test)]
mod tests;
