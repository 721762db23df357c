//! Flow control by credits (as in RDMA and Myrinet): bounds the messages of one node that are on their way to another node, or wait there
//! to run.
//!
//! 1. A message that a PE is to run costs its sender [some bytes](cost_of). A node may send one more message to another node while the
//!    costs of the messages that it has sent there and not been given back are less than [`window_bytes`]; an urgent one while they are
//!    less than [`urgent_bytes`] more.
//! 2. The PE that runs the message gives the cost back, together with other costs: see [`Owed`]. A message that is kept, sent on or waits
//!    for buffers has been run in this sense: the place where it waits has a bound of its own.
//! 3. Messages of the nodes themselves (credit, releases, news for all nodes, the job's end) cost nothing, so that they always go
//!    through. Releases that a call takes along may wait with it: whoever is to run that call needs none of them to do so.
//! 4. Both ends keep an [`Account`]: costs beyond [`held_bytes_max`] come from no honest node, and end the job. The receiver looks at their
//!    sum alone: messages of several threads arrive in any order, so that one which was paid for below the window's edge may come behind the
//!    one that went beyond it.

use super::window::window_bytes;
use crate::base::sync::{AtomicU64, Ordering};
use crate::model::ids::NodeId;

/// What urgent messages may cost beyond the window, in bytes: some thousand short ones.
fn urgent_bytes() -> u64 {
    window_bytes() / 8
}

/// The most that an honest node's account at another one comes to, in bytes: all but one byte of the window and of what urgent messages may
/// cost beyond it, and then the longest message.
fn held_bytes_max() -> u64 {
    window_bytes() + urgent_bytes() - 1 + window_bytes()
}

/// Bytes that a message takes beside its encoding: its place in a queue, and the allocators' overhead.
pub(super) const MESSAGE_BYTES: u64 = 128;

/// Lent bytes that count as one byte of a message's cost: lent memory is read in place, or fetched while other messages run. Several
/// buffers of tens of megabytes fit into a window, so that no sender waits for credit between two of them.
const LENT_PART: u64 = 32;

/// Part of a window (1 / `KEPT_PART`) that the PEs of a node may keep together before they give it back.
const KEPT_PART: u64 = 4;

/// The cost of a message, and the node that paid it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) source: NodeId,
    /// Bytes of credit; 0: the message cost no node anything.
    pub(crate) bytes: u32,
}

impl Cost {
    /// The cost of a message from this node: nothing.
    pub(crate) const NONE: Self = Self { source: NodeId(0), bytes: 0 };

    /// The shares of a message that becomes one message for each of `pes` PEs. Their sum is the cost.
    pub(crate) fn split(self, pes: u32) -> impl Iterator<Item = Self> {
        let Self { source, bytes } = self;
        (0..pes).map(move |rank| Self { source, bytes: bytes / pes + u32::from(rank < bytes % pes) })
    }
}

/// What a message costs its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    /// Credit, in bytes.
    pub(crate) bytes: u32,
    /// Whether the message is to go before others that wait, and beyond the window if it must.
    pub(crate) is_urgent: bool,
}

impl Price {
    /// Of a message that is not urgent.
    pub(crate) fn plain(bytes: u32) -> Self {
        Self { bytes, is_urgent: false }
    }
}

/// What a message is for its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fare {
    pub(crate) price: Price,
    /// Memory that it takes while it waits for credit, in bytes.
    pub(crate) bytes: u64,
}

/// The cost of a message with so many encoded and lent bytes. A message longer than the window costs the whole window: like every
/// message, it goes when there is any credit.
pub(crate) fn cost_of(encoded_bytes: usize, lent_bytes: u64) -> u32 {
    (MESSAGE_BYTES + encoded_bytes as u64).saturating_add(lent_bytes / LENT_PART).min(window_bytes()) as u32
}

/// The credit between this node and one other, in both directions.
#[derive(Default, Debug)]
pub(crate) struct Account {
    /// Costs of the messages sent to the other node. Raised by the threads that send, lowered by the inbox; no other memory depends on
    /// it.
    spent: AtomicU64,
    /// Costs of the messages that came from the other node. Raised by the inbox, lowered by PEs before they give them back; no other
    /// memory depends on it.
    held: AtomicU64,
}

impl Account {
    /// Pays for a message to the other node. Returns whether there was credit.
    pub(crate) fn pay(&self, Price { bytes, is_urgent }: Price) -> bool {
        let window = window_bytes() + if is_urgent { urgent_bytes() } else { 0 };
        let pay = |spent| (spent < window).then_some(spent + u64::from(bytes));
        self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_ok()
    }

    /// Takes credit that the other node has given back.
    ///
    /// # Errors
    /// When more comes back than was paid, in words.
    pub(crate) fn refund(&self, bytes: u64) -> Result<(), String> {
        let refund = |spent: u64| spent.checked_sub(bytes);
        let refunded = self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, refund);
        refunded.map(|_| ()).map_err(|spent| format!("credit of {bytes} bytes for {spent} that were sent"))
    }

    /// Charges the other node for a message that has come from it.
    ///
    /// # Errors
    /// When the other node cannot have had credit for the message, in words.
    pub(crate) fn charge(&self, source: NodeId, bytes: u32) -> Result<Cost, String> {
        let held = self.held.fetch_add(u64::from(bytes), Ordering::Relaxed);
        if held + u64::from(bytes) > held_bytes_max() {
            return Err(format!("a message without credit: {held} bytes of its messages have not run yet"));
        }
        Ok(Cost { source, bytes })
    }

    /// Forgets the costs of the other node's messages: a fuzzer's node sends more than any PE runs and gives back.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn forgive(&self) {
        self.held.store(0, Ordering::Relaxed);
    }

    /// What this node has spent at the other one, and what it holds for it.
    #[cfg(feature = "sim")]
    pub(crate) fn balance(&self) -> (u64, u64) {
        (self.spent.load(Ordering::Relaxed), self.held.load(Ordering::Relaxed))
    }

    /// Lowers the costs held for the other node by credit that is about to be given back.
    pub(crate) fn let_go(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Debts of a block: neighbours by number, which often send to the same PE.
const BLOCK: usize = 32;

/// Credit that one PE owes for messages it has run, by sender.
#[derive(Debug)]
pub(crate) struct Owed {
    /// In blocks, each from the first message of one of its senders on: plain numbers of one thread, in a fraction of the memory of `Sparse`.
    by_source: Vec<Option<Box<[u64; BLOCK]>>>,
    /// Largest debt to one sender, in bytes. All PEs together keep less than a [`KEPT_PART`]th of a window, so a node that has sent a
    /// whole window gets most of it back.
    kept_max: u64,
}

impl Owed {
    /// No debts yet, for one PE of a node with `pes_per_node` PEs, in a job of `nodes` nodes.
    pub(crate) fn new(nodes: u32, pes_per_node: u32) -> Self {
        let kept_max = window_bytes() / KEPT_PART / u64::from(pes_per_node);
        Self { by_source: vec![None; (nodes as usize).div_ceil(BLOCK)], kept_max }
    }

    /// What is owed to a sender.
    #[cfg(feature = "sim")]
    pub(crate) fn to(&self, source: NodeId) -> u64 {
        self.by_source[source.index() / BLOCK].as_ref().map_or(0, |block| block[source.index() % BLOCK])
    }

    /// Adds the cost of a message that has been run. Returns the credit to give back to its sender now, if any.
    #[inline]
    pub(crate) fn add(&mut self, cost: Cost) -> Option<u64> {
        let source = cost.source.index();
        let block = self.by_source[source / BLOCK].get_or_insert_with(|| Box::new([0; BLOCK]));
        let owed = &mut block[source % BLOCK];
        *owed += u64::from(cost.bytes);
        (*owed >= self.kept_max).then(|| std::mem::take(owed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const OTHER: NodeId = NodeId(1);

    #[test]
    fn the_last_byte_of_a_window_is_credit_and_no_more() {
        let (sender, receiver) = (Account::default(), Account::default());
        let almost = (window_bytes() - 1) as u32;
        for account in [&sender, &receiver] {
            assert!(account.pay(Price::plain(almost)) && account.charge(OTHER, almost).is_ok());
        }
        assert!(
            sender.pay(Price::plain(cost_of(usize::MAX >> 1, u64::MAX))),
            "one message may be as long as it likes"
        );
        assert!(receiver.charge(OTHER, cost_of(100, 1 << 40)).is_ok(), "nor is it the receiver who says no");
        assert!(!sender.pay(Price::plain(cost_of(0, 0))));
        let too_much = urgent_bytes() as u32 + 1;
        assert!(receiver.charge(OTHER, too_much).unwrap_err().contains("without credit"));
        sender.refund(u64::from(almost)).unwrap();
        assert!(!sender.pay(Price::plain(1)), "the long one alone fills it");
        sender.refund(window_bytes()).unwrap();
        assert!(sender.pay(Price::plain(1)));
    }

    #[test]
    fn what_was_paid_below_the_edge_may_arrive_behind_what_went_beyond_it() {
        let (almost, long) = ((window_bytes() - 2) as u32, window_bytes() as u32);
        let (sender, receiver) = (Account::default(), Account::default());
        assert!([almost, 1, long].into_iter().all(|cost| sender.pay(Price::plain(cost))));
        assert!([almost, long, 1].into_iter().all(|cost| receiver.charge(OTHER, cost).is_ok()));
        assert!(!sender.pay(Price::plain(1)));
        assert!(receiver.charge(OTHER, urgent_bytes() as u32 + 1).is_err());
    }

    #[test]
    fn an_urgent_message_goes_beyond_the_window_by_a_part_and_no_more() {
        let (sender, receiver) = (Account::default(), Account::default());
        let urgent = |bytes| Price { bytes, is_urgent: true };
        let costs = [window_bytes() as u32, urgent_bytes() as u32 - 1, window_bytes() as u32];
        assert!(sender.pay(Price::plain(costs[0])) && !sender.pay(Price::plain(1)));
        assert!(costs[1..].iter().all(|cost| sender.pay(urgent(*cost))));
        assert!(!sender.pay(urgent(1)));
        assert!(costs.into_iter().all(|cost| receiver.charge(OTHER, cost).is_ok()));
        assert!(receiver.charge(OTHER, 1).is_err());
    }

    #[test]
    fn the_parts_of_a_toll_are_the_toll() {
        for (bytes, pes) in [(130, 1), (130, 4), (3, 64), (window_bytes() as u32, 3)] {
            let parts = Cost { source: OTHER, bytes }.split(pes).map(|part| part.bytes);
            assert_eq!(parts.sum::<u32>(), bytes);
        }
    }

    #[test]
    fn nobody_gives_back_more_than_was_paid() {
        let account = Account::default();
        assert!(account.pay(Price::plain(100)));
        for bytes in [101, 1 << 31, 1 << 32, 1 << 63, u64::MAX] {
            assert!(account.refund(bytes).is_err());
        }
        assert_eq!(account.refund(100), Ok(()));
        assert!(account.refund(1).is_err());
    }

    #[test]
    fn what_all_pes_keep_leaves_credit_to_send() {
        for pes in [1, 2, 3, 64] {
            let mut owed: Vec<Owed> = (0..pes).map(|_| Owed::new(2, pes)).collect();
            let mut kept = 0;
            for owed in &mut owed {
                let cost = Cost { source: OTHER, bytes: 1 };
                assert_eq!(owed.add(Cost { bytes: owed.kept_max as u32 - 1, ..cost }), None);
                kept += owed.kept_max - 1;
            }
            assert!(kept <= window_bytes() / KEPT_PART);
            let last = owed[0].add(Cost { source: OTHER, bytes: 1 });
            assert_eq!(last, Some(owed[0].kept_max), "the next byte is one too many to keep");
        }
    }
}
