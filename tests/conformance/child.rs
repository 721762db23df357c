//! Child process: this program again, in the role of a node that sends and serves until it is killed, or of one that guards its
//! memory against forged handles; and the bootstrap of such a job of two, which is one pair of sockets.

use crate::group::{Backend, Heard, Node, PATIENCE};
use crate::{backends, forged};
use chare_lrts::bootstrap::{Bootstrap, JobKey, Membership};
use chare_lrts::{Frame, LrtsError, NodeId, RegionKey};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Names part and backend to a process that plays a role: `PART BACKEND`.
const ROLE: &str = "CHARE_CONFORMANCE_CHILD";

/// Sends and serves.
const SENDER: &str = "sender";

/// Serves, and looks after its memory; see `forged`.
pub(crate) const GUARD: &str = "guard";

/// Long enough for several frames of every backend.
const REGION_BYTES: usize = 3 << 20;

/// Node 0 of a job whose node 1 is another process.
pub(crate) struct Child {
    pub(crate) node: Node,
    /// A region of node 1.
    pub(crate) key: RegionKey,
    process: Process,
}

impl Child {
    /// Starts the other process and connects to it.
    ///
    /// # Errors
    /// Why this backend cannot do that.
    pub(crate) fn start(backend: &dyn Backend) -> Result<Self, String> {
        let (process, mut pair) = launch(backend, SENDER)?;
        let node = backend.open_one(&mut pair)?;
        let key = exchange_keys(&mut pair, &node);
        Ok(Self { node, key, process })
    }

    /// Kills the other process, as the kernel kills: at once, whatever it was doing.
    pub(crate) fn kill(&mut self) {
        self.process.0.kill().expect("it is our child");
        self.process.0.wait().expect("it is our child");
    }
}

/// Another process, which does not outlive its check.
pub(crate) struct Process(pub(crate) std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Fails when it ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts another process in a role; its bootstrap is ours.
///
/// # Errors
/// Why this backend cannot do that.
pub(crate) fn launch(backend: &dyn Backend, part: &str) -> Result<(Process, Pair), String> {
    if let Some(why) = backend.one_process_only() {
        return Err(why.to_owned());
    }
    let (stream, their_stream) = UnixStream::pair().expect("a socket pair");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (link, their_link) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
        .expect("a socket pair");
    let process = Command::new(std::env::current_exe().expect("this program has a path"))
        .env(ROLE, format!("{part} {}", backend.name()))
        .stdin(Stdio::from(OwnedFd::from(their_stream)))
        .stdout(Stdio::from(their_link))
        .spawn()
        .expect("this program starts again");
    let pair = Pair::first(stream, link).expect("the other process reads the key");
    Ok((Process(process), pair))
}

/// Tells the other node one of our regions and returns one of its.
fn exchange_keys(bootstrap: &mut dyn Bootstrap, node: &Node) -> RegionKey {
    let key = node.source(REGION_BYTES, 1);
    let words = [u64::from(key.slot), key.generation, key.len];
    let mine = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let other = NodeId(1 - bootstrap.node().0);
    let keys = bootstrap.all_gather(mine).expect("the other node tells its region");
    let (words, _) = keys[other.index()].as_chunks::<8>();
    let word = |index: usize| u64::from_le_bytes(words[index]);
    RegionKey { node: other, slot: word(0) as u32, generation: word(1), len: word(2) }
}

/// Plays the other process, if this process was started as one.
pub(crate) fn play_role() -> Option<ExitCode> {
    let role = std::env::var(ROLE).ok()?;
    let (part, name) = role.split_once(' ')?;
    let own = |fd: rustix::fd::BorrowedFd<'_>| fd.try_clone_to_owned().expect("an inherited socket");
    let stream = UnixStream::from(own(std::io::stdin().as_fd()));
    let link = own(std::io::stdout().as_fd());
    // Only the clones stay: the parent must see the end of the sockets when this process dies.
    let backend = backends::all().into_iter().find(|backend| backend.name() == name)?;
    let mut pair = Pair::second(stream, link).expect("the first process tells the key");
    let node = match backend.open_one(&mut pair) {
        Ok(node) => node,
        // The first process meets the same, and tells it as the reason why it skips the check.
        Err(why) => {
            eprintln!("{name} is not opened by the second process: {why}");
            return Some(ExitCode::FAILURE);
        }
    };
    if part == GUARD {
        return Some(forged::guard(&mut pair, &node));
    }
    exchange_keys(&mut pair, &node);
    let mut heard = Heard::default();
    let deadline = Instant::now() + PATIENCE;
    while heard.lost.is_empty() && heard.closed.is_empty() && Instant::now() < deadline {
        if node.lrts.capabilities().messages {
            // Refused frames are made again: their content does not matter.
            let _ = node.lrts.send(NodeId(0), Frame::runtime(&[7; 1_000]));
        }
        node.lrts.progress(&mut heard);
    }
    Some(ExitCode::FAILURE)
}

/// One side of the pair.
pub(crate) struct Pair {
    membership: Membership,
    other: UnixStream,
}

impl Pair {
    /// Node 0: makes the key and tells it to the other.
    pub(crate) fn first(mut other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        let key = JobKey::random();
        other.write_all(&key.0)?;
        Self::new(NodeId(0), key, other, neighbour)
    }

    /// Node 1.
    pub(crate) fn second(mut other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        let mut key = [0; 32];
        other.read_exact(&mut key)?;
        Self::new(NodeId(1), JobKey(key), other, neighbour)
    }

    fn new(node: NodeId, key: JobKey, other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        other.set_read_timeout(Some(crate::group::PATIENCE))?;
        let neighbours = vec![(NodeId(1 - node.0), neighbour)];
        Ok(Self { membership: Membership::new(node, 2, key, neighbours), other })
    }

    fn exchange(&mut self, mine: &[u8]) -> std::io::Result<Vec<u8>> {
        self.other.write_all(&(mine.len() as u32).to_le_bytes())?;
        self.other.write_all(mine)?;
        let mut len = [0; 4];
        self.other.read_exact(&mut len)?;
        let mut theirs = vec![0; u32::from_le_bytes(len).min(1_024) as usize];
        self.other.read_exact(&mut theirs)?;
        Ok(theirs)
    }
}

impl Bootstrap for Pair {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let theirs = self.exchange(&value).map_err(|error| LrtsError::Bootstrap(error.to_string()))?;
        Ok(if self.node().0 == 0 { vec![value, theirs] } else { vec![theirs, value] })
    }
}
