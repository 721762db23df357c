//! Managed node: finds its place in a job that a foreign launcher started (`mpirun`, `mpiexec`, `srun`), by asking its process
//! manager. Never carries a message.
//!
//! 1. The process manager answers rank and size and keeps what each process publishes (`ProcessManager`); nothing else
//!    of it is used, no library of MPI is linked, and `pmix`'s library is loaded only where its variables are set.
//! 2. In the first exchange every node publishes who it is (`Introduction`); node 0's key becomes the job's key. Who may
//!    read what a process manager keeps may join the job: it hands it to the processes of one user's job alone.
//! 3. Nodes of one host find each other by a socket with a random name (`neighbours`).
//! 4. A process that a launcher started as one of several joins them or fails; it never runs as a job of its own.

#![expect(clippy::disallowed_methods, reason = "a process manager answers in real time")]

mod hex_chunks;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod neighbours;
mod pmi1;
mod pmix;
mod process_manager;

use super::control::VALUE_BYTES_MAX;
use super::launchers::{self, ManagerFound};
use super::{Bootstrap, JobKey, Membership, hosts, variables};
use crate::codec;
use crate::error::LrtsError;
use crate::ids::NodeId;
#[cfg(feature = "mpi")]
use chare_mpi_sys::{Communicator, Threads};
use hex_chunks::{from_hex_chunks, to_hex_chunks};
use neighbours::Meeting;
use pmi1::Pmi1;
use pmix::Pmix;
use process_manager::ProcessManager;
use serde::{Deserialize, Serialize};
#[cfg(feature = "mpi")]
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The variables that would make a child believe that it is this process.
const PMI1_VARIABLES: [&str; 3] = ["PMI_FD", "PMI_RANK", "PMI_SIZE"];

/// What a node tells the others about itself.
#[derive(Serialize, Deserialize)]
struct Introduction {
    /// Equal for two nodes that can be neighbours.
    host: String,
    /// Where neighbours find it, and what they must know.
    meeting: Meeting,
    /// The job's key, if this is node 0's.
    key: [u8; 32],
}

/// A place in a job that a foreign launcher started.
pub struct Managed {
    manager: Box<dyn ProcessManager>,
    membership: Membership,
    has_other_hosts: bool,
    patience: Duration,
    round: u64,
    #[cfg(feature = "mpi")]
    communicator: Option<Arc<Communicator>>,
}

impl Managed {
    /// This process's place, if a foreign launcher started it; blocks until all processes of the job have started, at most
    /// for `patience`.
    ///
    /// Call it before other threads exist: only then can the environment be changed so that no child of this process
    /// mistakes itself for it.
    ///
    /// # Errors
    /// When the process manager or another process does not answer, or a neighbour cannot be met.
    pub fn from_environment(patience: Duration) -> Result<Option<Self>, LrtsError> {
        let Some(found) = ManagerFound::of_this_process()? else { return Ok(None) };
        let manager = connect(found, patience).map_err(LrtsError::Bootstrap)?;
        Self::join(manager, patience).map(Some)
    }

    /// This process's place in an MPI job, of which it becomes a part; blocks until all its processes have come, at most for
    /// `patience`. `library` names MPI's shared library. Call it before other threads exist.
    ///
    /// # Errors
    /// No MPI is here, it fails, or another process does not answer.
    #[cfg(feature = "mpi")]
    pub fn by_mpi(library: Option<&str>, patience: Duration) -> Result<Self, LrtsError> {
        let (communicator, ends_mpi) = mpi::start::start(library, Threads::Serialized)?;
        Self::among(communicator, ends_mpi, patience)
    }

    /// This process's place in a communicator; MPI goes on after the job.
    ///
    /// # Errors
    /// Another process does not answer.
    #[cfg(feature = "mpi")]
    pub fn in_communicator(communicator: Communicator, patience: Duration) -> Result<Self, LrtsError> {
        Self::among(communicator, false, patience)
    }

    #[cfg(feature = "mpi")]
    fn among(communicator: Communicator, ends_mpi: bool, patience: Duration) -> Result<Self, LrtsError> {
        let communicator = Arc::new(communicator);
        let mut managed =
            Self::join(Box::new(mpi::MpiManager::new(Arc::clone(&communicator), ends_mpi)), patience)?;
        managed.communicator = Some(communicator);
        Ok(managed)
    }

    fn join(manager: Box<dyn ProcessManager>, patience: Duration) -> Result<Self, LrtsError> {
        let (rank, size) = (manager.rank(), manager.size());
        if rank >= size {
            return Err(LrtsError::Bootstrap(format!(
                "{} calls this process {rank} of {size}",
                manager.name()
            )));
        }
        let failed = |what: &str, cause: std::io::Error| LrtsError::Bootstrap(format!("{what}: {cause}"));
        let key = JobKey::random();
        let door = neighbours::Door::open().map_err(|cause| failed("no socket for neighbours", cause))?;
        let mine = Introduction {
            host: hosts::identity(),
            meeting: door.meeting(),
            key: if rank == 0 { key.0 } else { [0; 32] },
        };
        let mut managed = Self {
            manager,
            membership: Membership::new(NodeId(rank), size, key, Vec::new()),
            has_other_hosts: false,
            patience,
            round: 0,
            #[cfg(feature = "mpi")]
            communicator: None,
        };
        let mut bytes = Vec::new();
        codec::encode_into(&mine, &mut bytes).expect("an introduction is plain data");
        let introductions = managed
            .all_gather(bytes)?
            .iter()
            .zip((0..).map(NodeId))
            .map(|(bytes, node)| decode(bytes, node))
            .collect::<Result<Vec<_>, _>>()?;
        managed.membership.key = JobKey(introductions[0].key);
        managed.has_other_hosts = introductions.iter().any(|theirs| theirs.host != mine.host);
        let same_host = (0..).map(NodeId).zip(&introductions).filter(|(_, theirs)| theirs.host == mine.host);
        let meetings: Vec<_> = same_host.map(|(node, theirs)| (node, theirs.meeting)).collect();
        managed.membership.neighbours = door
            .meet(NodeId(rank), &meetings, managed.deadline())
            .map_err(|(peer, cause)| failed(&format!("{peer} of this host cannot be met"), cause))?;
        Ok(managed)
    }

    /// Ends start-up: what remains is to say when this node has finished.
    pub fn into_session(self) -> Session {
        Session { manager: self.manager }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }
}

/// A running node's line to the process manager. Dropped without [`Session::finish`] the node counts as failed, and the launcher
/// ends the other processes.
pub struct Session {
    manager: Box<dyn ProcessManager>,
}

impl Session {
    /// Says that this node did all its work.
    pub fn finish(mut self) {
        self.manager.finish();
    }
}

impl Bootstrap for Managed {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn has_other_hosts(&mut self) -> Result<bool, LrtsError> {
        Ok(self.has_other_hosts)
    }

    #[cfg(feature = "mpi")]
    fn communicator(&self) -> Option<Arc<Communicator>> {
        self.communicator.clone()
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        assert!(value.len() <= VALUE_BYTES_MAX, "a published value has at most {VALUE_BYTES_MAX} bytes");
        let deadline = self.deadline();
        let (round, name) = (self.round, self.manager.name());
        self.round += 1;
        let failed = |what: String| LrtsError::Bootstrap(format!("{name}: {what}"));
        let (rank, chars_max) = (self.manager.rank(), self.manager.text_chars_max());
        for (chunk, text) in to_hex_chunks(&value, chars_max).iter().enumerate() {
            self.manager.publish(&key_of(round, rank, chunk), text).map_err(failed)?;
        }
        self.manager.fence(deadline).map_err(failed)?;
        (0..self.manager.size())
            .map(|rank| {
                let mut chunk = 0;
                from_hex_chunks(|| {
                    chunk += 1;
                    self.manager.look_up(rank, &key_of(round, rank, chunk - 1), deadline)
                })
                .map_err(|cause| failed(format!("what {} published: {cause}", NodeId(rank))))
            })
            .collect()
    }
}

/// Connects to a process manager.
fn connect(found: ManagerFound, patience: Duration) -> Result<Box<dyn ProcessManager>, String> {
    launchers::take_place();
    match found {
        // Its library reads the variables and starts a thread, after which nobody may take them out.
        ManagerFound::Pmix { .. } => Ok(Box::new(Pmix::connect(patience)?)),
        ManagerFound::Pmi1 { descriptor, .. } => {
            let manager = Pmi1::connect(descriptor, patience)?;
            variables::remove(&PMI1_VARIABLES);
            Ok(Box::new(manager))
        }
    }
}

fn key_of(round: u64, rank: u32, chunk: usize) -> String {
    format!("chare-{round}-{rank}-{chunk}")
}

fn decode(bytes: &[u8], node: NodeId) -> Result<Introduction, LrtsError> {
    codec::decode(bytes).map_err(|cause| {
        LrtsError::Bootstrap(format!(
            "{node} runs another program or version; start one build everywhere: {cause}"
        ))
    })
}

impl std::fmt::Debug for Managed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rank, size) = (self.manager.rank(), self.manager.size());
        write!(out, "Managed({rank} of {size} under {})", self.manager.name())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Session({})", self.manager.name())
    }
}
