//! Local job: several nodes in one process, for tests that drive a whole job from one place.

use super::{Bootstrap, JobKey, Membership};
use crate::error::LrtsError;
use crate::ids::NodeId;
use parking_lot::{Condvar, Mutex};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
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
    membership: Membership,
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
                membership: Membership::new(NodeId(node), nodes, key.clone(), Vec::new()),
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
                job[one as usize].membership.neighbours.push((NodeId(other), here));
                job[other as usize].membership.neighbours.push((NodeId(one), there));
            }
        }
        Ok(job)
    }
}

impl Bootstrap for Local {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let mut round = self.meeting.round.lock();
        let number = round.number;
        round.values[self.node().index()] = Some(value);
        if round.values.iter().all(Option::is_some) {
            round.complete = round.values.iter_mut().filter_map(Option::take).collect();
            round.number += 1;
            self.meeting.all_here.notify_all();
        }
        while round.number == number {
            if self.meeting.all_here.wait_for(&mut round, PATIENCE).timed_out() {
                return Err(LrtsError::Bootstrap(format!("{} waited in vain for the others", self.node())));
            }
        }
        Ok(round.complete.clone())
    }
}
