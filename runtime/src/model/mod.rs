//! The words of the model: names of chares, arguments, callbacks, nocopy values, the registry of types and entries, reductions,
//! collections, and messages as values.
//!
//! Here lives what can be said without anybody who does it. A PE, a node, a clock, a thread or a connection never does.

pub(crate) mod arguments;
pub(crate) mod call_options;
pub(crate) mod callback;
pub(crate) mod collection;
pub(crate) mod coordinates;
pub(crate) mod envelope;
pub(crate) mod error;
pub(crate) mod ids;
pub(crate) mod index;
pub(crate) mod index_range;
pub(crate) mod nocopy;
pub(crate) mod parcel;
pub(crate) mod priority;
pub(crate) mod reduction;
pub(crate) mod registry;
pub(crate) mod topology;
