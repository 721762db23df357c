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
//! out   api/proxy -> transfer -> model/envelope -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> the network
//! in    the network -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue
//!       -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method
//! ```
//!
//! Inside a process the arguments themselves travel; they are encoded when they leave it. Each file of the way opens with its place in
//! it.
//!
//! The crate stands on nine floors, each importing only downwards: base, model, node, pe, transfer, delivery, services, api and job;
//! `cargo xtask floors` keeps them.
//!
//! # Bounds
//!
//! The memory that one node can make another node use is bounded; a message beyond a bound ends the job with an error that names the
//! chare or collection.
//!
//! | what | at most |
//! |---|---|
//! | members of a collection | as many as fit the memory of a node's host (or container, or batch job), each taken for its own size and some 60 bytes |
//! | what a node keeps because of others, in all: messages for what is not created yet, contributions to reductions that are not over, calls that wait for posted buffers, messages that other nodes have no room for, long messages being fetched | a quarter of the node's share of that memory; the error says who holds how much |
//! | buffers that nodes lend to each other and fetch | as many as leave a thirty-second part of that share free |
//! | registered buffers of a node | 64,512 |
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `launch` (default) | `run`: `+options` of the command line and their twins in the environment; `+n` and `chare-run`, which start processes |
//! | `net` (default) | TCP to other hosts, with what proves who is there and protects what goes there; nodes under `mpirun`, `mpiexec` and `srun` |
//! | `ofi`, `verbs`, `mpi` | `net`, and backends, whose libraries are loaded at run time; building `verbs` needs cmake and libclang |
//! | `cuda` | devices of NVIDIA, whose driver is loaded at run time; without it, there are software devices |
//! | `dashboard` | `+dashboard`: a page and metrics of the running job |
//! | `dsa` | `+dsa`: Intel's DSA makes long copies within a host, where there is one |
//! | `ndarray` | layouts of the views of `ndarray` |
//! | `sim` | `Simulation` and `+sim`: jobs of many nodes on one thread or a few, in virtual time, which a seed decides |
//!
//! Without `launch` there is no clap, and no launcher. A program then fills in a [`Config`] and runs it by [`Program::new`]: as one process,
//! or as a node under `mpirun`, `mpiexec`, `srun` or a `chare-run` that was built elsewhere. Its whole command line is its own, and of the
//! `CHARE_*` variables it reads those alone that its launcher sets, `CHARE_STARTUP_TIMEOUT` and `CHARE_OTHER_BUILDS`.
//!
//! Without `net` there is no cryptography and no TCP. Nodes of one host meet by shared memory; what would take another path is refused with
//! the feature's name. Without either, `chare` is 60 crates in place of 96. [`Job::in_process`] is always there.

#![cfg_attr(docsrs, feature(doc_cfg))]

// The libraries inside this crate are written as users write theirs: `#[chare]` names `::chare`.
extern crate self as chare;

mod api;
mod base;
mod delivery;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod job;
#[doc(hidden)]
pub mod macro_support;
mod model;
mod node;
mod pe;
pub mod prelude;
mod services;
mod transfer;

pub use api::again::{Again, Balanced};
pub use api::array_options::ArrayOptions;
pub use api::balancing::{Balancer, BalancerError, balance_by, read_balancings};
pub use api::collective::exchange::Exchange;
pub use api::collective::gather::Gather;
pub use api::collective::gathered::Gathered;
pub use api::completion_detection;
pub use api::context::{
    Dice, destroy, dice, exit, flush_aggregated, future, my_node, my_pe, named, nodes, on_quiescence,
    path_to, pes, quiescence, readonly, reference, register, set_readonly, shutdown_requested,
};
pub use api::deadline::deadline;
pub use api::devices;
pub use api::direct::{Misfit, TransferFailed, Transferred, rget, rput, try_rget, try_rput};
pub use api::direct_device::{rget_device, rput_device, try_rget_device, try_rput_device};
pub use api::io::io;
pub use api::job_handle::{Answer, JobHandle, LimitedJobHandle, job_handle};
pub use api::moving::{ThisInSyncs, ThisMigrant, balance};
pub use api::proxy::{ThisChare, ThisMember, this_index};
pub use api::registered::{NotRegistered, RegisteredSource, RegisteredTarget};
pub use api::registered_device::{RegisteredDeviceSource, RegisteredDeviceTarget};
pub use api::select::{wait_all, wait_any, wait_some};
pub use api::sim;
pub use api::tags::{cancel_buffer, cancel_node_buffer, post_buffer, post_node_buffer};
pub use api::tasks::{spawn, yield_now};
pub use api::time::{Interval, Sleep, TimedOut, interval, now, sleep, timeout};
pub use api::topology::{host_of, hosts, my_rank, node_of, pes_of, rank_of};
pub use api::trace;
pub use api::when::{Both, Trigger, When};
/// Plain data, which the elements of buffers are: the crate whose version this one has. A program that does not depend on it itself tells
/// its derives where it is:
///
/// ```
/// use chare::bytemuck::{Pod, Zeroable};
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[bytemuck(crate = "chare::bytemuck")]
/// #[repr(C)]
/// struct Particle {
///     place: [f64; 3],
///     charge: f64,
/// }
///
/// let particles = chare::Buffer::from(vec![Particle { place: [0.0; 3], charge: 1.0 }; 10]);
/// assert_eq!(particles.len(), 10);
/// ```
pub use bytemuck;
pub use chare_device::{DeviceBuffer, DeviceBufferMut, DeviceError};
pub use chare_layout as layout;
pub use chare_layout::{Layout, Partition};
pub use chare_lrts::reach::ReachOptions;
pub use chare_macros::{
    Layout, about_to_move, balancer, chare, entries, entry, load, moved, position, post, reducer,
};
pub use job::cpus::{CpuList, CpuListError};
pub use job::in_process::Job;
pub use job::pes::{Pes, PesError};
pub use job::settings::Config;
#[cfg(feature = "sim")]
pub use job::simulated::{Chance, ChanceError, Simulated, SimulatedEvent, Simulation};
pub use job::startup::Program;
#[cfg(feature = "launch")]
pub use job::startup::command_line::run;
#[cfg(feature = "launch")]
pub use job::{config, launch};
pub use model::arguments::Message;
pub use model::call_options::CallOptions;
pub use model::callback::Callback;
pub use model::collection::{ArrayMap, Placement};
pub use model::coordinates::{Coordinate, Coordinates};
pub use model::error::{JobError, NameError, NoAnswer};
pub use model::ids::{NodeId, PeId};
pub use model::index::ArrayIndex;
pub use model::index_range::indices;
pub use model::loads::{BalanceRecord, Edge, Loads, LoadsError, Measured, Moves, Object};
pub use model::nocopy::{
    Buffer, BufferMut, BufferSelection, Completion, DeviceLanding, DevicePosted, DeviceReceived,
    DeviceSourceHandle, DeviceTargetHandle, DeviceTransferError, DeviceTransferFailed, DeviceTransferred,
    Element, Landing, LayoutMethod, LayoutMethodError, MatchError, NocopyArgument, NocopyLanding, NotJoined,
    NotPosted, NotSplit, Part, PartLayout, PartMut, Post, PostError, PostRefusal, Posted, Received,
    ReceivedView, Registration, Rest, SendBuffer, SendDeviceBuffer, SendPart, Sent, SentDevice, Several,
    SeveralMut, Shown, SourceHandle, SourceSelection, Split, SplitAll, TargetHandle, TargetSelection,
};
pub use model::priority::Priority;
pub use model::reduction::reducers::{
    Contribution, Contributions, Elementwise, Integer, Number, Reducer, Scalar, Statistics, barrier, bit_and,
    bit_or, bit_xor, concat, logical_and, logical_or, logical_xor, max, min, product, random, reduce, set,
    statistics, sum, tuple,
};
pub use model::registry::{Instantiated, Migrates, Movable, Syncs, This};
pub use model::reply::Reply;
pub use node::balancing::BalanceWhen;
pub use node::lending::transfers::Status;
pub use node::seeds::Seeds;
pub use pe::future_set::FutureSet;
pub use pe::futures::Future;
/// Waits for several futures at once, until all are over; tokio's macro.
pub use tokio::join;
