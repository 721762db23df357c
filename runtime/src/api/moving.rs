//! Moves of elements to other PEs, as the elements ask for them.

use crate::model::ids::PeId;
use crate::model::registry::{Chare, Identity, Migrates, This};
use crate::pe::Pe;
use crate::services::migration;

/// An element's say in where it lives, in its entries.
pub trait ThisMigrant: Chare + Migrates {
    /// Moves this element to another PE as soon as it is free: when the entry is over, none of its other entries waits, no call of it waits
    /// for buffers, and nobody holds a [`This`] of it. Until then it stays, and works. The last wish counts; one for the PE where the
    /// element lives takes the wish back.
    ///
    /// Everything that leads to the element goes on to work: proxies, sections, callbacks, calls under way. Between PEs of one process the
    /// state itself moves, and nothing is encoded; to another process it goes by serde. Costs four messages of a few words, and the state.
    ///
    /// The idea is Charm++'s `migrateMe` (manual, "Chare Arrays: Migration").
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{PeId, ThisMigrant};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Walker {
    ///     visited: Vec<u32>,
    /// }
    ///
    /// #[chare(array, migrate)]
    /// impl Walker {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self { visited: Vec::new() }
    ///     }
    ///
    ///     #[entry]
    ///     fn walk(&mut self, done: Callback<Vec<u32>>) {
    ///         self.visited.push(chare::my_pe().0);
    ///         if self.visited.len() == 4 {
    ///             done.send(self.visited.clone());
    ///         } else {
    ///             self.migrate_to(PeId((chare::my_pe().0 + 1) % chare::pes()));
    ///             self.this_chare().walk(done);
    ///         }
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).run(|| async {
    ///     let walkers = WalkerProxy::create(1);
    ///     let (visited, done) = chare::future();
    ///     walkers.at(0).walk(done);
    ///     println!("{:?}", visited.await);
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    ///
    /// # Panics
    /// If the job has no such PE.
    fn migrate_to(&self, pe: PeId) {
        Pe::current(|here| here.with_running(|identity| wish::<Self>(here, identity, pe)));
    }
}

impl<C: Migrates> ThisMigrant for C {}

impl<C: Migrates> This<C> {
    /// Moves this element; see [`ThisMigrant::migrate_to`]. The entry that asks goes on where it is, and the element leaves when it is over.
    ///
    /// # Panics
    /// If the job has no such PE.
    pub fn migrate_to(&self, pe: PeId) {
        Pe::current(|here| wish::<C>(here, self.identity(), pe));
    }
}

fn wish<C: Chare>(here: &Pe, identity: &Identity, to: PeId) {
    let pes = here.node.topology.pes();
    assert!(to.0 < pes, "an element of {} cannot move to {to}: the job has {pes} PEs", C::NAME);
    assert!(!identity.is_gone(), "an element of {} moves after it was destroyed", C::NAME);
    migration::wish(here, identity.target, to);
}
