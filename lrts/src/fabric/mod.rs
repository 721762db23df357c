//! Fabric: what backends share that drive a network by a library of its own, which are buffers, sleep, messages and the exchange
//! of them, goodbyes, and the first decisions about a get or put. Never a call of such a library.

pub(crate) mod exchange;
pub(crate) mod goodbye;
pub(crate) mod peers;
pub(crate) mod pool;
pub(crate) mod remote_operation;
pub(crate) mod sleeper;
pub(crate) mod wire;
