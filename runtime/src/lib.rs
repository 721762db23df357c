//! Message-driven parallel objects: the programming model of Charm++ in Rust, with zero-copy parameters that the
//! type system keeps safe.
//!
//! A *chare* is an object that lives on one PE (a scheduler thread) and is reached only by messages. `#[chare]` on an
//! `impl` block makes a type one, and writes the *proxy* that turns method calls into messages:
//!
//! ```
//! use chare::prelude::*;
//!
//! struct Counter {
//!     total: u64,
//! }
//!
//! #[chare(array)]
//! impl Counter {
//!     #[entry]
//!     fn new(start: u64) -> Self {
//!         Self { total: start }
//!     }
//!
//!     #[entry]
//!     fn add(&mut self, #[nocopy] values: Received<u64>, done: Callback<u64>) {
//!         self.total += values.iter().sum::<u64>();
//!         self.contribute(sum(self.total), done);
//!     }
//! }
//!
//! // A job in this process; a program's `main` calls `chare::run` instead.
//! let job = chare::Job::in_process(1, 2).run(|| async {
//!     let counters = CounterProxy::create(10, 1);
//!     let (total, done) = chare::future();
//!     counters.add(vec![1, 2, 3], done);
//!     assert_eq!(total.await, 70);
//! });
//! assert_eq!(job.unwrap(), 0);
//! ```
//!
//! # A message's way
//!
//! ```text
//! out   proxy -> zerocopy -> envelope -> location -> outbox -> the network
//! in    the network -> inbox -> mailbox, queue -> scheduler -> dispatch -> the entry method
//! ```
//!
//! Inside a process the arguments themselves travel; they are encoded when they leave it. Each
//! file of the way opens with its place in it.

mod affinity;
mod ambient;
mod barrier;
mod births;
mod broadcast;
mod callback;
mod chain;
mod chare;
mod collection;
pub mod config;
mod context;
mod dispatch;
mod envelope;
mod erased;
mod error;
mod executor;
mod future;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod ids;
mod inbox;
mod job;
pub mod launch;
mod layout;
mod location;
#[doc(hidden)]
pub mod macro_support;
mod mailbox;
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
mod running;
mod scheduler;
mod sleep;
mod startup;
mod stats;
mod sync;
mod watch;
mod zerocopy;

pub use callback::Callback;
pub use chare::This;
pub use chare_lrts::reach::ReachOptions;
pub use chare_macros::{chare, entry, post};
pub use collection::{ArrayOptions, Placement};
pub use context::{
    destroy, exit, future, my_node, my_pe, nodes, on_quiescence, path_to, pes, quiescence, readonly,
    reference, set_readonly,
};
pub use error::JobError;
pub use future::Future;
pub use ids::{NodeId, PeId};
pub use job::Job;
pub use message::Message;
pub use proxy::{ThisChare, ThisMember, this_index};
pub use queue::{CallOptions, Priority};
pub use reduction::{Contribution, Number, Summable, barrier, concat, max, min, sum};
pub use startup::{Program, run};
pub use zerocopy::direct::{Misfit, TransferFailed, Transferred, rget, rput, try_rget, try_rput};
pub use zerocopy::tags::{PostError, cancel_buffer, cancel_node_buffer, post_buffer, post_node_buffer};
pub use zerocopy::{
    Buffer, BufferMut, Completion, Element, Landing, MatchError, NotRegistered, Post, PostRefusal, Posted,
    Received, RegisteredSource, RegisteredTarget, Registration, SendBuffer, Sent, SourceHandle, Status,
    TargetHandle,
};

/// What turns arguments into bytes; the packets below are written in it too.
use chare_lrts::codec;
