//! The `+options` of every program: read from its arguments and from the environment, taken out before it sees its own.
//!
//! 1. `+name`, `+name value` and `+name=value` are options, and so is a number glued to its letter (`+p4`). A plus sign
//!    with anything but a letter behind it (`+5`) belongs to the program, and so does everything from `--` on.
//! 2. Each option has a twin in the environment: `+pemap` is `CHARE_PEMAP`. The command line wins.
//! 3. Whatever begins like an option or a twin and is none stops the start, with the right spelling.

mod cpus;

pub use cpus::{CpuList, CpuListError};

use chare_lrts::wrappers::FaultPlan;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, Command, FromArgMatches};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use thiserror::Error;

/// The most PEs of one node: more threads than any host has cores for is a mistyped number.
pub const PES_PER_NODE_MAX: u32 = 4096;

/// The most nodes that one host starts: each pair of them shares a socket, which grows with the square.
pub const NODES_PER_HOST_MAX: u32 = 512;

/// What the environment variables of this family begin with.
const PREFIX: &str = "CHARE_";

/// Variables of the family that are no twins: launchers' and nodes' own, and those that tests may use as they like.
const OTHER_VARIABLES: [&str; 3] = [
    chare_lrts::bootstrap::launched::VARIABLE,
    chare_lrts::bootstrap::managed::VARIABLE,
    crate::launch::TIMEOUT_VARIABLE,
];
const TEST_PREFIX: &str = "CHARE_TEST_";

/// How a program was asked to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// `+p`: PEs of each node; at least 1.
    pub pes_per_node: u32,
    /// `+n`: nodes that the program starts on this host; at least 1.
    pub nodes: u32,
    /// `+lrts`: the backend to use, if one was named. Whether it exists, the backends know.
    pub lrts: Option<String>,
    /// `+nolocal`: treat nodes of one host as if they were on different hosts.
    pub nolocal: bool,
    /// `+nocma`: do not copy directly between the memories of two processes.
    pub nocma: bool,
    /// `+noshm`: no shared memory between processes.
    pub noshm: bool,
    /// `+ofi`: libfabric's name of the provider that reaches nodes of other hosts.
    pub ofi: Option<String>,
    /// `+verbs`: the RDMA devices that reach nodes of other hosts.
    pub verbs: Option<String>,
    /// `+mpi`: the shared library of the MPI that `+lrts mpi` uses.
    pub mpi: Option<String>,
    /// `+trace`: where each node writes what crosses its backends.
    pub trace: Option<PathBuf>,
    /// `+fault`: what goes wrong in the backends.
    pub fault: Option<FaultPlan>,
    /// `+pemap`: the CPUs that PEs are pinned to, in the order of the PEs; repeated when it is too short.
    pub pemap: Option<CpuList>,
    /// `+shuffle`: the seed of the order in which messages of equal priority run.
    pub shuffle: Option<u64>,
    /// `+stats`: print counters per PE at the end.
    pub stats: bool,
    /// The program's own arguments, without its name.
    pub program_arguments: Vec<String>,
}

/// What a command line asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// To run.
    Run(Box<Config>),
    /// To print this and exit with success.
    Help(String),
}

/// A command line or environment that cannot be followed. One line, with the right spelling where there is one.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// An argument is no text.
    #[error("argument {position} is not valid UTF-8: {lossy:?}")]
    NotUtf8 {
        /// Counted from 1.
        position: usize,
        /// The argument as far as it can be shown.
        lossy: String,
    },
    /// There is no such option.
    #[error("unknown option `{option}`{hint}; `+help` lists all, and what follows `--` is the program's own")]
    UnknownOption {
        /// As it was typed.
        option: String,
        /// Empty, or the option that was probably meant, as a clause.
        hint: String,
    },
    /// There is no such variable.
    #[error("unknown environment variable `{variable}`{hint}; `+help` lists all")]
    UnknownVariable {
        /// As it was set.
        variable: String,
        /// Empty, or the variable that was probably meant, as a clause.
        hint: String,
    },
    /// A value is missing, malformed or out of range.
    #[error("{0}; see `+help`")]
    Value(String),
}

/// The options as clap knows them; the doc comments are the help table.
#[derive(Args)]
struct Options {
    /// PEs (scheduler threads) of each node
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(PES_PER_NODE_MAX)))]
    p: u32,
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
    /// Provider of libfabric for other hosts
    #[arg(long, value_name = "PROVIDER", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    ofi: Option<String>,
    /// RDMA devices for other hosts, such as rxe0,rxe1
    #[arg(long, value_name = "DEVICES", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    verbs: Option<String>,
    /// Shared library of MPI for +lrts mpi
    #[arg(long, value_name = "LIBRARY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    mpi: Option<String>,
    /// Write every frame, get and put of node I to FILE.I
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Faults of the network, such as refuse=10,drop=1000,seed=7
    #[arg(long, value_name = "LIST")]
    fault: Option<FaultPlan>,
    /// CPUs for the PEs in their order, such as 0-3,8,10-14:2
    #[arg(long, value_name = "LIST")]
    pemap: Option<CpuList>,
    /// Random order among messages of equal priority
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Print counters per PE at the end
    #[arg(long)]
    stats: bool,
    /// Print this table
    #[arg(long)]
    help: bool,
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
        let command = command();
        let Split { mut options, program_arguments } = Split::of(utf8(arguments)?, &command);
        let twins = twins(environment, &command)?;
        let from_environment: BTreeMap<String, String> = twins
            .into_iter()
            .filter(|(name, _)| !options.iter().any(|option| is_named(option, name)))
            .collect();
        options.extend(from_environment.values().cloned());
        let options = command
            .clone()
            .try_get_matches_from(options)
            .and_then(|matches| Options::from_arg_matches(&matches))
            .map_err(|error| explain(&error, &from_environment))?;
        if options.help {
            return Ok(Parsed::Help(help(command)));
        }
        Ok(Parsed::Run(Box::new(Self {
            pes_per_node: options.p,
            nodes: options.n,
            lrts: options.lrts,
            nolocal: options.nolocal,
            nocma: options.nocma,
            noshm: options.noshm,
            ofi: options.ofi,
            verbs: options.verbs,
            mpi: options.mpi,
            trace: options.trace,
            fault: options.fault,
            pemap: options.pemap,
            shuffle: options.shuffle,
            stats: options.stats,
            program_arguments,
        })))
    }
}

/// Arguments, told apart: options in the spelling that clap knows, and the rest.
struct Split {
    options: Vec<String>,
    program_arguments: Vec<String>,
}

impl Split {
    fn of(arguments: Vec<String>, command: &Command) -> Self {
        let mut split = Self { options: Vec::new(), program_arguments: Vec::new() };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                split.program_arguments.push(argument);
                split.program_arguments.extend(arguments);
                break;
            }
            let name =
                argument.strip_prefix('+').filter(|name| name.starts_with(|c: char| c.is_alphabetic()));
            let Some(name) = name else {
                split.program_arguments.push(argument);
                continue;
            };
            let wants_value = is_valued(command, name);
            let mut option = format!("--{}", unglue(name));
            if wants_value && let Some(value) = arguments.next() {
                option = format!("{option}={value}");
            }
            split.options.push(option);
        }
        split
    }
}

/// `p4` is `p=4`: what users of Charm++ type.
fn unglue(name: &str) -> String {
    let number = name.strip_prefix(['p', 'n']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    number.map_or_else(|| name.to_owned(), |number| format!("{}={number}", &name[..1]))
}

fn is_valued(command: &Command, name: &str) -> bool {
    command
        .get_arguments()
        .any(|known| known.get_long() == Some(name) && !matches!(known.get_action(), ArgAction::SetTrue))
}

fn is_named(option: &str, name: &str) -> bool {
    option.strip_prefix("--").and_then(|option| option.split('=').next()) == Some(name)
}

fn utf8(arguments: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, ConfigError> {
    (1..)
        .zip(arguments)
        .map(|(position, argument)| {
            argument.into_string().map_err(|argument| ConfigError::NotUtf8 {
                position,
                lossy: argument.to_string_lossy().into_owned(),
            })
        })
        .collect()
}

/// The variables of our family, as options by name.
fn twins(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    command: &Command,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut twins = BTreeMap::new();
    for (variable, value) in environment {
        let Some(variable) = variable.to_str().filter(|variable| variable.starts_with(PREFIX)) else {
            continue;
        };
        if OTHER_VARIABLES.contains(&variable) || variable.starts_with(TEST_PREFIX) || value.is_empty() {
            continue;
        }
        let name = variable[PREFIX.len()..].to_lowercase();
        let known = command.get_arguments().find(|known| known.get_long() == Some(&name));
        let Some(known) = known.filter(|_| variable_of(&name) == variable) else {
            return Err(unknown_variable(variable, command));
        };
        let value = value
            .into_string()
            .map_err(|value| ConfigError::Value(format!("`{variable}` is not valid UTF-8: {value:?}")))?;
        if !matches!(known.get_action(), ArgAction::SetTrue) {
            twins.insert(name.clone(), format!("--{name}={value}"));
        } else if is_on(variable, &value)? {
            twins.insert(name.clone(), format!("--{name}"));
        }
    }
    Ok(twins)
}

fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}

fn is_on(variable: &str, value: &str) -> Result<bool, ConfigError> {
    match value.to_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(ConfigError::Value(format!("`{variable}` is `{value}`; it takes 1 or 0"))),
    }
}

/// Suggests by asking clap about an option of that name.
fn unknown_variable(variable: &str, command: &Command) -> ConfigError {
    let option = format!("--{}", variable[PREFIX.len()..].to_lowercase());
    let error = command.clone().try_get_matches_from([option]).err();
    let suggestion = error.as_ref().and_then(suggestion).map(|name| variable_of(&name));
    let hint = suggestion.map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"));
    ConfigError::UnknownVariable { variable: variable.to_owned(), hint }
}

/// The name of the option that was probably meant.
fn suggestion(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(known)) => Some(known.trim_start_matches('-').to_owned()),
        _ => None,
    }
}

/// clap's error as one line in our spelling; `from_environment` tells where an option came from.
fn explain(error: &clap::Error, from_environment: &BTreeMap<String, String>) -> ConfigError {
    let subject = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(subject)) => subject.trim_start_matches('-').to_owned(),
        _ => String::new(),
    };
    if error.kind() == ErrorKind::UnknownArgument {
        let hint = suggestion(error).map_or_else(String::new, |known| format!(" (did you mean `+{known}`?)"));
        return ConfigError::UnknownOption { option: format!("+{subject}"), hint };
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line).replace("'--", "'+");
    let name = subject.split([' ', '=']).next().unwrap_or_default();
    match from_environment.contains_key(name) {
        true => ConfigError::Value(format!("{line} (from `{}`)", variable_of(name))),
        false => ConfigError::Value(line),
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
        .term_width(110)
        .help_template("{options}");
    let table = command.render_help().to_string().replace("--", "+");
    format!(
        "Options of every chare program; what follows `--` is the program's own.\n\n{table}\n\n\
         Environment only:\n      {}  Seconds that nodes may wait for each other at start-up [default: 30]\n",
        crate::launch::TIMEOUT_VARIABLE
    )
}

#[cfg(test)]
mod tests;
