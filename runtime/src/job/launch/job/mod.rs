//! The job as its launcher knows it, and the launcher's decisions about it. No clock, no sockets: events and the time come in, orders for
//! all hosts and a line for the user come out.
//!
//! 1. The first sign of trouble makes the job suspect. A sign that no other can outdo ends the job at once; any other waits
//!    [`BETTER_CAUSE`] for a better one: peers notice a death before its parent has reaped it.
//! 2. Ending: the cause is printed once, all nodes are told, and nothing that happens afterwards is a cause.
//! 3. A node that joined ends well only after it said `Finished`. A process that never joined is an ordinary program as long as no other
//!    one joined; as soon as one has, the process is missing. If none does, the user is told.
//! 4. Start-up has a deadline whenever the launcher waits for a host, or nodes for other nodes.
//! 5. [`GIVE_UP`] after its end, a job is over, even if a host does not report it.
//! 6. A node that joined and whose process is stopped (SIGSTOP, SIGTSTP) keeps the others waiting, and is not lost, however long that
//!    takes: whoever stopped it may let it go on. After [`STOP_UNNOTICED`] the user is told, once for each stop.
//! 7. A signal that asks for the job's end is passed on. A second one ends the job, and so does [`END_PATIENCE`] after SIGTERM, which no
//!    keyboard sends. The same signal within [`TOGETHER`] is the first one still: `timeout` and batch systems send it to a process and to
//!    the group of the process.

mod cause;
mod gather;
mod judge;
mod waiting;

use super::exit::{Exit, name_signal, signal_code};
use super::message::{FromAgent, GREETING, ToAgent};
use cause::{Cause, Weight};
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::FromNode;
use gather::Rounds;
use rustix::process::Signal;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a poor cause waits for a better one.
const BETTER_CAUSE: Duration = Duration::from_millis(200);

/// How long agents have to end their nodes; they use force after two seconds.
const GIVE_UP: Duration = Duration::from_secs(5);

/// How long a node's process may be stopped before the user is told: long enough for a snapshot, too short for its peers to seem to hang.
const STOP_UNNOTICED: Duration = Duration::from_secs(4);

/// How long nodes may take to end after SIGTERM: as long as Slurm waits before it kills (`KillWait`). A program may save its work; a
/// library's own handler may hang.
const END_PATIENCE: Duration = Duration::from_secs(30);

/// Time within which a signal is the same as the one before: longer than who sends it twice takes, shorter than a user who insists.
const TOGETHER: Duration = Duration::from_millis(500);

/// A host of the job.
pub(super) struct HostState {
    /// Its name if the user gave one.
    pub(super) name: Option<String>,
    /// How many nodes it runs.
    pub(super) nodes: u32,
    is_ready: bool,
    is_over: bool,
}

impl HostState {
    pub(super) fn new(name: Option<String>, nodes: u32) -> Self {
        Self { name, nodes, is_ready: false, is_over: false }
    }
}

#[derive(Default)]
struct NodeState {
    host: usize,
    pid: Option<u32>,
    has_joined: bool,
    has_finished: bool,
    /// The node reported its own failure or the loss of another node; its exit afterwards is no news.
    has_complained: bool,
    /// The signal that stopped its process, and the time at which the user is to be told; `None`: it runs, or the user was told.
    stopped: Option<(i32, Instant)>,
    exit: Option<Exit>,
}

impl NodeState {
    /// The signal that stopped it while the others wait for it, and the time at which the user is to be told.
    fn keeps_waiting(&self) -> Option<(i32, Instant)> {
        self.stopped.filter(|_| self.has_joined && self.exit.is_none())
    }
}

enum Phase {
    Running,
    Suspect { cause: Cause, until: Instant },
    Ending { cause: Cause, give_up_at: Instant },
}

/// A job under way.
pub(super) struct Job {
    hosts: Vec<HostState>,
    nodes: Vec<NodeState>,
    rounds: Rounds,
    must_join: bool,
    patience: Duration,
    began: Instant,
    first_join: Option<Instant>,
    told_of_strangers: bool,
    passed_on: Vec<i32>,
    /// The first signal that asked for the job's end, and when it came.
    asked_to_end: Option<(i32, Instant)>,
    /// The time until which the nodes may end by themselves after SIGTERM.
    must_end_by: Option<Instant>,
    first_bad_code: Option<u8>,
    phase: Phase,
    orders: Vec<ToAgent>,
    lines: VecDeque<String>,
}

impl Job {
    /// A job whose nodes are about to start, in blocks over `hosts`. `must_join`: no process is an ordinary program.
    pub(super) fn new(hosts: Vec<HostState>, must_join: bool, patience: Duration, now: Instant) -> Self {
        let nodes: Vec<NodeState> = hosts
            .iter()
            .enumerate()
            .flat_map(|(host, state)| {
                (0..state.nodes).map(move |_| NodeState { host, ..NodeState::default() })
            })
            .collect();
        Self {
            rounds: Rounds::of(nodes.len() as u32),
            hosts,
            nodes,
            must_join,
            patience,
            began: now,
            first_join: None,
            told_of_strangers: false,
            passed_on: Vec::new(),
            asked_to_end: None,
            must_end_by: None,
            first_bad_code: None,
            phase: Phase::Running,
            orders: Vec::new(),
            lines: VecDeque::new(),
        }
    }

    /// The orders for all hosts.
    pub(super) fn take_orders(&mut self) -> Vec<ToAgent> {
        std::mem::take(&mut self.orders)
    }

    /// The next line for the user; the cause of the job's end is one of them, and the last.
    pub(super) fn take_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Whether nothing is left to wait for.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let gave_up = matches!(&self.phase, Phase::Ending { give_up_at, .. } if now >= *give_up_at);
        gave_up || self.hosts.iter().all(|host| host.is_over) && !matches!(self.phase, Phase::Suspect { .. })
    }

    /// Whether the job ended before its time.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Ending { .. })
    }

    /// The job's exit code, once it is over.
    pub(super) fn code(&self) -> u8 {
        let Phase::Ending { cause, .. } = &self.phase else { return self.first_bad_code.unwrap_or(0) };
        let own =
            cause.node.and_then(|node| self.nodes.get(node.index())).and_then(|node| node.exit.as_ref());
        match own {
            // A process that was told to end, or made to, has no better code than its cause.
            Some(&Exit::Code(code)) if code != 0 => code,
            _ => cause.code,
        }
    }

    /// Takes in an event of a host.
    pub(super) fn hear(&mut self, host: usize, event: FromAgent, now: Instant) {
        let named = match &event {
            FromAgent::Started { node, .. }
            | FromAgent::Said { node, .. }
            | FromAgent::Broke { node, .. }
            | FromAgent::Stopped { node, .. }
            | FromAgent::Exited { node, .. } => Some(*node),
            FromAgent::Ready { .. } | FromAgent::Output { .. } | FromAgent::Done => None,
        };
        if let Some(node) = named
            && self.nodes.get(node.index()).is_none_or(|state| state.host != host)
        {
            return self.lose_host(host, format!("its agent speaks for {node}, which is not there"), now);
        }
        match event {
            FromAgent::Ready { greeting } if greeting == GREETING => self.hosts[host].is_ready = true,
            FromAgent::Ready { greeting } => {
                self.lose_host(host, format!("`{greeting}` answers there, not `{GREETING}`"), now);
            }
            FromAgent::Started { node, pid } => self.nodes[node.index()].pid = Some(pid),
            FromAgent::Said { node, message } => self.hear_node(node, message, now),
            FromAgent::Broke { node, message } => {
                let text = format!("{} broke the rules: {message}", self.name(node));
                self.end(Cause::by(node, Weight::Final, text), now);
            }
            FromAgent::Stopped { node, signal } => {
                self.nodes[node.index()].stopped = signal.map(|signal| (signal, now + STOP_UNNOTICED));
            }
            FromAgent::Exited { node, exit } => {
                self.nodes[node.index()].exit = Some(exit);
                self.judge_exit(node, now);
            }
            FromAgent::Done => {
                self.hosts[host].is_over = true;
                self.settle(now);
                self.tell_of_singles();
            }
            // The launcher prints the output, which tells nothing about the job.
            FromAgent::Output { .. } => {}
        }
    }

    /// Takes in that a host is gone, and its nodes with it.
    pub(super) fn lose_host(&mut self, host: usize, cause: String, now: Instant) {
        if std::mem::replace(&mut self.hosts[host].is_over, true) {
            return;
        }
        for node in self.nodes.iter_mut().filter(|node| node.host == host && node.exit.is_none()) {
            node.exit = Some(Exit::WithHost(cause.clone()));
        }
        let name = self.hosts[host].name.as_deref().unwrap_or("this one");
        self.end(Cause::last_word(format!("host {name} was lost: {cause}"), 1), now);
        self.settle(now);
    }

    /// Passes a signal on; the second one that asks for the job's end ends it.
    pub(super) fn signal(&mut self, number: i32, now: Instant) {
        let asks_for_end = ![Signal::USR1.as_raw(), Signal::USR2.as_raw()].contains(&number);
        match self.asked_to_end.filter(|_| asks_for_end) {
            Some((first, at)) if first == number && now.duration_since(at) < TOGETHER => return,
            Some(_) => return self.end(Cause::last_word(ended_by(number), signal_code(number)), now),
            None if asks_for_end => self.asked_to_end = Some((number, now)),
            None => {}
        }
        if number == Signal::TERM.as_raw() {
            self.must_end_by = Some(now + END_PATIENCE);
        }
        self.passed_on.push(number);
        self.orders.push(ToAgent::Signal(number));
    }

    /// Ends the job for a reason of the launcher's own.
    pub(super) fn give_up(&mut self, text: String, code: u8, now: Instant) {
        self.end(Cause::last_word(text, code), now);
    }

    /// Ends the job because nobody reads its output any more, as a closed pipe ends a program: without a word, and with its exit code.
    pub(super) fn lose_reader(&mut self, now: Instant) {
        let cause =
            Cause::last_word("standard output was closed".to_owned(), signal_code(Signal::PIPE.as_raw()));
        self.stop(cause, now);
    }

    /// The time at which `tick` has something to do, at the latest.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Running => {
                let stops = self.nodes.iter().filter_map(|node| Some(node.keeps_waiting()?.1));
                let startup = [self.startup_deadline(), self.strangers_deadline(), self.must_end_by];
                stops.chain(startup.into_iter().flatten()).min()
            }
            Phase::Suspect { until, .. } => Some(*until),
            Phase::Ending { give_up_at, .. } => Some(*give_up_at),
        }
    }

    /// Does the work that is due.
    pub(super) fn tick(&mut self, now: Instant) {
        match &self.phase {
            Phase::Running if self.startup_deadline().is_some_and(|deadline| now >= deadline) => {
                let text = self.explain_wait();
                self.end(Cause::last_word(text, 1), now);
            }
            Phase::Running if self.must_end_by.is_some_and(|end| now >= end) => {
                let (term, seconds) = (Signal::TERM.as_raw(), END_PATIENCE.as_secs());
                let text = format!("{}: its nodes had not ended {seconds} s after it", ended_by(term));
                self.end(Cause::last_word(text, signal_code(term)), now);
            }
            Phase::Running => {
                self.tell_of_stops(now);
                self.tell_of_strangers(now);
            }
            Phase::Suspect { cause, until } if now >= *until => self.end(cause.clone(), now),
            _ => {}
        }
    }

    fn hear_node(&mut self, node: NodeId, message: FromNode, now: Instant) {
        match message {
            FromNode::Hello { .. } => {
                self.nodes[node.index()].has_joined = true;
                self.first_join.get_or_insert(now);
                // A process that ended before any joined was no ordinary program, it turns out, but a node that is missing.
                let gone = self.nodes.iter().position(|other| !other.has_joined && other.exit.is_some());
                if let Some(gone) = gone {
                    self.judge_exit(NodeId(gone as u32), now);
                }
            }
            FromNode::Gather { round, value } => match self.rounds.accept(node, round, value, now) {
                Ok(orders) => self.orders.extend(orders),
                Err(message) => {
                    self.hear(self.nodes[node.index()].host, FromAgent::Broke { node, message }, now);
                }
            },
            FromNode::Failed { message } => {
                self.nodes[node.index()].has_complained = true;
                let text = format!("{} failed: {message}", self.name(node));
                self.suspect(Cause::by(node, Weight::OwnWords, text), now);
            }
            FromNode::Lost { peer, message } => {
                self.nodes[node.index()].has_complained = true;
                let text = format!("{} lost {peer}: {message}", self.name(node));
                self.suspect(Cause::by(node, Weight::Hearsay, text), now);
            }
            FromNode::Finished { .. } => self.nodes[node.index()].has_finished = true,
        }
    }

    /// `node 3 (pid 123) on host b`, as far as that is known.
    fn name(&self, node: NodeId) -> String {
        let state = &self.nodes[node.index()];
        let pid = state.pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
        let host =
            self.hosts[state.host].name.as_ref().map_or_else(String::new, |host| format!(" on host {host}"));
        format!("{node}{pid}{host}")
    }
}

fn ended_by(signal: i32) -> String {
    format!("the job was ended by {}", name_signal(signal))
}

#[cfg(test)]
mod tests;
