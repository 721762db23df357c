//! Peer state: how far the exchange with a peer has come, as the reading side knows it.

/// Open until the peer says goodbye or is lost. Ordered: it only grows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum PeerState {
    Open = 0,
    /// The peer said goodbye.
    Closed = 1,
    Lost = 2,
}
