//! `chare-run`: launches a chare program as several processes, here or on a list of hosts.

use chare::Pes;
use chare::launch::{Host, NODES_MAX, Plan, WRONG_OPTION, launch, serve_agent, startup_timeout};
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Launches a chare program as several processes, here or on a list of hosts.
///
/// Its exit code is zero, or that of the first process which failed; 1 if none of the processes joined the job, and 2 if the options are wrong.
#[derive(Parser)]
#[command(name = "chare-run", version)]
struct Options {
    /// Nodes (processes) to start, in blocks over the hosts
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(NODES_MAX)))]
    nodes: u32,

    /// PEs (scheduler threads) of each node, as `+p` sets them
    #[arg(short, long, value_name = "N")]
    pes: Option<Pes>,

    /// Hosts to start them on; `A:4` takes up to four nodes before the next host gets any
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', conflicts_with = "hostfile")]
    hosts: Vec<Host>,

    /// A file with one host a line, `HOST`, `HOST:SLOTS` or `HOST slots=SLOTS`; `#` begins a comment
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,

    /// How to run a command on a host: words before the host's name. chare-run must have the same path there
    #[arg(long, value_name = "COMMAND", default_value = "ssh -x")]
    remote_shell: String,

    /// Begin each line of output with its node, as in `[3] `
    #[arg(long)]
    prefix: bool,

    /// How long nodes may wait for each other at start-up [default: 30, or CHARE_STARTUP_TIMEOUT]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,

    /// Keep the nodes of this host for a launcher at the other end of standard input and output
    #[arg(long, hide = true, exclusive = true)]
    agent: bool,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required_unless_present = "agent")]
    program: Vec<OsString>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let run = if options.agent {
        serve_agent().map_err(|cause| (cause.to_string(), 1))
    } else {
        plan(options).map(|plan| launch(&plan)).map_err(|cause| (cause, WRONG_OPTION))
    };
    run.unwrap_or_else(|(error, code)| {
        eprintln!("chare-run: {error}");
        ExitCode::from(code)
    })
}

fn plan(options: Options) -> Result<Plan, String> {
    let patience = match options.timeout {
        Some(seconds) => Duration::from_secs(seconds),
        None => startup_timeout().map_err(|error| error.to_string())?,
    };
    let hosts = match &options.hostfile {
        Some(file) => read_hosts(file)?,
        None => Host::merge(options.hosts),
    };
    let pes = options.pes.map(|pes| (OsString::from("CHARE_P"), OsString::from(pes.to_string())));
    Ok(Plan {
        nodes: options.nodes,
        hosts,
        remote_shell: options.remote_shell.split_whitespace().map(str::to_owned).collect(),
        program: options.program.first().cloned().unwrap_or_default(),
        argv: options.program,
        environment: pes.into_iter().collect(),
        prefix: options.prefix,
        patience,
        must_join: false,
    })
}

fn read_hosts(file: &PathBuf) -> Result<Vec<Host>, String> {
    let named = |cause: &dyn std::fmt::Display| format!("{}: {cause}", file.display());
    let text = std::fs::read_to_string(file).map_err(|cause| named(&cause))?;
    Host::read_list(&text).map_err(|cause| named(&cause))
}
