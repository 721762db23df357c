//! Peers of a node: a queue of own messages for each, the operations that it has open here, and how far its goodbyes are.
//!
//! 1. Messages of the backend's own wait in a queue per peer until there is room, and go before the frames that are sent after
//!    them.
//! 2. A peer for which some wait needs progress: nobody announces when there is room, so every progress tries. One whose operation waits
//!    here for a busy range needs it when that is due.
//! 3. Goodbye is said to a peer when neither has an operation open at the other and nothing waits.

use super::goodbye::Goodbyes;
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::PathUse;
use std::collections::VecDeque;

/// The operations that one peer posted to this node.
pub(crate) trait Serve {
    /// Whether there are none.
    fn is_idle(&self) -> bool;

    /// Whether one waits for a busy range.
    fn is_waiting(&self) -> bool;

    /// Whether one that waits is to be tried again.
    fn is_due(&self) -> bool;
}

/// One peer. `Control` is a message of the backend's own, `Way` the backend's own knowledge of the way to a peer.
pub(crate) struct Peer<Control, Server, Way> {
    pub(crate) way: Way,
    pub(crate) server: Server,
    pub(crate) goodbyes: Goodbyes,
    /// Own messages that found no room.
    pub(crate) waiting: VecDeque<Control>,
    /// Frames sent to it.
    pub(crate) sent: PathUse,
    /// Whether it is in the list of those that need progress.
    listed: bool,
}

/// All peers of a node.
pub(crate) struct Peers<Control, Server, Way> {
    /// By node; `None` for this one.
    by_node: Vec<Option<Peer<Control, Server, Way>>>,
    listed: Vec<NodeId>,
}

impl<Control: Copy, Server: Serve, Way> Peers<Control, Server, Way> {
    /// By node; `None` for this one and those that are reached in another way.
    pub(crate) fn new(peers: Vec<Option<(Way, Server)>>) -> Self {
        let peer = |(way, server)| Peer {
            way,
            server,
            goodbyes: Goodbyes::new(),
            waiting: VecDeque::new(),
            sent: PathUse::default(),
            listed: false,
        };
        Self { by_node: peers.into_iter().map(|one| one.map(peer)).collect(), listed: Vec::new() }
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&Peer<Control, Server, Way>> {
        self.by_node.get(node.index()).and_then(Option::as_ref)
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut Peer<Control, Server, Way>> {
        self.by_node.get_mut(node.index()).and_then(Option::as_mut)
    }

    /// All nodes of the job, of which some may be no peers.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<Control, Server, Way> {
        (0..self.by_node.len() as u32).map(NodeId)
    }

    /// Whether a node is no peer, or a lost one. What MPI was told to do cannot be taken back: there it outlives its peer.
    #[cfg(any(feature = "mpi", test))]
    pub(crate) fn is_lost(&self, node: NodeId) -> bool {
        self.get(node).is_none_or(|peer| peer.goodbyes.is_lost())
    }

    /// Whether an operation at a node may begin now; if not, it may when the node has heard that its goodbye was heard.
    ///
    /// # Errors
    /// How it ends, since it never may.
    pub(crate) fn may_post(&self, node: NodeId) -> Result<bool, TransferError> {
        match self.get(node) {
            None => Err(TransferError::StaleKey(node)),
            Some(peer) if !peer.goodbyes.is_open() => Err(TransferError::PeerLost(node)),
            Some(peer) => Ok(peer.goodbyes.may_say()),
        }
    }

    /// Queues a message of our own.
    pub(crate) fn tell(&mut self, node: NodeId, control: Control) {
        if let Some(peer) = self.get_mut(node) {
            peer.waiting.push_back(control);
        }
        self.note(node);
    }

    /// The message that a peer is to be told next, if it waits.
    pub(crate) fn next(&self, node: NodeId) -> Option<Control> {
        self.get(node)?.waiting.front().copied()
    }

    /// Drops the message that a peer was just told.
    pub(crate) fn told(&mut self, node: NodeId) {
        self.get_mut(node).map(|peer| peer.waiting.pop_front());
    }

    /// Lists a peer that has come to need progress, or will.
    pub(crate) fn note(&mut self, node: NodeId) {
        if let Some(peer) = self.get_mut(node)
            && !peer.listed
            && (!peer.waiting.is_empty() || peer.server.is_waiting())
        {
            peer.listed = true;
            self.listed.push(node);
        }
    }

    /// Whether any peer can go on, or may, of which nobody will tell.
    pub(crate) fn any_needs_progress(&self) -> bool {
        let listed = self.listed.iter().filter_map(|node| self.get(*node));
        listed.into_iter().any(|peer| !peer.waiting.is_empty() || peer.server.is_due())
    }

    /// The peers that need progress, or will, which are listed no more.
    pub(crate) fn take_needing_progress(&mut self) -> Vec<NodeId> {
        let listed = std::mem::take(&mut self.listed);
        for node in &listed {
            if let Some(peer) = self.get_mut(*node) {
                peer.listed = false;
            }
        }
        listed
    }

    /// Parts from a peer, if it is time, with so many operations open at it. Returns whether goodbye is to be said now.
    pub(crate) fn say_goodbye(&mut self, node: NodeId, operations: usize) -> bool {
        let Some(peer) = self.get_mut(node) else { return false };
        let is_idle = operations == 0 && peer.server.is_idle() && peer.waiting.is_empty();
        let says = is_idle && peer.goodbyes.may_say();
        if says {
            peer.goodbyes.say_goodbye();
        }
        says
    }

    /// Whether nothing more is to be said to anybody, or heard.
    pub(crate) fn are_over(&self) -> bool {
        self.by_node.iter().flatten().all(|peer| peer.goodbyes.is_over())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that are open, those of them that wait, and those of them that are to be tried again.
    struct Desk {
        open: u32,
        waiting: u32,
        due: u32,
    }

    impl Serve for Desk {
        fn is_idle(&self) -> bool {
            self.open == 0
        }
        fn is_waiting(&self) -> bool {
            self.waiting > 0
        }
        fn is_due(&self) -> bool {
            self.due > 0
        }
    }

    const OTHER: NodeId = NodeId(1);

    fn peers(open: u32, waiting: u32) -> Peers<char, Desk, ()> {
        Peers::new(vec![None, Some(((), Desk { open, waiting, due: 0 }))])
    }

    #[test]
    fn what_is_told_leaves_in_its_order_and_needs_progress_once() {
        let mut peers = peers(0, 0);
        peers.tell(OTHER, 'a');
        peers.tell(OTHER, 'b');
        assert_eq!(peers.take_needing_progress(), [OTHER]);
        assert!(!peers.any_needs_progress());
        assert_eq!(peers.next(OTHER), Some('a'));
        peers.told(OTHER);
        peers.note(OTHER);
        assert_eq!((peers.next(OTHER), peers.take_needing_progress()), (Some('b'), vec![OTHER]));
        peers.told(OTHER);
        peers.note(OTHER);
        assert!(peers.next(OTHER).is_none() && !peers.any_needs_progress());
    }

    #[test]
    fn a_busy_range_needs_progress_when_it_is_due() {
        let mut peers = peers(1, 1);
        peers.note(OTHER);
        assert!(!peers.any_needs_progress());
        peers.get_mut(OTHER).expect("it is there").server.due = 1;
        assert!(peers.any_needs_progress());
        assert_eq!(peers.take_needing_progress(), [OTHER]);
        peers.get_mut(OTHER).expect("it is there").server.waiting = 0;
        peers.note(OTHER);
        assert!(!peers.any_needs_progress());
    }

    #[test]
    fn goodbye_is_said_once_and_last() {
        let mut peers = peers(1, 0);
        assert!(!peers.say_goodbye(OTHER, 0), "it has an operation open here");
        peers.get_mut(OTHER).expect("it is there").server.open = 0;
        assert!(!peers.say_goodbye(OTHER, 1), "this node has one open there");
        peers.tell(OTHER, 'a');
        assert!(!peers.say_goodbye(OTHER, 0), "something waits");
        peers.told(OTHER);
        assert!(peers.say_goodbye(OTHER, 0) && !peers.say_goodbye(OTHER, 0));
        assert!(!peers.say_goodbye(NodeId(0), 0), "nobody parts from itself");
    }

    #[test]
    fn nobody_is_told_anything_who_is_no_peer() {
        let mut peers = peers(0, 0);
        peers.tell(NodeId(0), 'a');
        peers.tell(NodeId(9), 'a');
        assert!(peers.next(NodeId(0)).is_none() && !peers.any_needs_progress() && !peers.are_over());
        assert!(peers.is_lost(NodeId(9)) && !peers.is_lost(OTHER));
    }
}
