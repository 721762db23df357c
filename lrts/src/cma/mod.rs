//! CMA (cross memory attach): any memory of the nodes of one host, copied by the kernel from process to process. Never carries a
//! message.
//!
//! 1. Gets and puts only: the target's processor has no part in it, and they are over when the call returns.
//! 2. Liveness, range, rights and address come from the neighbour's board, under a claim.
//! 3. Each neighbour is probed when the backend opens; the kernel may deny any pair of processes. Transfers
//!    with a denied neighbour fail with [`TransferError::Refused`], and so does one that is denied later.
//! 4. This backend neither sends nor hears: a neighbour's death makes its transfers fail, and is reported by
//!    the backend that carries the frames.

mod copy;
mod permission;
mod sys;
mod vectors;

pub use permission::{Permit, permit};
pub use vectors::{VectorCosts, vector_costs};

use crate::bootstrap::Bootstrap;
use crate::error::{LrtsError, TransferError};
use crate::frame::Frame;
use crate::host::{HostPeers, get_by, put_by};
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey};
use permission::{Denial, probe};
use rustix::fd::BorrowedFd;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The backend of one node.
pub struct Cma {
    host_peers: Arc<HostPeers>,
    /// By the neighbours' positions.
    denials: Vec<Option<Denial>>,
    /// Set once, by `shutdown`.
    closing: AtomicBool,
}

impl Cma {
    /// Opens the backend and probes each neighbour: two system calls apiece.
    pub fn open(host_peers: Arc<HostPeers>) -> Self {
        let denials = probe_all(&host_peers);
        Self { host_peers, denials, closing: AtomicBool::new(false) }
    }

    /// The same after all nodes have opened themselves to their neighbours as far as these need it, and no further. Collective: all nodes
    /// of the job call it. One exchange between all nodes; three or four where yama has to be asked.
    ///
    /// # Errors
    /// The bootstrap's.
    pub fn agree(host_peers: Arc<HostPeers>, bootstrap: &mut dyn Bootstrap) -> Result<Self, LrtsError> {
        let neighbours: Vec<NodeId> = host_peers.nodes().collect();
        let mut denials = Vec::new();
        let asks = || {
            denials = probe_all(&host_peers);
            denials.iter().flatten().any(|denial| denial.is_grantable)
        };
        permission::agree(bootstrap, &neighbours, asks, permit)?;
        Ok(Self { host_peers, denials, closing: AtomicBool::new(false) })
    }

    /// Whether a node is a neighbour whose memory can be copied.
    pub fn allows(&self, node: NodeId) -> bool {
        self.host_peers.position(node).is_some_and(|position| self.denials[position].is_none())
    }

    /// Why a neighbour's memory cannot be copied; `None` if it can, or if the node is no neighbour.
    pub fn denied(&self, node: NodeId) -> Option<&str> {
        self.denial(node).map(|denial| denial.cause.as_str())
    }

    fn denial(&self, node: NodeId) -> Option<&Denial> {
        self.denials[self.host_peers.position(node)?].as_ref()
    }

    /// One sentence for the user when any neighbour is denied: who, why, what helps, and what happens instead.
    pub fn warning(&self) -> Option<String> {
        let mut denied = self.host_peers.nodes().zip(&self.denials).filter(|(_, denial)| denial.is_some());
        let (first, denial) = denied.next()?;
        let (others, denial) = (denied.count(), denial.as_ref()?);
        let mut who = first.to_string();
        if others > 0 {
            // Formatting into a string cannot fail.
            let _ = write!(who, " and {others} more");
        }
        Some(format!(
            "copying memory directly between processes (CMA) is not possible with {who}: {denial}; \
             messages carry the data instead, which is slower (`+nocma` silences this)"
        ))
    }

    /// A transfer with a denied neighbour fails before anything is claimed.
    fn permission(&self, node: NodeId) -> Result<(), TransferError> {
        match self.denial(node) {
            Some(denial) => Err(TransferError::Refused { node, cause: denial.to_string() }),
            None => Ok(()),
        }
    }
}

fn probe_all(host_peers: &HostPeers) -> Vec<Option<Denial>> {
    host_peers.neighbours().iter().map(|neighbour| probe(neighbour.introduction()).err()).collect()
}

impl Lrts for Cma {
    fn name(&self) -> &'static str {
        "cma"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: false,
            get: true,
            put: true,
            runs: false,
            view: false,
            device: false,
            immediate: true,
            frame_bytes_max: 0,
        }
    }

    /// # Panics
    /// Always: this backend has no messages.
    fn send(&self, target: NodeId, _frame: Frame<'_>) -> Result<(), NoRoom> {
        panic!("cma carries no messages (to {target}): capabilities().messages is false");
    }

    fn progress(&self, _sink: &mut dyn Sink) -> bool {
        // Nothing of this backend arrives; arenas and deaths may.
        self.host_peers.read_links_if_due();
        false
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(get));
        }
        match self.permission(get.key.node) {
            Ok(()) => get_by(&self.host_peers, get, copy::read),
            Err(error) => {
                Ok(Posted::Done(Completion { token: get.token, result: Err(error), memory: Some(get.into) }))
            }
        }
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(put));
        }
        match self.permission(put.key.node) {
            Ok(()) => put_by(&self.host_peers, put, copy::write),
            Err(error) => Ok(Posted::Done(Completion { token: put.token, result: Err(error), memory: None })),
        }
    }

    fn view(
        &self,
        _key: &RegionKey,
        _offset: u64,
        _len: usize,
        _entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    fn claim(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        mode: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(ClaimError::Busy);
        }
        self.permission(key.node).map_err(ClaimError::Failed)?;
        let claim = self.host_peers.claim(key, offset, len as u64, mode)?;
        let range = copy::KernelRange::new(claim, offset).map_err(ClaimError::Failed)?;
        Ok(Some(ClaimedRange::there(range)))
    }

    fn arm(&self) -> bool {
        true
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
    }

    fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests;
