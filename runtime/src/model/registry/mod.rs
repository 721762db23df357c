//! Registry of chare types and entry methods: the traits that `#[chare]` implements, the registrations that the runtime keeps, and the
//! tables of all that are linked in.
//!
//! The registry describes the program, not a job: its tables are the only process-wide ones, read-only from their first use. The tables
//! in which a message finds a chare never stand here.

mod awaited;
mod balancer;
mod chare;
mod entry_method;
mod entry_trait;
mod generic;
mod identity;
pub mod kind;
pub(crate) mod linked;
mod migrates;
mod movement;
pub(crate) mod name;
mod registration;
mod state_cell;
mod trait_dispatch;
mod travelling;
mod types;

pub(crate) use awaited::TakenCall;
pub use awaited::{AwaitedEntry, Calls};
pub use balancer::BalancerRegistration;
pub(crate) use balancer::balancers;
pub use chare::{Chare, Constructor, This, ThisRef};
pub(crate) use chare::{lend, outlived};
pub(crate) use entry_method::entry;
pub use entry_method::{AnsweredByAll, EntryMethod, MarkedEntry};
pub(crate) use entry_trait::entry as trait_entry;
pub use entry_trait::{
    EntryTrait, ImplementationRegistration, ImplementedBy, RunBy, TraitEntry, TraitMethod, TraitRegistration,
};
pub use generic::Instantiated;
pub(crate) use identity::{AnyChare, ChareTasks, Identity, Standing};
pub use identity::{AwaitedCalls, OnPanic, Wait};
pub use migrates::{Migrates, Movable, Syncs, place};
pub use movement::Movement;
pub(crate) use movement::MovingState;
pub(crate) use name::type_id;
pub(crate) use registration::{Attached, Called, IndexRegistration, NotCalled, read_apart};
pub use registration::{ChareRegistration, Demand, EntryRegistration};
pub use travelling::{TravellingCalls, TravellingEntry, read_value};
pub(crate) use types::{check_count, explain, find_chare, find_entry, registry, show};
