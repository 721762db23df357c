//! Registration of memory: when memory is made reachable for other nodes, and for how long.
//!
//! Inside a host no memory is pinned, so all modes cost little and differ little. Networks with one-sided access (libfabric, RDMA
//! devices) pin registered memory when it is first fetched; there the mode matters.
//!
//! | here | Charm++'s `CkNcpyBuffer` | the bytes |
//! |---|---|---|
//! | [`Registration::Now`] | `CK_BUFFER_REG` | are registered by the call that sends them, wherever they go |
//! | [`Registration::Lazily`], the default | `CK_BUFFER_UNREG` | are registered when they turn out to leave the process |
//! | [`Registration::Pooled`], [`BufferMut::zeroed`](crate::BufferMut::zeroed) | `CK_BUFFER_PREREG`, `CkRdmaAlloc` | lie in the runtime's pool, or are copied there first |
//! | [`Registration::None`] | `CK_BUFFER_NOREG` | are never registered: they travel with the message, copied |
//! | otherwise | `CK_BUFFER_DEREG` | stay registered until the last transfer is over; in memory of the pool that the receivers map, also for the next time, while there is room |
//! | [`SendBuffer::keep_registered`](crate::SendBuffer::keep_registered) | `CK_BUFFER_NODEREG` | stay registered for the next time |
//! | [`RegisteredSource::register`](crate::RegisteredSource::register), [`RegisteredTarget::register`](crate::RegisteredTarget::register) | `registerMem()` | are registered until dropped |
//! | [`RegisteredSource::lazily`](crate::RegisteredSource::lazily), [`RegisteredTarget::lazily`](crate::RegisteredTarget::lazily) | `CK_BUFFER_UNREG` | are registered when their first handle is made |
//! | [`RegisteredSource::deregister`](crate::RegisteredSource::deregister), [`RegisteredTarget::close`](crate::RegisteredTarget::close) | `deregisterMem()` | are the user's again |
//!
//! A posted buffer is the local side of a get. A network that asks for it pins the buffer while the get lasts, so a posted buffer has no
//! mode of its own; it may lie in the pool like any other.

/// The time at which the memory of a nocopy argument is made reachable for other nodes; see
/// [`SendBuffer::registration`](crate::SendBuffer::registration).
///
/// | | the bytes | Charm++ |
/// |---|---|---|
/// | `Now` | are registered by the call that sends them, wherever they go | `CK_BUFFER_REG` |
/// | `Lazily` | are registered when they turn out to leave the process | `CK_BUFFER_UNREG` |
/// | `Pooled` | lie in the runtime's pool ([`BufferMut::zeroed`](crate::BufferMut::zeroed)), or are copied there first | `CK_BUFFER_PREREG` |
/// | `None` | are never registered: they travel with the message, copied | `CK_BUFFER_NOREG` |
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Registration {
    /// At once.
    Now,
    /// When the memory turns out to leave the process.
    #[default]
    Lazily,
    /// Once and for all, with the runtime's pool.
    Pooled,
    /// Never.
    None,
}
