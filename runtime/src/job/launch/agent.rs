//! The agent of a host: it starts the nodes of the host and watches them, in the launcher's own process or at the far end of a remote
//! shell.
//!
//! 1. A node that greets the agent is welcomed, and introduced to all nodes of the host that greeted before.
//! 2. At the job's end, the agent tells the nodes that joined and sends SIGTERM to the others; after [`FORCE_AFTER`] it sends SIGKILL to
//!    whole process groups. The loss of the launcher is the job's end.
//! 3. The agent itself ends when all nodes are reaped and their output is on its way.

#![expect(clippy::disallowed_methods, reason = "processes end in real time")]

use super::exit::Exit;
use super::introduce::{Strangers, introduce};
use super::message::{CREDIT_BYTES, FromAgent, GREETING, Start, ToAgent};
use super::node::Node;
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::{FromNode, PROTOCOL, ToNode, Welcome};
use rustix::io::Errno;
use rustix::process::Signal;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::Instant;

/// How long nodes have to end by themselves.
const FORCE_AFTER: Duration = Duration::from_secs(2);

/// Runs the nodes of this host to their end. Must run in a `LocalSet`, on a thread that lives as long as they do.
pub(super) async fn run(mut orders: UnboundedReceiver<ToAgent>, events: UnboundedSender<FromAgent>) {
    // A launcher that does not listen any more has closed `orders` as well.
    let _ = events.send(FromAgent::Ready { greeting: GREETING.into() });
    let Some(ToAgent::Start(start)) = orders.recv().await else { return };
    let (from_nodes, mut heard) = unbounded_channel();
    let mut tasks = JoinSet::new();
    let mut agent = Agent::start(start, &from_nodes, &mut tasks);
    drop(from_nodes);
    let mut is_led = true;
    loop {
        let force_at = agent.force_at;
        tokio::select! {
            order = orders.recv(), if is_led => match order {
                Some(order) => agent.obey(order),
                None => {
                    is_led = false;
                    agent.end("the launcher of this job is gone");
                }
            },
            event = heard.recv() => match event {
                Some(event) => {
                    let reply = agent.hear(&event);
                    let _ = events.send(event);
                    if let Err((node, message)) = reply {
                        let _ = events.send(FromAgent::Broke { node, message });
                    }
                }
                // Every task that could send an event has ended.
                None => break,
            },
            () = at(force_at) => agent.force(),
        }
    }
    while tasks.join_next().await.is_some() {}
    let _ = events.send(FromAgent::Done);
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

struct Agent {
    start: Start,
    nodes: Vec<Option<Node>>,
    joined: Vec<NodeId>,
    credit: Rc<Semaphore>,
    strangers: UnboundedSender<Strangers>,
    is_ending: bool,
    force_at: Option<Instant>,
}

impl Agent {
    fn start(start: Start, events: &UnboundedSender<FromAgent>, tasks: &mut JoinSet<()>) -> Self {
        let credit = Rc::new(Semaphore::new(CREDIT_BYTES));
        let nodes = (start.first..start.first.saturating_add(start.count))
            .map(|node| {
                let node = NodeId(node);
                Node::start(node, &start.program, &credit, events, tasks)
                    .map_err(|cause| {
                        let cure = match cause.raw_os_error() == Some(Errno::MFILE.raw_os_error()) {
                            true => "; raise `ulimit -n`",
                            false => "",
                        };
                        let file = String::from_utf8_lossy(&start.program.file);
                        let exit = Exit::NotStarted(format!("`{file}`: {cause}{cure}"));
                        let _ = events.send(FromAgent::Exited { node, exit });
                    })
                    .ok()
            })
            .collect();
        let (strangers, pairs) = unbounded_channel();
        spawn_local(introduce(pairs, events.downgrade()));
        Self { start, nodes, joined: Vec::new(), credit, strangers, is_ending: false, force_at: None }
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        let position = id.0.checked_sub(self.start.first)?;
        self.nodes.get(position as usize)?.as_ref()
    }

    fn obey(&mut self, order: ToAgent) {
        match order {
            // One start per agent; a launcher that sends two is not ours, and the second is ignored.
            ToAgent::Start(_) => {}
            ToAgent::Gathered { round, first, values } => {
                for node in self.nodes.iter().flatten() {
                    node.tell(ToNode::Gathered { round, first, values: values.clone() });
                }
            }
            ToAgent::Signal(number) => self.signal(number),
            ToAgent::Taken { bytes } => {
                let lent = CREDIT_BYTES.saturating_sub(self.credit.available_permits());
                self.credit.add_permits(bytes.min(lent));
            }
            ToAgent::Abort { message } => self.end(&message),
        }
    }

    fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else { return };
        for node in self.nodes.iter().flatten() {
            // Signals that mean something to the program are for the program alone; signals that end it are for its children, too.
            match signal {
                Signal::USR1 | Signal::USR2 => node.target().signal(signal),
                _ => node.target().signal_group(signal),
            }
        }
    }

    /// Answers a greeting.
    fn hear(&mut self, event: &FromAgent) -> Result<(), (NodeId, String)> {
        let &FromAgent::Said { node, message: FromNode::Hello { protocol } } = event else { return Ok(()) };
        if protocol != PROTOCOL {
            let cause =
                format!("it speaks control protocol {protocol}, its launcher {PROTOCOL}; use the same build");
            return Err((node, cause));
        }
        if self.joined.contains(&node) {
            return Err((node, "it greeted twice".into()));
        }
        self.welcome(node);
        Ok(())
    }

    fn welcome(&mut self, id: NodeId) {
        let Some(node) = self.node(id) else { return };
        let welcome = Welcome {
            node: id,
            nodes: self.start.nodes,
            key: self.start.key,
            neighbours: self.start.count - 1,
            patience_ms: self.start.patience_ms,
        };
        node.tell(ToNode::Welcome(welcome));
        for &earlier in &self.joined {
            let Some(neighbour) = self.node(earlier) else { continue };
            // The other end lives as long as this agent.
            let _ = self.strangers.send([(id, node.orders()), (earlier, neighbour.orders())]);
        }
        self.joined.push(id);
    }

    fn end(&mut self, message: &str) {
        if self.is_ending {
            return;
        }
        self.is_ending = true;
        self.force_at = Some(Instant::now() + FORCE_AFTER);
        for (id, node) in (self.start.first..).map(NodeId).zip(&self.nodes) {
            let Some(node) = node else { continue };
            if self.joined.contains(&id) {
                node.tell(ToNode::Abort { message: message.to_owned() });
            } else {
                node.target().signal_group(Signal::TERM);
            }
        }
    }

    fn force(&mut self) {
        self.force_at = None;
        for node in self.nodes.iter().flatten() {
            node.target().signal_group(Signal::KILL);
        }
        // Output that waits for credit must not keep the job from ending.
        self.credit.close();
    }
}
