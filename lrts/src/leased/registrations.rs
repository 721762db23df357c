//! Registration cache: regions of this node that stay registered with the network, so that their next lease costs nothing.
//!
//! 1. A region is registered whole at its first lease, for reading, or for reading and writing if it is a put target.
//! 2. It stays registered until it ends, or until more than the limit are and it is the one unused for the longest time.
//!    One that is leased is never given up.
//! 3. When a region ends, its registration does so first: memory never goes back to its owner while the network can
//!    reach it.

use super::endpoint::{Access, Endpoint, Registration};
use super::wire::Window;
use crate::region::Extent;
use std::collections::BTreeMap;

/// A region of this node: slot and generation.
pub(super) type RegionName = (u32, u64);

struct Known {
    registration: Registration,
    leases: usize,
    /// When it was leased last, counted in leases.
    used: u64,
}

/// The cache.
pub(super) struct Registrations {
    limit: usize,
    known: BTreeMap<RegionName, Known>,
    leases_ever: u64,
}

impl Registrations {
    /// Keeps at most `limit` registrations that nobody uses.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, known: BTreeMap::new(), leases_ever: 0 }
    }

    /// Registers a region if it is not, and keeps it so until the release. The caller holds a claim on it.
    ///
    /// # Errors
    /// Why the network does not take it, in words.
    pub(super) fn lease(
        &mut self,
        endpoint: &mut dyn Endpoint,
        region: RegionName,
        extent: &Extent,
    ) -> Result<Window, String> {
        self.leases_ever += 1;
        if !self.known.contains_key(&region) {
            while self.known.len() >= self.limit.max(1) && self.give_up_oldest(endpoint) {}
            let access = if extent.writable { Access::Writable } else { Access::Readable };
            let registration = loop {
                match endpoint.register(&extent.place, access) {
                    Ok(registration) => break registration,
                    // The network is full: what nobody uses makes room.
                    Err(_) if self.give_up_oldest(endpoint) => {}
                    Err(cause) => return Err(cause),
                }
            };
            self.known.insert(region, Known { registration, leases: 0, used: 0 });
        }
        let known = self.known.get_mut(&region).expect("just inserted");
        known.leases += 1;
        known.used = self.leases_ever;
        Ok(known.registration.window)
    }

    /// Ends a lease.
    pub(super) fn release(&mut self, endpoint: &mut dyn Endpoint, region: RegionName) {
        let Some(known) = self.known.get_mut(&region) else { return };
        known.leases -= 1;
        if known.leases == 0 && self.known.len() > self.limit {
            self.forget(endpoint, region);
        }
    }

    /// Ends a registration: its region is over, or room is needed.
    pub(super) fn forget(&mut self, endpoint: &mut dyn Endpoint, region: RegionName) {
        if let Some(known) = self.known.remove(&region) {
            endpoint.deregister(&known.registration);
        }
    }

    /// Ends all registrations.
    pub(super) fn clear(&mut self, endpoint: &mut dyn Endpoint) {
        for (_, known) in std::mem::take(&mut self.known) {
            endpoint.deregister(&known.registration);
        }
    }

    fn give_up_oldest(&mut self, endpoint: &mut dyn Endpoint) -> bool {
        let idle = self.known.iter().filter(|(_, known)| known.leases == 0);
        let Some(oldest) = idle.min_by_key(|(_, known)| known.used).map(|(region, _)| *region) else {
            return false;
        };
        crate::sometimes!("a registration made room for another");
        self.forget(endpoint, oldest);
        true
    }
}
