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
//!
//! # Bounds
//!
//! What one node may make another one keep is bounded; what is beyond ends the job with an error that names the chare or collection.
//!
//! | what | at most |
//! |---|---|
//! | members of a collection | as many as fit the memory of a node's host (or container), each taken for its own size and some 60 bytes |
//! | messages for chares and collections that are not created yet | a quarter of that memory for each node, in equal shares for its PEs |
//! | registered buffers of a node | 64,512 |

// The libraries among these are written as users write theirs: `#[chare]` names `::chare`.
extern crate self as chare;

mod affinity;
mod aggregation;
mod ambient;
mod array_options;
mod awaited;
mod barrier;
mod births;
mod blueprint;
mod broadcast;
mod call;
mod callback;
mod chain;
mod collection;
mod collections;
pub mod completion_detection;
pub mod config;
mod context;
mod contributions;
mod coordinates;
mod credit;
mod departures;
mod dispatch;
mod early;
mod entry_trait;
mod envelope;
mod erased;
mod error;
mod executor;
mod fetching;
mod fold;
mod future;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod generic;
mod holding;
mod homes;
mod host_memory;
mod ids;
mod inbox;
mod index;
mod insertion;
mod job;
pub mod launch;
mod layout;
mod lifecycle;
mod location;
#[doc(hidden)]
pub mod macro_support;
mod mailbox;
mod members;
mod message;
mod node;
mod object;
mod outbox;
mod partial;
mod pe;
mod placement;
mod plain_call;
pub mod prelude;
mod priority;
mod promise;
mod proxy;
mod queue;
mod quiescence;
mod readonly;
mod reducers;
mod reduction;
mod registry;
mod running;
mod scheduler;
mod section;
mod shape;
mod sleep;
mod startup;
mod stats;
mod sync;
mod waiting;
mod watch;
mod when;
mod wish;
mod zerocopy;

pub use aggregation::flush_aggregated;
pub use array_options::ArrayOptions;
pub use callback::Callback;
pub use chare_lrts::reach::ReachOptions;
pub use chare_macros::{chare, entries, entry, post, reducer};
pub use context::{
    destroy, exit, future, my_node, my_pe, nodes, on_quiescence, path_to, pes, quiescence, readonly,
    reference, set_readonly,
};
pub use coordinates::{Coordinate, Coordinates};
pub use error::JobError;
pub use future::Future;
pub use generic::Instantiated;
pub use ids::{NodeId, PeId};
pub use index::ArrayIndex;
pub use job::Job;
pub use message::Message;
pub use object::This;
pub use placement::{ArrayMap, Placement};
pub use priority::Priority;
pub use proxy::{ThisChare, ThisMember, this_index};
pub use queue::CallOptions;
pub use reducers::{
    Contribution, Contributions, Elementwise, Integer, Number, Reducer, Scalar, Statistics, barrier, bit_and,
    bit_or, bit_xor, concat, logical_and, logical_or, logical_xor, max, min, product, random, reduce, set,
    statistics, sum, tuple,
};
pub use shape::indices;
pub use startup::{Program, run};
/// Several futures at once, until all are over; tokio's.
pub use tokio::join;
/// Several futures at once, until the first is over; tokio's. The others are dropped. Among several that are over, chance decides, unless
/// `biased;` stands first.
pub use tokio::select;
pub use waiting::{wait_all, wait_any, wait_some};
pub use when::{Both, Trigger, When};
pub use zerocopy::direct::{Misfit, TransferFailed, Transferred, rget, rput, try_rget, try_rput};
pub use zerocopy::tags::{PostError, cancel_buffer, cancel_node_buffer, post_buffer, post_node_buffer};
pub use zerocopy::{
    Buffer, BufferMut, Completion, Element, Landing, MatchError, NotRegistered, Post, PostRefusal, Posted,
    Received, RegisteredSource, RegisteredTarget, Registration, SendBuffer, Sent, SourceHandle, Status,
    TargetHandle,
};

/// What turns arguments into bytes; the packets below are written in it too.
use chare_lrts::codec;
