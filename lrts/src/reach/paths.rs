//! Paths: which one carries messages to a peer, and which one moves memory. The one place of `reach` that decides.
//!
//! Pure: what is known of a node, of the options and of a transfer goes in. The first row that holds decides.
//!
//! **Messages to a node**, once, at start-up ([`carrier`]):
//!
//! | if | by |
//! |---|---|
//! | it is this node | none: they never reach the network |
//! | `+lrts NAME` is of one process | none: refused |
//! | `+lrts NAME` is of one host, and an option forbids shared memory, or the node is on another host | none: refused |
//! | shared memory is wanted, and the node is on this host | shm |
//! | a network is asked for | that network |
//! | else | tcp |
//!
//! **A get or put**, each time ([`Facts::path`]); a path that refuses for good is given up, and the rows are asked again:
//!
//! | if | by |
//! |---|---|
//! | memory of a device is at this end | the network, or not at all (`transfer_of_device`) |
//! | the region is this node's | one copy, in pieces if it is long |
//! | the region is mapped | one copy in the mapping, in pieces if it is long |
//! | the kernel copies from process to process | CMA, in pieces if it is long |
//! | the network moves such memory by itself, and it has 32 KiB or more | the network |
//! | else | messages |
//!
//! A copy is long from 128 KiB on at the latest ([`LONG_BYTES_MIN`](crate::engine::LONG_BYTES_MIN)), and from fewer on where somebody
//! helps: what a node's copies have shown decides ([`Thresholds`](crate::engine::Thresholds)). What a network takes for long is said at
//! `lease_bytes_min` and `MATCHED_BYTES_MIN`.

use super::route::Carrier;
use crate::backends::Messages;

/// Why no path leads to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoPath {
    /// The backend serves one process.
    OneProcess,
    /// The backend is shared memory, which another option forbids.
    Forbidden,
    /// The backend goes no farther than this host.
    OneHost,
}

/// Which backend carries messages to another node.
///
/// # Errors
/// Why none does.
pub(super) fn carrier(
    messages: Messages,
    is_shm_allowed: bool,
    has_network: bool,
    is_neighbour: bool,
) -> Result<Carrier, NoPath> {
    match messages {
        Messages::None => Err(NoPath::OneProcess),
        Messages::Shm if !is_shm_allowed => Err(NoPath::Forbidden),
        Messages::Shm if !is_neighbour => Err(NoPath::OneHost),
        Messages::Shm | Messages::Nearest if is_shm_allowed && is_neighbour => Ok(Carrier::Shm),
        _ if has_network => Ok(Carrier::Fabric),
        _ => Ok(Carrier::Tcp),
    }
}

/// What moves memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Path {
    /// A copy within this process.
    Within,
    /// A copy in a mapping.
    Mapping,
    /// A copy by the kernel.
    Kernel,
    /// One-sided access of the network.
    Direct,
    /// Messages.
    Messages,
}

/// What is known of a transfer; what is asked last is looked at last.
pub(super) struct Facts<M, K, D> {
    pub(super) is_here: bool,
    /// Whether the region is mapped, and was not given up.
    pub(super) is_mapped: M,
    /// Whether the kernel copies, and was not given up.
    pub(super) is_copied: K,
    /// The least bytes that the network moves by itself, if it does, and was not given up.
    pub(super) direct_bytes_min: D,
    pub(super) bytes: usize,
}

impl<M: FnOnce() -> bool, K: FnOnce() -> bool, D: FnOnce() -> Option<usize>> Facts<M, K, D> {
    /// The path that the transfer takes.
    pub(super) fn path(self) -> Path {
        let Self { is_here, is_mapped, is_copied, direct_bytes_min, bytes } = self;
        match () {
            () if is_here => Path::Within,
            () if is_mapped() => Path::Mapping,
            () if is_copied() => Path::Kernel,
            () if is_direct(bytes as u64, direct_bytes_min()) => Path::Direct,
            () => Path::Messages,
        }
    }
}

/// Whether so many bytes are worth the network's own access, of which the least is given if there is any.
pub(super) fn is_direct(bytes: u64, direct_bytes_min: Option<usize>) -> bool {
    direct_bytes_min.is_some_and(|least| bytes >= least as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_by_shared_memory_on_a_host_and_by_the_network_or_tcp_between_hosts() {
        let nearest = |shm, network, neighbour| carrier(Messages::Nearest, shm, network, neighbour);
        assert_eq!(nearest(true, true, true), Ok(Carrier::Shm));
        assert_eq!(nearest(false, true, true), Ok(Carrier::Fabric));
        assert_eq!(nearest(true, true, false), Ok(Carrier::Fabric));
        assert_eq!(nearest(false, false, true), Ok(Carrier::Tcp));
        assert_eq!(nearest(true, false, false), Ok(Carrier::Tcp));
        #[cfg(feature = "net")]
        assert_eq!(carrier(Messages::Tcp, true, false, true), Ok(Carrier::Tcp));
        let shm = |is_allowed, is_neighbour| carrier(Messages::Shm, is_allowed, false, is_neighbour);
        assert_eq!(shm(true, true), Ok(Carrier::Shm));
        assert_eq!(shm(false, true), Err(NoPath::Forbidden));
        assert_eq!(shm(true, false), Err(NoPath::OneHost));
        assert_eq!(carrier(Messages::None, true, true, true), Err(NoPath::OneProcess));
    }

    #[test]
    fn memory_moves_by_the_nearest_path_that_reaches_it() {
        let path = |is_here, is_mapped, is_copied, direct, bytes| {
            let facts = Facts {
                is_here,
                is_mapped: || is_mapped,
                is_copied: || is_copied,
                direct_bytes_min: || direct,
                bytes,
            };
            facts.path()
        };
        assert_eq!(path(true, true, true, Some(8), 8), Path::Within);
        assert_eq!(path(false, true, true, Some(8), 8), Path::Mapping);
        assert_eq!(path(false, false, true, Some(8), 8), Path::Kernel);
        assert_eq!(path(false, false, false, Some(8), 8), Path::Direct);
        assert_eq!(path(false, false, false, Some(8), 7), Path::Messages);
        assert_eq!(path(false, false, false, None, 8), Path::Messages);
    }
}
