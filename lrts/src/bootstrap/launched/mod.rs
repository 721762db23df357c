//! Launched node: finds its place in the job through a socket that our launcher left to it, and reports over it later.
//!
//! 1. The launcher names the socket in [`VARIABLE`] as `descriptor:inode`. The inode tells the socket from whatever
//!    else may have that number in a process that merely inherited the environment.
//! 2. The socket is taken once, and no child of the program inherits it: see `inherited`.
//! 3. During start-up the caller's thread reads the socket; afterwards only [`Control::watch`] does.

#![expect(clippy::disallowed_methods, reason = "a launcher answers in real time")]

use super::control::{self, FromNode, PROTOCOL, ToNode, VALUE_BYTES_MAX, VALUES_PER_MESSAGE, Welcome};
use super::wait::wait_readable;
use super::{Bootstrap, JobKey, Membership, hosts, inherited, variables};
use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::fd::{OwnedFd, RawFd};
use rustix::net::{Shutdown, SocketType};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The environment variable through which a launcher tells a node where its socket is.
pub const VARIABLE: &str = "CHARE_LAUNCH";

/// How much longer than the launcher a node waits: the launcher knows who is missing and shall say it.
const MARGIN: Duration = Duration::from_secs(5);

/// A place in a job that a launcher started.
#[derive(Debug)]
pub struct Launched {
    socket: OwnedFd,
    membership: Membership,
    /// Whether the launcher runs all nodes on this host.
    is_one_host: bool,
    patience: Duration,
    round: u64,
}

impl Launched {
    /// This process's place, if a launcher started it; blocks until the other nodes of this host have started.
    ///
    /// Call it before other threads exist: only then can the variable be taken out of the environment. (If it
    /// stays, it is harmless to this process and its children: the socket it names is taken once.)
    ///
    /// # Errors
    /// When the launcher ends the job or speaks another protocol, or when the variable is no launcher's.
    pub fn from_environment() -> Result<Option<Self>, LrtsError> {
        let Some(value) = std::env::var_os(VARIABLE) else { return Ok(None) };
        let (descriptor, inode) = value
            .to_str()
            .and_then(|value| value.split_once(':'))
            .and_then(|(descriptor, inode)| Some((descriptor.parse().ok()?, inode.parse().ok()?)))
            .ok_or_else(|| {
                LrtsError::Bootstrap(format!("{VARIABLE} is {value:?}, which no launcher sets; unset it"))
            })?;
        let socket = take_socket(descriptor, inode);
        variables::remove(&[VARIABLE]);
        socket.map(Self::join).transpose()
    }

    /// Asks for a place over a socket to a launcher; blocks until the other nodes of this host have started.
    ///
    /// # Errors
    /// As for [`Launched::from_environment`].
    pub fn join(socket: OwnedFd) -> Result<Self, LrtsError> {
        control::send(&socket, &FromNode::Hello { protocol: PROTOCOL }, None)
            .map_err(|cause| LrtsError::Bootstrap(format!("cannot greet the launcher: {cause}")))?;
        let Welcome { node, nodes, key, neighbours, patience_ms } = match receive(&socket, None)? {
            (ToNode::Welcome(welcome), None) => welcome,
            (other, _) => return Err(unexpected(&other)),
        };
        if node.0 >= nodes || neighbours >= nodes {
            return Err(LrtsError::Bootstrap(format!("the launcher calls this {node} of {nodes}")));
        }
        let patience = Duration::from_millis(patience_ms);
        let mut launched = Self {
            socket,
            membership: Membership::new(node, nodes, JobKey(key), Vec::new()),
            is_one_host: neighbours + 1 == nodes,
            patience,
            round: 0,
        };
        let deadline = launched.deadline();
        for _ in 0..neighbours {
            match receive(&launched.socket, deadline)? {
                (ToNode::Neighbour(peer), Some(socket)) if peer.0 < nodes && peer != node => {
                    launched.membership.neighbours.push((peer, socket));
                }
                (other, _) => return Err(unexpected(&other)),
            }
        }
        launched.membership.neighbours.sort_by_key(|(peer, _)| *peer);
        Ok(launched)
    }

    /// Ends start-up: what remains is reporting to the launcher and hearing from it.
    pub fn into_control(self) -> Control {
        Control { line: Arc::new(Line { socket: self.socket, closed: AtomicBool::new(false) }) }
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.patience.saturating_add(MARGIN))
    }
}

impl Bootstrap for Launched {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    /// Hosts of other names may still be this one.
    fn has_other_hosts(&mut self) -> Result<bool, LrtsError> {
        let own = hosts::identity().into_bytes();
        Ok(!self.is_one_host && self.all_gather(own.clone())?.iter().any(|host| *host != own))
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        assert!(value.len() <= VALUE_BYTES_MAX, "a published value has at most {VALUE_BYTES_MAX} bytes");
        control::send(&self.socket, &FromNode::Gather { round: self.round, value }, None)
            .map_err(|cause| LrtsError::Bootstrap(format!("cannot reach the launcher: {cause}")))?;
        let deadline = self.deadline();
        let nodes = self.nodes() as usize;
        let mut gathered: Vec<Vec<u8>> = Vec::new();
        while gathered.len() < nodes {
            let rest = nodes - gathered.len();
            match receive(&self.socket, deadline)?.0 {
                ToNode::Gathered { round, first, values }
                    if round == self.round
                        && first as usize == gathered.len()
                        && (1..=rest.min(VALUES_PER_MESSAGE)).contains(&values.len()) =>
                {
                    gathered.extend(values);
                }
                other => return Err(unexpected(&other)),
            }
        }
        self.round += 1;
        Ok(gathered)
    }
}

struct Line {
    socket: OwnedFd,
    /// Written once by the control handle that goes away; read by the watcher after the socket woke it up.
    closed: AtomicBool,
}

/// The end of a job, as a node hears of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// The launcher ends the job, for this reason; it sees to what the node has started.
    Aborted(String),
    /// The launcher is gone, or cannot be understood: nobody sees to what the node has started.
    Abandoned(String),
}

/// A running node's line to its launcher. Dropping it ends the watch, too.
///
/// Reports are delivered if the launcher lives; if it does not, the watch says so, and nobody is left to read a report.
pub struct Control {
    line: Arc<Line>,
}

impl Control {
    /// Ends the job: this node cannot go on, and `message` says why.
    pub fn report_failure(&self, message: impl Into<String>) {
        self.report(&FromNode::Failed { message: control::shorten(message.into()) });
    }

    /// Ends the job: `peer` is gone. The launcher may know better why, and names that cause then.
    pub fn report_lost(&self, peer: NodeId, message: impl Into<String>) {
        self.report(&FromNode::Lost { peer, message: control::shorten(message.into()) });
    }

    /// Says that this node did all its work and will exit with `code`. A node that exits without this is lost.
    pub fn finished(&self, code: u8) {
        self.report(&FromNode::Finished { code });
    }

    /// Listens in a thread of its own for the end of the job, and calls `on_end` with it, once.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn watch(&self, on_end: impl FnOnce(Ordered) + Send + 'static) -> io::Result<()> {
        let line = Arc::clone(&self.line);
        std::thread::Builder::new().name("chare-control".into()).spawn(move || {
            let end = loop {
                match control::receive(&line.socket) {
                    Ok(Some((ToNode::Abort { message }, _))) => break Ordered::Aborted(message),
                    // Left over from an exchange that this node gave up.
                    Ok(Some(_)) => {}
                    Ok(None) => break Ordered::Abandoned(GONE.to_owned()),
                    Err(cause) => break Ordered::Abandoned(unheard(&cause)),
                }
            };
            if !line.closed.load(Ordering::Acquire) {
                on_end(end);
            }
        })?;
        Ok(())
    }

    fn report(&self, message: &FromNode) {
        // It fails only when the launcher is gone, and then the watch has heard the end of the stream.
        let _ = control::send(&self.line.socket, message, None);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.line.closed.store(true, Ordering::Release);
        // Wakes the watcher; what was sent before still arrives.
        let _ = rustix::net::shutdown(&self.line.socket, Shutdown::Both);
    }
}

/// The next message; the ways in which a launcher ends a job are errors.
fn receive(socket: &OwnedFd, deadline: Option<Instant>) -> Result<(ToNode, Option<OwnedFd>), LrtsError> {
    deadline.map_or(Ok(()), |deadline| wait_readable(socket, deadline)).map_err(|cause| {
        LrtsError::Bootstrap(match cause.kind() {
            io::ErrorKind::TimedOut => "the launcher does not answer; is it suspended?".to_owned(),
            _ => format!("waiting for the launcher failed: {cause}"),
        })
    })?;
    match control::receive(socket) {
        Ok(Some((ToNode::Abort { message }, _))) => Err(LrtsError::Bootstrap(message)),
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err(LrtsError::Bootstrap(GONE.into())),
        Err(cause) => Err(LrtsError::Bootstrap(unheard(&cause))),
    }
}

const GONE: &str = "the launcher of this job is gone";

fn unheard(cause: &io::Error) -> String {
    format!("hearing from the launcher failed: {cause}")
}

fn unexpected(message: &ToNode) -> LrtsError {
    let what = match message {
        ToNode::Welcome(_) => "a second welcome",
        ToNode::Neighbour(_) => "a neighbour out of turn",
        ToNode::Gathered { .. } => "values out of turn",
        ToNode::Abort { .. } => "the end",
    };
    LrtsError::Bootstrap(format!("the launcher sent {what}; launcher and program must be of the same build"))
}

/// The socket of a launcher, which has this inode.
fn take_socket(descriptor: RawFd, inode: u64) -> Option<OwnedFd> {
    inherited::take_socket(descriptor, |socket| {
        rustix::fs::fstat(socket).is_ok_and(|found| found.st_ino == inode)
            && rustix::net::sockopt::socket_type(socket) == Ok(SocketType::SEQPACKET)
    })
}

#[cfg(test)]
mod tests;
