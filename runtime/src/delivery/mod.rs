//! Delivery of messages, through a PE and between nodes: out by the outbox, in by the inbox, queued, scheduled, dispatched; and the
//! lifecycle of chares. A message that a service sends to itself passes through here unread. The work of services and the types that
//! users hold never live here.
//!
//! Out: `api/proxy -> transfer -> model/envelope -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! A call to another node with one nocopy argument is no message before it is a frame:
//! `api/proxy -> delivery/remote_call -> delivery/outbox (where to?) -> transfer -> delivery/outbound -> node/posting -> lrts`
//!
//! In:
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`

mod bringing_in;
pub(crate) mod dispatch;
#[cfg(feature = "sim")]
pub(crate) mod driven;
pub(crate) mod fire;
mod idle;
pub(crate) mod inbox;
pub(crate) mod invocation;
pub(crate) mod lifecycle;
mod outbound;
pub(crate) mod outbox;
pub(crate) mod outliving;
pub(crate) mod polling;
pub(crate) mod remote_call;
mod scheduler;
pub(crate) mod shared_call;
pub(crate) mod thread;
