//! Lending of memory: what a node has registered for others, the transfers that it takes part in, and the layouts that need not be told
//! again.

pub(super) mod deregistrations;
pub(crate) mod foreign;
mod kept_layouts;
pub(crate) mod known_layouts;
pub(crate) mod registration_cache;
pub(crate) mod tokens;
pub(crate) mod told_layouts;
pub(crate) mod transfers;
