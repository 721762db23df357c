//! One-sided access of a simulated network: what a node's interface does by itself, step by step, with the memory that was registered with it.
//!
//! 1. An access leaves its poster, reaches the peer and returns, each at a moment of its own: at the first what is written is read, at the
//!    second the peer's memory is touched, at the last what was read is written. No PE has a part in it.
//! 2. A peer's memory is reached by a key that it has registered, within what was registered, and for what it was; all else fails.
//! 3. What an endpoint that is shut has posted touches nothing more.

#![expect(unsafe_code, reason = "moves bytes of memory that its users keep, as a network does")]

use crate::ids::NodeId;
use crate::leased::endpoint::{Access, Direction, Transfer};
use crate::leased::wire::Window;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// What a poster has its interface do.
pub(super) struct Posting {
    pub(super) poster: NodeId,
    pub(super) slot: usize,
    pub(super) transfer: Transfer,
}

// SAFETY: the address is the poster's, which keeps the memory whatever thread drives it (the contract of `Endpoint::transfer`).
unsafe impl Send for Posting {}

impl Posting {
    /// Bytes that go to the peer and those that come back.
    fn bytes(&self) -> (usize, usize) {
        match self.transfer.direction {
            Direction::Read => (0, self.transfer.len),
            Direction::Write => (self.transfer.len, 0),
        }
    }

    /// What goes to the peer.
    fn carried(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes().0];
        // SAFETY: the poster keeps the memory, and nobody writes it, until it is told of the end (the contract of `Endpoint::transfer`).
        unsafe { std::ptr::copy_nonoverlapping(self.transfer.local, bytes.as_mut_ptr(), bytes.len()) };
        bytes
    }

    /// Takes what has come back.
    fn take(&self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.bytes().1, "it comes back as it was asked for");
        // SAFETY: the poster keeps the memory, which nobody else touches, until it is told of the end (the contract of `Endpoint::transfer`).
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.transfer.local, bytes.len()) };
    }
}

impl Hash for Posting {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Transfer { direction, len, remote, .. } = self.transfer;
        (self.slot, direction == Direction::Read, len, remote.address, remote.key).hash(hasher);
    }
}

/// One step of an access, and what travels with it.
pub(super) enum Step {
    Leaves,
    Reaches(Vec<u8>),
    Returns(Result<Vec<u8>, String>),
}

impl Hash for Step {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            Self::Leaves => hasher.write_u8(0),
            Self::Reaches(bytes) | Self::Returns(Ok(bytes)) => hasher.write(bytes),
            Self::Returns(Err(cause)) => hasher.write(cause.as_bytes()),
        }
    }
}

/// A node's interface: the memory that it reaches.
#[derive(Default)]
pub(super) struct Interface {
    is_shut: bool,
    registered: BTreeMap<u64, Registered>,
    last_key: u64,
}

/// Registered memory, whose owner keeps it until it deregisters it.
struct Registered {
    address: *mut u8,
    len: usize,
    access: Access,
}

// SAFETY: the address is the owner's, which keeps the memory whatever thread drives it (the contract of `Endpoint::deregister`).
unsafe impl Send for Registered {}

impl Interface {
    pub(super) fn register(&mut self, address: *mut u8, len: usize, access: Access) -> Window {
        self.last_key += 1;
        self.registered.insert(self.last_key, Registered { address, len, access });
        // As with providers that count from the first byte.
        Window { address: 0, key: self.last_key }
    }

    pub(super) fn deregister(&mut self, key: u64) {
        self.registered.remove(&key);
    }

    pub(super) fn shut(&mut self) {
        self.is_shut = true;
        self.registered.clear();
    }

    /// The step by which a posted access leaves; `None` when the endpoint is shut.
    pub(super) fn leave(&self, posting: &Posting) -> Option<Step> {
        (!self.is_shut).then(|| Step::Reaches(posting.carried()))
    }

    /// An access has reached this node, with what it carries: the step by which it returns.
    pub(super) fn reach(&self, posting: &Posting, carried: &[u8]) -> Step {
        let Transfer { direction, len, remote, .. } = posting.transfer;
        let place =
            self.registered.get(&remote.key).and_then(|registered| registered.place(direction, remote, len));
        let Some(place) = place else {
            return Step::Returns(Err("it gives no such access to its memory".to_owned()));
        };
        let mut bytes = vec![0; posting.bytes().1];
        // SAFETY: the owner keeps registered memory until it deregisters it, the bytes lie within, and the claim under which it was
        // registered keeps away whoever would touch them meanwhile (`leased/server`, rule 1).
        unsafe {
            match direction {
                Direction::Read => std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), len),
                Direction::Write => std::ptr::copy_nonoverlapping(carried.as_ptr(), place, len),
            }
        }
        Step::Returns(Ok(bytes))
    }

    /// An access has returned to its poster. How it ended; `None` when the endpoint is shut.
    pub(super) fn conclude(
        &self,
        posting: &Posting,
        result: Result<Vec<u8>, String>,
    ) -> Option<Result<(), String>> {
        (!self.is_shut).then(|| result.map(|bytes| posting.take(&bytes)))
    }
}

impl Registered {
    /// Where an access begins, if all of it is granted.
    fn place(&self, direction: Direction, remote: Window, len: usize) -> Option<*mut u8> {
        let is_granted = match direction {
            Direction::Read => matches!(self.access, Access::Readable | Access::Writable),
            Direction::Write => self.access == Access::Writable,
        };
        let end = remote.address.checked_add(len as u64)?;
        (is_granted && end <= self.len as u64).then(|| self.address.wrapping_add(remote.address as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posting(direction: Direction, local: &mut [u8], key: u64, address: u64) -> Posting {
        let remote = Window { address, key };
        let (local, len) = (local.as_mut_ptr(), local.len());
        Posting {
            poster: NodeId(0),
            slot: 3,
            transfer: Transfer { direction, local, len, remote, peer: NodeId(1) },
        }
    }

    /// Takes all steps of an access from one interface to another.
    fn carry_out(posting: &Posting, from: &Interface, to: &Interface) -> Option<Result<(), String>> {
        let Some(Step::Reaches(carried)) = from.leave(posting) else { return None };
        let Step::Returns(result) = to.reach(posting, &carried) else { panic!("it returns next") };
        from.conclude(posting, result)
    }

    #[test]
    fn memory_is_reached_by_its_key_and_within_what_was_registered() {
        let (mut theirs, mut ours) = ([1_u8, 2, 3, 4], [9_u8, 9]);
        let (from, mut to) = (Interface::default(), Interface::default());
        let window = to.register(theirs.as_mut_ptr(), theirs.len(), Access::Writable);
        assert_eq!(carry_out(&posting(Direction::Write, &mut ours, window.key, 1), &from, &to), Some(Ok(())));
        let mut read = [0; 3];
        assert_eq!(carry_out(&posting(Direction::Read, &mut read, window.key, 1), &from, &to), Some(Ok(())));
        assert_eq!((read, theirs), ([9, 9, 4], [1, 9, 9, 4]));
        for (key, address) in [(window.key, 2), (window.key, u64::MAX), (window.key + 1, 0)] {
            let failed = carry_out(&posting(Direction::Read, &mut read, key, address), &from, &to);
            assert!(failed.is_some_and(|result| result.is_err()), "{key} at {address}");
        }
        let readable = to.register(theirs.as_mut_ptr(), theirs.len(), Access::Readable);
        let denied = carry_out(&posting(Direction::Write, &mut ours, readable.key, 0), &from, &to);
        assert!(denied.is_some_and(|result| result.is_err()), "it may be read alone");
        to.deregister(window.key);
        let late = carry_out(&posting(Direction::Read, &mut read, window.key, 0), &from, &to);
        assert!(late.is_some_and(|result| result.is_err()), "its key reaches nothing any more");
    }

    #[test]
    fn what_was_posted_touches_nothing_once_the_endpoint_is_shut() {
        let (mut theirs, mut ours) = ([5_u8; 2], [0_u8; 2]);
        let (mut from, mut to) = (Interface::default(), Interface::default());
        let window = to.register(theirs.as_mut_ptr(), theirs.len(), Access::Readable);
        let posting = posting(Direction::Read, &mut ours, window.key, 0);
        assert!(from.leave(&posting).is_some());
        from.shut();
        assert!(from.conclude(&posting, Ok(vec![5; 2])).is_none() && from.leave(&posting).is_none());
        assert_eq!(ours, [0; 2]);
    }
}
