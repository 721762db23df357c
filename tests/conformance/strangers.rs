//! Scripted bootstraps: they see and forge what nodes tell each other at start-up.

use chare_lrts::LrtsError;
use chare_lrts::bootstrap::{Bootstrap, Membership};
use std::net::SocketAddr;
use std::sync::mpsc::Sender;

/// A node that is told addresses by the check and tells its own to it.
pub(crate) struct Scripted {
    pub(crate) membership: Membership,
    /// The addresses that nodes with lower numbers published, by node.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Hears what this node publishes.
    pub(crate) published: Option<Sender<SocketAddr>>,
}

impl Bootstrap for Scripted {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        if let Some(published) = self.published.take() {
            let address = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
            published
                .send(address.expect("a listening node publishes its address"))
                .expect("the check hears it");
        }
        let mut all: Vec<Vec<u8>> = self.addresses.iter().map(|address| address.to_string().into()).collect();
        all.resize(self.nodes() as usize, Vec::new());
        all[self.node().index()] = value;
        Ok(all)
    }
}
