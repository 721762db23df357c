//! The model as values: ids of chares, arguments, callbacks, nocopy values, the registry of types and entries, reductions,
//! collections, and messages.
//!
//! Here live the values that PEs and nodes work with, and the rules that hold for them wherever they are. A PE, a node, a clock, a thread
//! or a connection never lives here.

pub(crate) mod arguments;
pub(crate) mod call_options;
pub(crate) mod callback;
pub(crate) mod collection;
pub(crate) mod coordinates;
pub(crate) mod dealing;
pub(crate) mod envelope;
pub(crate) mod error;
pub(crate) mod home;
pub(crate) mod ids;
pub(crate) mod index;
pub(crate) mod index_range;
pub(crate) mod loads;
pub(crate) mod nocopy;
pub(crate) mod parcel;
pub(crate) mod priority;
pub(crate) mod reduction;
pub(crate) mod registry;
pub(crate) mod reply;
pub(crate) mod topology;
pub(crate) mod travel;
