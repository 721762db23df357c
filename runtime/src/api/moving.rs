//! Moves of elements to other PEs, as the elements ask for them.

use crate::model::callback::Callback;
use crate::model::ids::PeId;
use crate::model::registry::{Chare, Identity, Migrates, Syncs, This};
use crate::pe::Pe;
use crate::services::migration;
use crate::services::sync::{self, GoesOn};

/// An element's say in where it lives, in its entries.
pub trait ThisMigrant: Chare + Migrates {
    /// Moves this element to another PE as soon as it is free: when the entry is over, none of its other entries waits, no call of it waits
    /// for buffers, and nobody holds a [`This`] of it; entries that take an [`Again`](crate::Again) and are at rest go along. Until then it stays, and works. The last wish counts; one for the PE where the
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

    /// Holds this element where it is until [`ThisMigrant::release`]: wishes to move wait, and balancers count it as what cannot move.
    /// It takes part in syncs as before. Holding it twice is holding it once. Costs a hash. The idea is Charm++'s `setMigratable(false)`.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{PeId, ThisMigrant};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Lodger;
    ///
    /// #[chare(array, migrate)]
    /// impl Lodger {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     fn stay(&mut self, to: PeId) -> u32 {
    ///         self.hold();
    ///         self.migrate_to(to);
    ///         chare::my_pe().0
    ///     }
    ///
    ///     #[entry]
    ///     fn leave(&mut self) -> u32 {
    ///         self.release();
    ///         chare::my_pe().0
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).run(|| async {
    ///     let lodger = LodgerProxy::create(1).at(0);
    ///     let first = lodger.stay(PeId(0)).await;
    ///     assert_eq!(lodger.stay(PeId(1 - first)).await, first);
    ///     chare::quiescence().await;
    ///     assert_eq!(lodger.leave().await, first, "it was held");
    ///     chare::quiescence().await;
    ///     assert_eq!(lodger.leave().await, 1 - first, "its wish waited");
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    fn hold(&self) {
        Pe::current(|here| here.with_running(|identity| migration::hold(here, identity.target, true)));
    }

    /// Lets this element move again; see [`ThisMigrant::hold`]. A wish that has waited is carried out. Costs a hash.
    fn release(&self) {
        Pe::current(|here| here.with_running(|identity| migration::hold(here, identity.target, false)));
    }
}

impl<C: Migrates> ThisMigrant for C {}

/// An element's part in syncs, in its entries.
pub trait ThisInSyncs: Chare + Syncs {
    /// Waits for all elements that take part in syncs, so that they may be balanced; `callback` comes when that is over, where the element
    /// lives then. Elements are awaited from their births to their ends, and may be born, end and move at any time. What else the element
    /// does meanwhile goes on.
    ///
    /// Without a balancer (`+balancer`), the callback comes at once. The idea is Charm++'s `AtSync` and `ResumeFromSync` (manual, "Load
    /// Balancing").
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::ThisInSyncs;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Block {
    ///     step: u32,
    ///     done: Callback<u64>,
    /// }
    ///
    /// #[chare(array, migrate, sync)]
    /// impl Block {
    ///     #[entry]
    ///     fn new(done: Callback<u64>) -> Self {
    ///         Self { step: 0, done }
    ///     }
    ///
    ///     #[entry]
    ///     fn step(&mut self) {
    ///         self.step += 1;
    ///         if self.step == 10 {
    ///             self.contribute(sum(1), self.done);
    ///         } else {
    ///             self.sync_then(self.this_chare().step_callback());
    ///         }
    ///     }
    ///
    ///     #[load]
    ///     fn load(&self) -> f64 {
    ///         if self.this_index() < 4 { 2.0 } else { 1.0 }
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).balancer("greedy_refine").run(|| async {
    ///     let (blocks, done) = chare::future();
    ///     BlockProxy::create(8, done).step();
    ///     assert_eq!(blocks.await, 8);
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    ///
    /// # Panics
    /// If the element waits for a sync already.
    fn sync_then(&self, callback: Callback<()>) {
        Pe::current(|pe| {
            let member = pe.with_running(|identity| identity.target);
            sync::wait(pe, member, GoesOn::ByCallback(callback.erase()));
        });
    }
}

impl<C: Syncs> ThisInSyncs for C {}

impl<C: Syncs> This<C> {
    /// Waits for all elements that take part in syncs; see [`ThisInSyncs::sync_then`].
    ///
    /// # Panics
    /// If the element waits for a sync already.
    pub fn sync_then(&self, callback: Callback<()>) {
        Pe::current(|pe| sync::wait(pe, self.identity().target, GoesOn::ByCallback(callback.erase())));
    }
}

impl<C: Migrates> This<C> {
    /// Holds this element where it is; see [`ThisMigrant::hold`].
    pub fn hold(&self) {
        Pe::current(|here| migration::hold(here, self.identity().target, true));
    }

    /// Lets this element move again; see [`ThisMigrant::hold`].
    pub fn release(&self) {
        Pe::current(|here| migration::hold(here, self.identity().target, false));
    }

    /// Moves this element; see [`ThisMigrant::migrate_to`]. The entry that asks goes on where it is, and the element leaves when it is over;
    /// [`Again::migrate_to`](crate::Again::migrate_to) waits for the move.
    ///
    /// # Panics
    /// If the job has no such PE.
    pub fn migrate_to(&self, pe: PeId) {
        Pe::current(|here| wish::<C>(here, self.identity(), pe));
    }
}

/// Has the balancer look at all elements that move now, without a sync: those that are free move as it plans, the others stay. Nothing
/// without a balancer. Some messages from and to each PE. The idea is Charm++'s `CkStartLB`.
///
/// ```
/// let job = chare::Job::in_process(1, 2).balancer("greedy").run(|| async {
///     chare::balance();
/// });
/// assert_eq!(job.unwrap(), 0);
/// ```
///
/// # Panics
/// Outside a job's entries.
pub fn balance() {
    Pe::current(|pe| sync::balance(pe));
}

pub(super) fn wish<C: Chare>(here: &Pe, identity: &Identity, to: PeId) {
    let pes = here.node.topology.pes();
    assert!(to.0 < pes, "an element of {} cannot move to {to}: the job has {pes} PEs", C::NAME);
    assert!(!identity.is_gone(), "an element of {} moves after it was destroyed", C::NAME);
    migration::wish(here, identity.target, to);
}
