//! A message's way through a PE and between nodes: out by the outbox, in by the inbox, queued, scheduled, dispatched; and the lives of chares.
//!
//! A message that a service sends to itself passes through here unread. What services do, and what users hold, never stands here.

pub(crate) mod dispatch;
pub(crate) mod fire;
pub(crate) mod inbox;
pub(crate) mod lifecycle;
pub(crate) mod outbox;
pub(crate) mod polling;
pub(crate) mod scheduler;
pub(crate) mod shared_call;
pub(crate) mod zerocopy;
