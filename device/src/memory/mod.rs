//! Memory: arenas of a device and of pinned host memory, what is cut from them, and parts of either. No stream.

pub(crate) mod arena;
pub(crate) mod block;
pub(crate) mod mapping;
pub(crate) mod pinned;
pub(crate) mod pool;
pub(crate) mod span;
