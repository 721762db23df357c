//! Departures to other nodes: for each node a credit account, and a queue of messages that wait for room in the network or for credit
//! (see [`crate::node::credit`]).
//!
//! 1. Messages without a cost are sent in order, and so are messages with a cost. A message without a cost overtakes messages that wait
//!    for credit; an urgent one overtakes all that wait, but urgent ones.
//! 2. A message that is paid for goes as soon as the network has room for it.
//! 3. The thread that takes credit back sends the messages that wait for it, under the lock under which other threads queue messages: no
//!    message is left behind.
//!
//! Messages that wait for credit take of the node's allowance of memory; a message beyond that ends the job.
//!
//! Nothing here knows the network: whoever posts or flushes gives the function that sends. `tests/model` plays this file in every order.

use super::credit::{Account, Fare};
use super::line::{Line, Next};
use super::window::window_bytes;
use crate::base::allowance::{Allowance, Purpose};
use crate::base::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering, Sparse};
use crate::model::ids::NodeId;
use std::collections::VecDeque;
use std::mem;

/// Bytes (costs) that may wait for credit of one node before the PE that sends more has to wait itself: as many as are on their way, so
/// that the network never runs dry.
fn usual_room_bytes() -> u64 {
    window_bytes()
}

/// Messages that wait for one node.
struct SendQueue<M> {
    /// Messages that wait for room: paid for, or without a cost.
    refused: Line<M>,
    /// Messages that wait for credit, with their fares.
    withheld: Line<(M, Fare)>,
    /// Whether the node stands among those for which messages wait; see [`Departures::flush`].
    is_listed: bool,
}

impl<M> SendQueue<M> {
    fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.withheld.is_empty()
    }
}

/// The departure to one other node.
struct Departure<M> {
    account: Account,
    waiting: Mutex<SendQueue<M>>,
    /// Sum of the costs of the withheld messages. Written under the lock; senders read it without.
    withheld_bytes: AtomicU64,
    /// Sum of costs that may be withheld before senders wait. Grows while the other node is silent: see `node/backpressure.rs`.
    room_bytes: AtomicU64,
    /// Number of times that credit came back, for the PEs that wait for it.
    refunds: AtomicU64,
}

impl<M> Departure<M> {
    fn new() -> Self {
        Self {
            account: Account::default(),
            waiting: Mutex::new(SendQueue { refused: Line::new(), withheld: Line::new(), is_listed: false }),
            withheld_bytes: AtomicU64::new(0),
            room_bytes: AtomicU64::new(usual_room_bytes()),
            refunds: AtomicU64::new(0),
        }
    }
}

/// The fate of a posted message.
pub(crate) enum Posted<R> {
    /// It was sent, with this result.
    Sent(R),
    /// It waits for room in the network.
    Refused {
        /// Whether no message waited before, so that nobody tries again yet.
        is_first: bool,
    },
    /// It waits for credit.
    Withheld,
    /// It was dropped: there is no credit for it, and no memory to keep it, for this reason.
    Unaffordable(String),
    /// It was dropped: the job is over, and no credit will come.
    Dropped,
}

/// The departures to all nodes, of messages `M`.
pub(crate) struct Departures<M> {
    /// By node, from the first message on.
    by_node: Sparse<Departure<M>>,
    /// Number of messages that wait, for the threads that poll.
    waiting_count: AtomicUsize,
    /// The nodes for which messages wait, each once; some for which none waits any more. Locked within a node's own lock.
    listed: Mutex<VecDeque<NodeId>>,
    allowance: Arc<Allowance>,
}

impl<M> Departures<M> {
    /// Departures to so many nodes, of the node that has this allowance.
    pub(crate) fn new(nodes: u32, allowance: Arc<Allowance>) -> Self {
        let (by_node, waiting_count) = (Sparse::new(nodes as usize), AtomicUsize::new(0));
        Self { by_node, waiting_count, listed: Mutex::new(VecDeque::new()), allowance }
    }

    #[inline]
    fn to(&self, peer: NodeId) -> &Departure<M> {
        self.by_node.get_or_make(peer.index(), Departure::new)
    }

    /// Sends a message for this fare, or for nothing, by `send`, which hands it back when there is no room; or lets it wait. `has_ended`
    /// says whether the job is over.
    #[inline]
    pub(crate) fn post<R>(
        &self,
        peer: NodeId,
        mut message: M,
        fare: Option<Fare>,
        send: impl Fn(M) -> Result<R, M>,
        has_ended: impl Fn() -> bool,
    ) -> Posted<R> {
        let departure = self.to(peer);
        let pay = || fare.is_none_or(|fare| departure.account.pay(fare.price));
        let is_urgent = fare.is_some_and(|fare| fare.price.is_urgent);
        // This thread sees here every message that it left waiting itself; messages that other threads left need not go first.
        let mut is_paid = !self.are_waiting() && pay();
        if is_paid {
            match send(message) {
                Ok(sent) => return Posted::Sent(sent),
                Err(refused) => message = refused,
            }
        }
        let mut waiting = departure.waiting.lock();
        is_paid = is_paid || ((fare.is_none() || is_urgent || waiting.withheld.is_empty()) && pay());
        if let Some(fare) = fare
            && !is_paid
        {
            if has_ended() {
                return Posted::Dropped;
            }
            if let Err(used_up) = self.allowance.take(Purpose::Withheld, fare.bytes) {
                return Posted::Unaffordable(used_up);
            }
            waiting.withheld.push((message, fare), is_urgent);
            departure.withheld_bytes.fetch_add(fare.price.bytes.into(), Ordering::Relaxed);
            self.waiting_count.fetch_add(1, Ordering::Relaxed);
            self.list(peer, &mut waiting);
            return Posted::Withheld;
        }
        if is_urgent || waiting.refused.is_empty() {
            match send(message) {
                Ok(sent) => return Posted::Sent(sent),
                Err(refused) => message = refused,
            }
        }
        waiting.refused.push(message, is_urgent);
        let is_first = self.waiting_count.fetch_add(1, Ordering::Relaxed) == 0;
        self.list(peer, &mut waiting);
        Posted::Refused { is_first }
    }

    /// Notes that messages wait for a node.
    fn list(&self, peer: NodeId, waiting: &mut SendQueue<M>) {
        if !mem::replace(&mut waiting.is_listed, true) {
            self.listed.lock().push_back(peer);
        }
    }

    /// Sends messages that found no room or no credit before, by `send`, to the nodes for which some wait: others cost nothing. Returns whether
    /// any went.
    pub(crate) fn flush<R>(&self, send: impl Fn(NodeId, M) -> Result<R, M>) -> bool {
        // Those that are listed again meanwhile have had their turn.
        let turns = self.listed.lock().len();
        let mut have_gone = false;
        for _ in 0..turns {
            let Some(peer) = self.listed.lock().pop_front() else { break };
            let departure = self.to(peer);
            let mut waiting = departure.waiting.lock();
            waiting.is_listed = false;
            have_gone |= self.flush_to(departure, &mut waiting, |message| send(peer, message));
            if !waiting.is_empty() {
                self.list(peer, &mut waiting);
            }
        }
        have_gone
    }

    /// Sends messages that wait for a node. Returns whether any went.
    fn flush_to<R>(
        &self,
        departure: &Departure<M>,
        waiting: &mut SendQueue<M>,
        send: impl Fn(M) -> Result<R, M>,
    ) -> bool {
        let mut sent = 0;
        loop {
            let next = match waiting.refused.pop() {
                Some(next) => next,
                None => match waiting.withheld.first() {
                    Some((_, fare)) if departure.account.pay(fare.price) => {
                        let next = waiting.withheld.pop().expect("looked at above");
                        let (message, fare) = next.message;
                        departure.withheld_bytes.fetch_sub(fare.price.bytes.into(), Ordering::Relaxed);
                        self.allowance.give_back(Purpose::Withheld, fare.bytes);
                        Next { message, is_urgent: next.is_urgent }
                    }
                    _ => break,
                },
            };
            let Next { message, is_urgent } = next;
            if let Err(message) = send(message) {
                waiting.refused.put_back(Next { message, is_urgent });
                break;
            }
            sent += 1;
        }
        if waiting.withheld.is_empty() {
            departure.room_bytes.store(usual_room_bytes(), Ordering::Relaxed);
        }
        self.waiting_count.fetch_sub(sent, Ordering::Relaxed);
        sent > 0
    }

    /// Takes credit that a node has given back, and sends the messages that waited for it.
    ///
    /// # Errors
    /// When more comes back than was paid, in words.
    pub(crate) fn refund<R>(
        &self,
        peer: NodeId,
        bytes: u64,
        send: impl Fn(M) -> Result<R, M>,
    ) -> Result<(), String> {
        let departure = self.to(peer);
        departure.account.refund(bytes)?;
        departure.refunds.fetch_add(1, Ordering::Relaxed);
        self.flush_to(departure, &mut departure.waiting.lock(), send);
        Ok(())
    }

    /// Drops the messages that wait for credit, when the job is over: no node gives credit any more.
    pub(crate) fn withdraw(&self) {
        for (_, departure) in self.by_node.made() {
            let withheld = mem::replace(&mut departure.waiting.lock().withheld, Line::new());
            self.waiting_count.fetch_sub(withheld.len(), Ordering::Relaxed);
        }
    }

    pub(crate) fn are_waiting(&self) -> bool {
        self.waiting_count.load(Ordering::Relaxed) > 0
    }

    /// The credit between this node and another.
    pub(crate) fn account(&self, peer: NodeId) -> &Account {
        &self.to(peer).account
    }

    /// The room for messages withheld from a node, in bytes, if more than that is withheld: then their sender should wait.
    #[inline]
    pub(crate) fn overfull(&self, peer: NodeId) -> Option<u64> {
        let Departure { withheld_bytes, room_bytes, .. } = self.to(peer);
        let withheld = withheld_bytes.load(Ordering::Relaxed);
        let room = room_bytes.load(Ordering::Relaxed);
        (withheld > room).then_some(room)
    }

    pub(crate) fn withheld_bytes(&self, peer: NodeId) -> u64 {
        self.to(peer).withheld_bytes.load(Ordering::Relaxed)
    }

    /// Number of times that a node has given credit back.
    pub(crate) fn refunds(&self, peer: NodeId) -> u64 {
        self.to(peer).refunds.load(Ordering::Relaxed)
    }

    /// Raises the room for messages withheld from a node to twice `room_bytes`, until none is withheld.
    pub(crate) fn enlarge(&self, peer: NodeId, room_bytes: u64) {
        self.to(peer).room_bytes.fetch_max(room_bytes.saturating_mul(2), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_flush_costs_nothing_for_nodes_for_which_no_message_waits() {
        let departures = Departures::new(100, Arc::new(Allowance::new(u64::MAX)));
        let post = |peer, has_room| {
            let send = |message| if has_room { Ok(()) } else { Err(message) };
            departures.post(NodeId(peer), peer, None, send, || false)
        };
        assert!((0..100).all(|peer| matches!(post(peer, true), Posted::Sent(()))));
        assert!([3, 40, 3].into_iter().all(|peer| matches!(post(peer, false), Posted::Refused { .. })));
        let tried = RefCell::new(Vec::new());
        let flush = |has_room| {
            let have_gone = departures.flush(|peer, message| {
                tried.borrow_mut().push(peer.0);
                if has_room { Ok(()) } else { Err(message) }
            });
            (have_gone, tried.take())
        };
        assert_eq!(flush(false), (false, vec![3, 40]), "the first message of each");
        assert_eq!(flush(true), (true, vec![3, 3, 40]));
        assert_eq!(flush(true), (false, vec![]));
    }
}
