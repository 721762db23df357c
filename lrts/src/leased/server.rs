//! Leases that one peer holds on regions of this node.
//!
//! 1. A lease is a claim and a registration: from its grant to its release nobody else touches the range against the
//!    claim's rules, its memory stays, and the network reaches it under the window that the grant told.
//! 2. A range that another operation holds makes the peer wait; it is tried again when this node is told that the operation is over
//!    ([`Waiters`]).
//! 3. Leases of a lost peer are never released: what is left of its operations in the network may still touch the
//!    memory, until the endpoint is closed.

use super::endpoint::Endpoint;
use super::registrations::{RegionName, Registrations};
use super::wire::{Control, Window};
use crate::emulated::wire::{OPERATIONS_MAX, OperationId, Range, Reason};
use crate::fabric::peers::Serve;
use crate::region::claim::ClaimMode;
use crate::region::waiters::Waiters;
use crate::region::{Claim, RegionKey, Regions};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

enum Lease {
    Waiting { range: Range, writing: bool },
    Granted { claim: Claim, region: Option<RegionName> },
}

/// The network's part in a lease.
pub(super) struct Network<'a> {
    pub(super) endpoint: &'a mut dyn Endpoint,
    pub(super) registrations: &'a mut Registrations,
}

/// One peer's leases.
pub(super) struct Server {
    regions: Arc<Regions>,
    leases: BTreeMap<OperationId, Lease>,
    waiting: Waiters<OperationId>,
}

impl Serve for Server {
    fn is_idle(&self) -> bool {
        self.leases.is_empty()
    }

    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn is_due(&self) -> bool {
        self.waiting.is_due()
    }
}

impl Server {
    pub(super) fn new(regions: Arc<Regions>) -> Self {
        Self { leases: BTreeMap::new(), waiting: Waiters::new(Arc::clone(&regions)), regions }
    }

    /// Whether the peer holds a lease. One that waits for a claim holds none yet.
    pub(super) fn has_granted(&self) -> bool {
        self.leases.len() > self.waiting.len()
    }

    /// The peer asks for a lease.
    ///
    /// # Errors
    /// What no correct peer asks, in words.
    pub(super) fn open(
        &mut self,
        id: OperationId,
        range: Range,
        writing: bool,
        network: &mut Network<'_>,
        answers: &mut VecDeque<Control>,
    ) -> Result<(), String> {
        if self.leases.len() >= OPERATIONS_MAX {
            return Err(format!("it opened more than {OPERATIONS_MAX} operations at a time"));
        }
        if self.leases.contains_key(&id) {
            return Err(format!("it opened operation {id} twice"));
        }
        self.serve(id, range, writing, network, answers);
        Ok(())
    }

    fn serve(
        &mut self,
        id: OperationId,
        range: Range,
        writing: bool,
        network: &mut Network<'_>,
        answers: &mut VecDeque<Control>,
    ) {
        let Range { slot, generation, offset, len } = range;
        let key = RegionKey { node: self.regions.node(), slot, generation, len };
        let mode = if writing { ClaimMode::Write } else { ClaimMode::Read };
        let claim = || match network.endpoint.reaches_devices() {
            true => self.regions.claim_for_network(&key, (offset, len), mode),
            false => self.regions.claim(&key, offset, len, mode),
        };
        let claim = match self.waiting.claim(id, (&key, mode), claim) {
            Ok(Some(claim)) => claim,
            Ok(None) => {
                crate::sometimes!("a lease waited for others to leave its memory");
                self.leases.insert(id, Lease::Waiting { range, writing });
                return;
            }
            Err(error) => {
                answers.push_back(Control::Failed { id, reason: Reason::of(&error) });
                return;
            }
        };
        let nothing = Window { address: 0, key: 0 };
        let (window, region) = match self.regions.extent(&key) {
            _ if claim.is_empty() => (nothing, None),
            // It has ended since it was claimed.
            None => {
                answers.push_back(Control::Failed { id, reason: Reason::Stale });
                return;
            }
            Some(extent) => {
                match network.registrations.lease(network.endpoint, (slot, generation), &extent) {
                    Ok(Window { address, key }) => {
                        // The claim's range lies inside the region, so that this is no wrap-around.
                        let first = claim.address() as usize - extent.place.address as usize;
                        (Window { address: address + first as u64, key }, Some((slot, generation)))
                    }
                    Err(_) => {
                        crate::sometimes!("a region could not be registered with the network");
                        answers.push_back(Control::Unregistered { id });
                        return;
                    }
                }
            }
        };
        self.leases.insert(id, Lease::Granted { claim, region });
        answers.push_back(Control::Granted { id, window });
    }

    /// The peer is done with a lease.
    ///
    /// # Errors
    /// When it holds none of this name.
    pub(super) fn release(&mut self, id: OperationId, network: &mut Network<'_>) -> Result<(), String> {
        match self.leases.remove(&id) {
            Some(Lease::Granted { claim, region }) => {
                drop(claim);
                if let Some(region) = region {
                    network.registrations.release(network.endpoint, region);
                }
                Ok(())
            }
            _ => Err(format!("it released operation {id}, which holds no lease")),
        }
    }

    /// Tries busy ranges once more, when it is time; when `closing`, gives up those that still are. Returns whether any went on.
    pub(super) fn retry(
        &mut self,
        closing: bool,
        network: &mut Network<'_>,
        answers: &mut VecDeque<Control>,
    ) -> bool {
        if !closing && !self.waiting.is_due() {
            return false;
        }
        let before = self.waiting.len();
        for id in self.waiting.take() {
            if let Some(Lease::Waiting { range, writing }) = self.leases.remove(&id) {
                self.serve(id, range, writing, network, answers);
            }
        }
        if closing {
            for id in self.waiting.take() {
                self.leases.remove(&id);
                answers.push_back(Control::Failed { id, reason: Reason::Closing });
            }
        }
        self.waiting.len() < before
    }

    /// The peer said goodbye: it uses none of its leases any more.
    pub(super) fn release_all(&mut self, network: &mut Network<'_>) {
        self.waiting.take();
        for (_, lease) in std::mem::take(&mut self.leases) {
            if let Lease::Granted { claim, region: Some(region) } = lease {
                drop(claim);
                network.registrations.release(network.endpoint, region);
            }
        }
    }

    /// The peer is lost: nothing more is granted, and what is granted stays so.
    pub(super) fn freeze(&mut self) {
        for id in self.waiting.take() {
            self.leases.remove(&id);
        }
    }
}
