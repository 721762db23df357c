//! Services of the runtime: operations on many chares at once, and the watch over all messages. Each service is one folder or file with
//! its messages, its state, and a row of functions by which the floors below know it.
//!
//! A service may use those below it in `runtime/FLOORS`. What users hold of a service never stands here: see `api`.

pub(crate) mod again;
pub(crate) mod aggregation;
pub(crate) mod array;
pub(crate) mod audience;
pub(crate) mod balance;
pub(crate) mod broadcast;
pub(crate) mod migration;
pub(crate) mod names;
pub(crate) mod quiescence;
pub(crate) mod reactor;
pub(crate) mod readonly;
pub(crate) mod reduction;
pub(crate) mod section;
pub(crate) mod seeds;
pub(crate) mod shutdown;
pub(crate) mod survey;
pub(crate) mod sync;
pub(crate) mod tags;
pub(crate) mod timers;
