//! One node as its agent sees it: a process, its socket, its two outputs, its end.

use super::exit::Exit;
use super::message::{FromAgent, Program, Stream};
use super::output;
use super::process::{self, Target};
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::{self, FromNode, ToNode};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::Signal;
use std::io;
use std::process::Child;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::signal::unix::{Signal as Arrivals, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet, spawn_local};

/// How long the report of a node's end waits for the node's last output: it is in the pipe already unless a descendant holds that open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How long to wait when the kernel refuses another descriptor because nodes have too many that they have not read.
const CROWDED: Duration = Duration::from_millis(10);

/// The time between two looks at a node's process if no SIGCHLD calls for one earlier: whoever started the launcher may have blocked it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A message for a node; one that stands for a descriptor comes with the descriptor, and with the room that it takes.
pub(super) struct Order {
    pub(super) message: ToNode,
    pub(super) descriptor: Option<(OwnedFd, Option<OwnedSemaphorePermit>)>,
}

/// A queue of messages for a node.
pub(super) type Orders = UnboundedSender<Order>;

/// A started node.
pub(super) struct Node {
    orders: Orders,
    target: Target,
}

impl Node {
    /// Starts the process and the tasks that attend to it, the last of which is in `tasks`.
    pub(super) fn start(
        id: NodeId,
        program: &Program,
        credit: &Rc<Semaphore>,
        events: &UnboundedSender<FromAgent>,
        tasks: &mut JoinSet<()>,
    ) -> io::Result<Self> {
        let changes = signal(SignalKind::child())?;
        let (mut child, socket) = process::start(program, id == NodeId(0))?;
        let socket = Rc::new(socket);
        let target = Target::of(&child);
        let started = FromAgent::Started { node: id, pid: child.id() };
        // An agent without a listener is ending; its nodes are told so otherwise.
        let _ = events.send(started);
        let (ended, ends) = watch::channel(false);
        let mut outputs = Vec::new();
        if let Some(pipe) = child.stdout.take() {
            let (credit, events) = (Rc::clone(credit), events.clone());
            outputs.push(spawn_local(output::forward(
                ChildStdout::from_std(pipe)?,
                (id, Stream::Output),
                ends.clone(),
                credit,
                events,
            )));
        }
        if let Some(pipe) = child.stderr.take() {
            let (credit, events) = (Rc::clone(credit), events.clone());
            let pipe = ChildStderr::from_std(pipe)?;
            outputs.push(spawn_local(output::forward(pipe, (id, Stream::Error), ends, credit, events)));
        }
        let (orders, to_send) = unbounded_channel();
        spawn_local(speak(id, Rc::clone(&socket), to_send, events.downgrade()));
        let events = events.clone();
        let keeper = Keeper { id, child, changes, socket, target: target.clone(), ended, outputs, events };
        tasks.spawn_local(keeper.attend());
        Ok(Self { orders, target })
    }

    /// Queues a message to the node.
    pub(super) fn tell(&self, message: ToNode) {
        // Sending fails when the node's socket broke: the node's end is on the way.
        let _ = self.orders.send(Order { message, descriptor: None });
    }

    /// The queue, for others that have messages for the node.
    pub(super) fn orders(&self) -> Orders {
        self.orders.clone()
    }

    /// Its process, to signal it.
    pub(super) fn target(&self) -> &Target {
        &self.target
    }
}

/// Sends the queued messages, in order, as fast as the node takes them.
async fn speak(
    node: NodeId,
    socket: Rc<AsyncFd<OwnedFd>>,
    mut to_send: UnboundedReceiver<Order>,
    events: WeakUnboundedSender<FromAgent>,
) {
    while let Some(Order { message, descriptor }) = to_send.recv().await {
        let descriptor = descriptor.as_ref().map(|(descriptor, _)| descriptor);
        loop {
            let Ok(mut room) = socket.writable().await else { return };
            let Ok(sent) = room.try_io(|socket| control::send(socket.get_ref(), &message, descriptor)) else {
                continue;
            };
            match sent {
                Ok(()) => break,
                Err(cause) if cause.raw_os_error() == Some(Errno::TOOMANYREFS.raw_os_error()) => {
                    tokio::time::sleep(CROWDED).await;
                }
                // The node is gone, and its keeper sees that; the message is moot.
                Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => return,
                Err(cause) => {
                    let message = format!("it cannot be told its orders: {cause}");
                    if let Some(events) = events.upgrade() {
                        let _ = events.send(FromAgent::Broke { node, message });
                    }
                    return;
                }
            }
        }
    }
}

/// The task that receives a node's messages until its process has ended, and reports that end last.
struct Keeper {
    id: NodeId,
    child: Child,
    /// Tells that some child of this process has stopped, gone on or ended.
    changes: Arrivals,
    socket: Rc<AsyncFd<OwnedFd>>,
    target: Target,
    ended: watch::Sender<bool>,
    outputs: Vec<JoinHandle<()>>,
    events: UnboundedSender<FromAgent>,
}

impl Keeper {
    async fn attend(mut self) {
        let mut listens = true;
        let mut looks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                heard = hear(&self.socket), if listens => {
                    listens = self.pass_on(heard);
                    continue;
                }
                _ = looks.tick() => {}
                _ = self.changes.recv() => {}
            }
            if self.target.has_ended() {
                break;
            }
            if let Some(signal) = self.target.look_for_stop() {
                let _ = self.events.send(FromAgent::Stopped { node: self.id, signal });
            }
        }
        // What it has started must not outlive it. As long as it is not reaped, the number of its group is nobody else's.
        self.target.signal_group(Signal::KILL);
        let status = self.child.wait();
        self.target.is_reaped();
        while listens {
            match control::receive(self.socket.get_ref()) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => break,
                heard => listens = self.pass_on(heard.map(|heard| heard.map(|(message, _)| message))),
            }
        }
        let mut outputs = std::mem::take(&mut self.outputs);
        let _ = self.ended.send(true);
        let heard_out = async {
            for output in &mut outputs {
                let _ = output.await;
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, heard_out).await;
        let exit =
            status.map_or_else(|cause| Exit::WithHost(format!("waiting for it failed: {cause}")), Exit::of);
        let _ = self.events.send(FromAgent::Exited { node: self.id, exit });
        for output in outputs.into_iter().filter(|output| !output.is_finished()) {
            let _ = output.await;
        }
    }

    /// Passes a message on to the launcher; returns whether more may come.
    fn pass_on(&self, heard: io::Result<Option<FromNode>>) -> bool {
        let node = self.id;
        match heard {
            Ok(Some(message)) => self.events.send(FromAgent::Said { node, message }).is_ok(),
            Ok(None) => false,
            Err(cause) => {
                let _ = self.events.send(FromAgent::Broke { node, message: cause.to_string() });
                false
            }
        }
    }
}

async fn hear(socket: &AsyncFd<OwnedFd>) -> io::Result<Option<FromNode>> {
    loop {
        let mut ready = socket.readable().await?;
        if let Ok(heard) = ready.try_io(|socket| control::receive(socket.get_ref())) {
            return heard.map(|heard| heard.map(|(message, _)| message));
        }
    }
}
