//! Words: what devices are called by, what goes wrong with them, and what sleepers wait for; no memory and no stream.

pub(crate) mod bell;
pub(crate) mod error;
pub(crate) mod info;
