//! Local job: several nodes in one process, for tests that drive a whole job from one place.

use super::listening::{Listening, Ports};
use super::{Bootstrap, JobKey};
use crate::error::LrtsError;
use crate::ids::NodeId;
use parking_lot::{Condvar, Mutex};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long a node waits for the others to call `all_gather`: they are threads of this process.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Round {
    number: u64,
    values: Vec<Option<Vec<u8>>>,
    complete: Vec<Vec<u8>>,
}

struct Meeting {
    round: Mutex<Round>,
    all_here: Condvar,
}

/// One node's view of a job whose nodes are all in this process.
pub struct Local {
    node: NodeId,
    nodes: u32,
    key: JobKey,
    host_address: Option<IpAddr>,
    ports: Option<Ports>,
    neighbours: Vec<(NodeId, OwnedFd)>,
    meeting: Arc<Meeting>,
}

impl Local {
    /// The bootstraps of a job of `nodes` nodes, all neighbours of each other.
    ///
    /// # Errors
    /// The kernel's, when it grants no sockets.
    pub fn job(nodes: u32) -> std::io::Result<Vec<Self>> {
        let meeting = Arc::new(Meeting {
            round: Mutex::new(Round { values: vec![None; nodes as usize], ..Round::default() }),
            all_here: Condvar::new(),
        });
        let key = JobKey::random();
        let mut job: Vec<Self> = (0..nodes)
            .map(|node| Self {
                node: NodeId(node),
                nodes,
                key: key.clone(),
                host_address: None,
                ports: None,
                neighbours: Vec::new(),
                meeting: Arc::clone(&meeting),
            })
            .collect();
        for one in 0..nodes {
            for other in one + 1..nodes {
                let (here, there) = rustix::net::socketpair(
                    AddressFamily::UNIX,
                    SocketType::SEQPACKET,
                    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                    None,
                )?;
                job[one as usize].neighbours.push((NodeId(other), here));
                job[other as usize].neighbours.push((NodeId(one), there));
            }
        }
        Ok(job)
    }
}

impl Bootstrap for Local {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn key(&self) -> &JobKey {
        &self.key
    }

    fn neighbours(&self) -> Vec<NodeId> {
        self.neighbours.iter().map(|(peer, _)| *peer).collect()
    }

    fn take_neighbours(&mut self) -> Vec<(NodeId, OwnedFd)> {
        std::mem::take(&mut self.neighbours)
    }

    fn listen(&mut self, listening: &Listening) -> Result<(), LrtsError> {
        self.host_address = listening.address(false)?;
        self.ports = listening.ports;
        Ok(())
    }

    fn ports(&self) -> Option<Ports> {
        self.ports
    }

    fn host_address(&self) -> Option<IpAddr> {
        self.host_address
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let mut round = self.meeting.round.lock();
        let number = round.number;
        round.values[self.node.index()] = Some(value);
        if round.values.iter().all(Option::is_some) {
            round.complete = round.values.iter_mut().filter_map(Option::take).collect();
            round.number += 1;
            self.meeting.all_here.notify_all();
        }
        while round.number == number {
            if self.meeting.all_here.wait_for(&mut round, PATIENCE).timed_out() {
                return Err(LrtsError::Bootstrap(format!("{} waited in vain for the others", self.node)));
            }
        }
        Ok(round.complete.clone())
    }
}
