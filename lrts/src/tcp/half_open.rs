//! Half-open connections: those to this node whose openers have not proved yet that they belong to the job, and who of them makes room.
//!
//! 1. There is room for [`ROOM_MIN`] of them, and for two of each connection that is still expected: honest peers have one of each at a
//!    time, so they alone never push each other out.
//! 2. Who makes room is of the address that holds the most beyond what is expected from there; among those, one that has shown nothing of
//!    the job's key goes before one that has, the older before the newer.
//! 3. No time limits the wait of those for whom there is room: on a crowded host honest ones wait for a processor.

use super::handshake::{Acceptor, Failure, Proved};
use crate::bootstrap::JobKey;
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Each costs a descriptor and less than a kibibyte.
const ROOM_MIN: usize = 64;

/// How many connections are expected from each address.
pub(super) type Due = BTreeMap<IpAddr, usize>;

/// How many there is room for while so many connections are expected.
pub(super) fn room(expected: usize) -> usize {
    ROOM_MIN.max(expected.saturating_mul(2))
}

/// A connection whose opener has not proved itself.
pub(super) struct HalfOpen {
    pub(super) socket: OwnedFd,
    acceptor: Acceptor,
    address: Option<IpAddr>,
    /// Whether something has come that was not read.
    pub(super) is_ready: bool,
}

impl HalfOpen {
    /// A connection that was taken, from this address.
    pub(super) fn new(socket: OwnedFd, address: Option<IpAddr>) -> Self {
        // What came with it is read at once.
        Self { socket, acceptor: Acceptor::new(), address, is_ready: true }
    }

    /// Reads what has arrived.
    ///
    /// # Errors
    /// It ended, or its opener does not belong to the job.
    pub(super) fn advance(&mut self, key: &JobKey) -> Result<Option<Proved>, Failure> {
        self.is_ready = false;
        self.acceptor.advance(&self.socket, key)
    }

    fn guest(&self) -> Guest {
        Guest { address: self.address, has_spoken: self.acceptor.has_heard() }
    }
}

/// A half-open connection, as the choice of who makes room sees it.
#[derive(Clone, Copy)]
struct Guest {
    address: Option<IpAddr>,
    /// Whether its first message was made with the job's key. Who has overheard one can repeat it: it is a sign, and no proof.
    has_spoken: bool,
}

/// Drops one of the connections, the oldest of which comes first. Returns whether there was any.
pub(super) fn make_room(all: &mut VecDeque<HalfOpen>, due: &Due) -> bool {
    let guests: Vec<Guest> = all.iter().map(HalfOpen::guest).collect();
    who_leaves(&guests, due).and_then(|place| all.remove(place)).is_some()
}

/// The place of the one that makes room, among all from the oldest to the newest.
fn who_leaves(guests: &[Guest], due: &Due) -> Option<usize> {
    let mut held = BTreeMap::<Option<IpAddr>, usize>::new();
    guests.iter().for_each(|guest| *held.entry(guest.address).or_default() += 1);
    let beyond = |guest: &Guest| {
        let expected = guest.address.and_then(|address| due.get(&address)).copied().unwrap_or_default();
        held[&guest.address] as i64 - expected as i64
    };
    let most = guests.iter().map(beyond).max()?;
    let among = guests.iter().enumerate().filter(|(_, guest)| beyond(guest) == most);
    among.min_by_key(|(place, guest)| (guest.has_spoken, *place)).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn guest(from: u8, has_spoken: bool) -> Guest {
        Guest { address: Some(address(from)), has_spoken }
    }

    #[test]
    fn honest_peers_of_any_number_have_room() {
        assert_eq!([0, 32, 33, 400].map(room), [64, 64, 66, 800]);
    }

    #[test]
    fn who_makes_room_is_of_the_address_with_the_most_beyond_what_is_expected() {
        let due = Due::from([(address(1), 4), (address(2), 1)]);
        let silent = |from: [u8; 6]| from.map(|from| guest(from, false));
        assert_eq!(who_leaves(&silent([1, 1, 1, 9, 2, 9]), &due), Some(3), "nobody is expected from there");
        assert_eq!(
            who_leaves(&silent([1, 1, 1, 2, 2, 2]), &due),
            Some(3),
            "one is expected from there, three came"
        );
        assert_eq!(who_leaves(&[], &due), None);
    }

    #[test]
    fn of_one_address_the_oldest_that_has_shown_nothing_makes_room() {
        let due = Due::from([(address(1), 4)]);
        let all = [true, true, false, false].map(|has_spoken| guest(1, has_spoken));
        assert_eq!(who_leaves(&all, &due), Some(2));
        assert_eq!(who_leaves(&all[..2], &due), Some(0));
        // Nobody knows where a connection comes from that ended at once.
        assert_eq!(who_leaves(&[Guest { address: None, has_spoken: false }], &due), Some(0));
    }
}
