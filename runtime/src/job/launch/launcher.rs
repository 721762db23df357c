//! The launcher: it runs a job from its plan to its exit code, brings together hosts, signals, time and printers, and lets `job` decide.
//!
//! 1. One thread does everything here and never waits for a reader or a node: orders and events pass through queues,
//!    output through threads of its own (whose memory is bounded by credit, see `message`).
//! 2. The launcher returns when every node is reaped and all output is printed, or when the time of a job that failed is over.

#![expect(clippy::disallowed_methods, reason = "processes are started and end in real time")]

use super::control_thread::block_on;
use super::introduce::UNDER_WAY_MAX;
use super::job::{HostState, Job};
use super::message::{FromAgent, Start, Stream, ToAgent};
use super::output::{Print, Printer};
use super::plan::{Plan, PlanError, Share};
use super::{agent, process, remote};
use crate::base::dispositions::{self, Disposition};
use chare_lrts::bootstrap::JobKey;
use chare_lrts::events;
use rustix::process::{Resource, Signal};
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinSet, spawn_local};

/// How long a failed job's output and remote shells have to come to an end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How many descriptors a node costs its launcher: a socket, two pipes, and one to spare.
const DESCRIPTORS_PER_NODE: u64 = 4;

/// How many descriptors the launcher needs for itself: those of tokio's runtime, and those of starting a process.
const DESCRIPTORS_OWN: u64 = 64;

/// Launches a job and returns its exit code: zero, or that of the first node which failed, or 1 if all were strangers, which never joined.
///
/// Blocks until no process of the job is left, but for those that a node started and that left its process group. An error is one line on
/// standard error. What this process has open, beyond standard input, output and error, no process inherits that it starts from now on.
pub fn launch(plan: &Plan) -> ExitCode {
    match block_on(drive(plan)).unwrap_or_else(|cause| Err(cause.into())) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            events::error(format_args!("chare: {error}"));
            ExitCode::from(error.code())
        }
    }
}

/// A host, and its message or the reason why no more come.
type FromHost = (usize, Result<FromAgent, String>);

async fn drive(plan: &Plan) -> Result<u8, PlanError> {
    let shares = plan.shares()?;
    allow_descriptors(&shares);
    process::keep_inheritance()?;
    let (signalled, mut signals) = unbounded_channel();
    listen_for_signals(&signalled)?;
    let (event, events) = unbounded_channel();
    let mut tasks = JoinSet::new();
    let states = shares.iter().map(|share| HostState::new(share.name.clone(), share.count)).collect();
    let job = Job::new(states, plan.must_join, plan.patience, Instant::now());
    let hosts = connect(plan, &shares, &event, &mut tasks)?;
    let (broke, mut broken) = unbounded_channel();
    let printers = Printers::start(plan.prefix, &hosts, &broke)?;
    let mut launcher = Launcher { job, hosts, printers, events };
    launcher.run(&mut signals, &mut broken).await;
    let Launcher { mut job, hosts, printers, events } = launcher;
    // The end of their orders ends the agents that are still there.
    drop(hosts);
    drop(events);
    let shells = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_WORDS, shells).await;
    let patience = job.has_failed().then_some(LAST_WORDS);
    let Printers { output, error } = printers;
    output.finish(patience).await;
    // The reader may have been lost over the last of the output.
    if let Ok(cause) = broken.try_recv() {
        lose_output(&mut job, &cause);
    }
    while let Some(line) = job.take_line() {
        error.print(Print::Own(line));
    }
    error.finish(patience).await;
    Ok(job.code())
}

/// Ends the job because its output cannot be written.
fn lose_output(job: &mut Job, cause: &io::Error) {
    match cause.kind() {
        io::ErrorKind::BrokenPipe => job.lose_reader(Instant::now()),
        _ => job.give_up(format!("standard output cannot be written: {cause}"), 1, Instant::now()),
    }
}

struct Launcher {
    job: Job,
    hosts: Vec<UnboundedSender<ToAgent>>,
    printers: Printers,
    events: UnboundedReceiver<FromHost>,
}

impl Launcher {
    async fn run(&mut self, signals: &mut UnboundedReceiver<i32>, broken: &mut UnboundedReceiver<io::Error>) {
        while !self.job.is_over(Instant::now()) {
            let deadline = self.job.next_deadline();
            tokio::select! {
                Some((host, event)) = self.events.recv() => self.hear(host, event),
                Some(signal) = signals.recv() => self.job.signal(signal, Instant::now()),
                Some(cause) = broken.recv() => lose_output(&mut self.job, &cause),
                () = at(deadline) => self.job.tick(Instant::now()),
            }
            for order in self.job.take_orders() {
                for host in &self.hosts {
                    // A host that is gone takes no orders; its last event reports its end.
                    let _ = host.send(order.clone());
                }
            }
            while let Some(line) = self.job.take_line() {
                self.printers.error.print(Print::Own(line));
            }
        }
    }

    fn hear(&mut self, host: usize, event: Result<FromAgent, String>) {
        match event {
            Ok(FromAgent::Output { node, stream, bytes }) => {
                let printer = match stream {
                    Stream::Output => &self.printers.output,
                    Stream::Error => &self.printers.error,
                };
                printer.print(Print::Node { host, node, bytes });
            }
            Ok(event) => self.job.hear(host, event, Instant::now()),
            Err(cause) => self.job.lose_host(host, cause, Instant::now()),
        }
    }
}

struct Printers {
    output: Printer,
    error: Printer,
}

impl Printers {
    fn start(
        has_prefix: bool,
        hosts: &[UnboundedSender<ToAgent>],
        broke: &UnboundedSender<io::Error>,
    ) -> io::Result<Self> {
        let taken = || {
            // Weak: the launcher alone decides when a host gets no more orders.
            let hosts: Vec<_> = hosts.iter().map(UnboundedSender::downgrade).collect();
            move |host: usize, bytes: usize| {
                if let Some(host) = hosts.get(host).and_then(tokio::sync::mpsc::WeakUnboundedSender::upgrade)
                {
                    let _ = host.send(ToAgent::Taken { bytes });
                }
            }
        };
        let broke = broke.clone();
        let output_broke = move |cause| drop(broke.send(cause));
        Ok(Self {
            output: Printer::start(io::stdout(), has_prefix, taken(), output_broke)?,
            // There is nowhere left to report that standard error broke.
            error: Printer::start(io::stderr(), has_prefix, taken(), drop)?,
        })
    }
}

/// Starts an agent on every host and tells it what to start.
fn connect(
    plan: &Plan,
    shares: &[Share],
    event: &UnboundedSender<FromHost>,
    tasks: &mut JoinSet<()>,
) -> Result<Vec<UnboundedSender<ToAgent>>, PlanError> {
    let key = JobKey::random();
    let mut hosts = Vec::new();
    for (host, share) in shares.iter().enumerate() {
        let (order, orders) = unbounded_channel();
        let start = Start {
            first: share.first,
            count: share.count,
            nodes: plan.nodes,
            key: key.0,
            patience_ms: u64::try_from(plan.patience.as_millis()).unwrap_or(u64::MAX),
            program: plan.program(share.name.is_some())?,
        };
        // The receiver lives in the lines below.
        let _ = order.send(ToAgent::Start(start));
        let event = event.clone();
        let pass_on = move |said| drop(event.send((host, said)));
        match &share.name {
            Some(name) => {
                if let Err(cause) = remote::start(&plan.remote_shell, name, orders, pass_on.clone(), tasks) {
                    pass_on(Err(format!(
                        "its remote shell `{}` cannot be started: {cause}",
                        plan.remote_shell.join(" ")
                    )));
                }
            }
            None => {
                let (said, mut hears) = unbounded_channel();
                spawn_local(agent::run(orders, said));
                tasks.spawn_local(async move {
                    while let Some(message) = hears.recv().await {
                        pass_on(Ok(message));
                    }
                });
            }
        }
        hosts.push(order);
    }
    Ok(hosts)
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Raises the limit of descriptors as far as a large job on this host needs it and the system allows it. If that is not
/// enough, starting a node fails and says so.
fn allow_descriptors(shares: &[Share]) {
    let local =
        shares.iter().filter(|share| share.name.is_none()).map(|share| u64::from(share.count)).sum::<u64>();
    let needed = DESCRIPTORS_OWN + UNDER_WAY_MAX as u64 + local * DESCRIPTORS_PER_NODE;
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |maximum| maximum.min(needed)));
        let _ = rustix::process::setrlimit(Resource::Nofile, limit);
    }
}

/// The signals that users and batch systems send.
const PASSED_ON: [Signal; 6] =
    [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

/// Sends each signal that this process gets from here on to `heard`, except those it was told to ignore (`nohup`).
fn listen_for_signals(heard: &UnboundedSender<i32>) -> io::Result<()> {
    for passed_on in PASSED_ON {
        if dispositions::of(passed_on) == Some(Disposition::Ignored) {
            continue;
        }
        let number = passed_on.as_raw();
        let mut arrivals = signal(SignalKind::from_raw(number))?;
        let heard = heard.clone();
        spawn_local(async move { while arrivals.recv().await.is_some() && heard.send(number).is_ok() {} });
    }
    Ok(())
}
