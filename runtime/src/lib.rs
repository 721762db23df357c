//! Message-driven parallel objects: the programming model of Charm++ in Rust, with zero-copy parameters that the
//! type system keeps safe.
mod affinity;
mod callback;
mod chare;
mod codec;
mod collection;
pub mod config;
mod context;
mod dispatch;
mod envelope;
mod error;
mod executor;
mod future;
mod ids;
mod inbox;
mod job;
pub mod launch;
mod layout;
mod location;
mod mailbox;
#[doc(hidden)]
pub mod macro_support;
mod message;
mod node;
mod outbox;
mod pe;
pub mod prelude;
mod proxy;
mod queue;
mod quiescence;
mod readonly;
mod reduction;
mod registry;
mod scheduler;
mod startup;
mod stats;
mod watch;
mod zerocopy;

pub use callback::Callback;
pub use chare_macros::{chare, entry, post};
pub use chare::This;
pub use collection::{ArrayOptions, Placement};
pub use context::{
    destroy, exit, future, my_node, my_pe, nodes, on_quiescence, pes, quiescence, readonly, reference, set_readonly,
};
pub use error::JobError;
pub use future::Future;
pub use chare_lrts::reach::ReachOptions;
pub use job::Job;
pub use ids::{NodeId, PeId};
pub use message::Message;
pub use proxy::{ThisChare, ThisMember, this_index};
pub use queue::{CallOptions, Priority};
pub use reduction::{Contribution, Number, Summable, barrier, concat, max, min, sum};
pub use startup::{Program, run};
pub use zerocopy::direct::{
    Misfit, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput,
};
pub use zerocopy::{Buffer, BufferMut, Element, Post, Posted, Received, SendBuffer, Status};
