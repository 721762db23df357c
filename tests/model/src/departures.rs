//! Credit and departures in every order: what is sent is paid for, what is withheld goes when credit comes back, and none of either is
//! lost.

use crate::base::allowance::Allowance;
use crate::base::sync::{Arc, Mutex};
use crate::model::ids::NodeId;
use crate::node::credit::{Account, Fare, Price};
use crate::node::departures::{Departures, Posted};
use crate::node::window::window_bytes;
use loom::thread;

const PEER: NodeId = NodeId(0);

/// The cost of a message that takes a whole window, so that it is alone on its way.
const WHOLE: u32 = window_bytes() as u32;

/// A message: its number, and its cost, or 0.
type Message = (usize, u32);

/// A sender's departures, the network to its peer, and what the peer knows.
struct Pair {
    departures: Departures<Message>,
    /// Messages on their way.
    wire: Mutex<Vec<Message>>,
    /// The most messages that the wire has room for.
    room: usize,
    /// The peer's view of the sender's credit.
    peer: Account,
    /// Messages that have arrived, in order.
    arrived: Mutex<Vec<Message>>,
}

impl Pair {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            departures: Departures::new(1, Arc::new(Allowance::new(u64::MAX))),
            wire: Mutex::new(Vec::new()),
            room,
            peer: Account::default(),
            arrived: Mutex::new(Vec::new()),
        })
    }

    fn send(&self, message: Message) -> Result<(), Message> {
        let mut wire = self.wire.lock();
        if wire.len() == self.room {
            return Err(message);
        }
        wire.push(message);
        Ok(())
    }

    fn post(&self, message: Message) {
        let fare = (message.1 > 0).then_some(Fare { price: Price::plain(message.1), bytes: 1 });
        let posted = self.departures.post(PEER, message, fare, |message| self.send(message), || false);
        assert!(!matches!(posted, Posted::Dropped | Posted::Unaffordable(_)));
    }

    /// The peer takes what is on its way, runs it, and gives credit back: once for all. Returns whether anything was there.
    fn take(&self) -> bool {
        let taken = std::mem::take(&mut *self.wire.lock());
        let mut owed = 0;
        for (_, cost) in taken.iter().filter(|(_, cost)| *cost > 0) {
            self.peer.charge(PEER, *cost).expect("the sender has paid");
            owed += u64::from(*cost);
        }
        let came = !taken.is_empty();
        self.arrived.lock().extend(taken);
        if owed > 0 {
            self.peer.let_go(owed);
            self.departures.refund(PEER, owed, |message| self.send(message)).expect("it was paid once");
        }
        came
    }

    fn flush(&self) -> bool {
        self.departures.are_waiting() && self.departures.flush(|_, message| self.send(message))
    }

    /// All has come, once, and all credit is back.
    fn check(&self, messages: usize) {
        let arrived = self.arrived.lock();
        let mut numbers: Vec<usize> = arrived.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..messages).collect::<Vec<_>>(), "each message arrives once");
        assert!(!self.departures.are_waiting(), "nothing waits");
        assert_eq!(self.departures.withheld_bytes(PEER), 0);
        let account = self.departures.account(PEER);
        assert!(account.refund(1).is_err(), "no credit is missing");
        assert!(
            account.pay(Price::plain(WHOLE)) && !account.pay(Price::plain(1)),
            "one window of credit, and no more"
        );
    }

    /// Whether messages of one kind came in the order of their numbers.
    fn is_in_order(&self, costs: bool) -> bool {
        self.arrived.lock().iter().filter(|message| (message.1 > 0) == costs).is_sorted()
    }
}

/// A thread sends three messages, each of which takes all credit, while the peer gives credit back. Nobody flushes: what is withheld goes
/// with the credit that comes, in order.
#[test]
fn what_is_withheld_goes_when_credit_comes_back() {
    loom::model(|| {
        let pair = Pair::new(usize::MAX);
        let sender = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || (0..3).for_each(|number| pair.post((number, WHOLE))))
        };
        pair.take();
        pair.take();
        sender.join().unwrap();
        while pair.take() {}
        assert!(pair.is_in_order(true));
        pair.check(3);
    });
}

/// Two threads send at once for one window of credit, while the peer gives credit back. Three preemptions: all of them take a minute
/// and have shown nothing more.
#[test]
fn two_senders_share_one_window() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let pair = Pair::new(usize::MAX);
        pair.post((0, WHOLE));
        let senders = [1, 2].map(|number| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || pair.post((number, WHOLE)))
        });
        pair.take();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        while pair.take() {}
        pair.check(3);
    });
}

/// Two threads at the window's edge: one pays for a short message below it, one for a long message beyond it, and either arrives first. The
/// peer holds what comes until all is there.
#[test]
fn what_was_paid_for_below_the_edge_arrives_behind_what_went_beyond_it() {
    loom::model(|| {
        let pair = Pair::new(usize::MAX);
        pair.post((0, WHOLE - 2));
        let senders = [1, WHOLE].into_iter().zip(1..).map(|(cost, number)| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || pair.post((number, cost)))
        });
        senders.collect::<Vec<_>>().into_iter().for_each(|sender| sender.join().unwrap());
        while pair.take() {}
        pair.check(3);
    });
}

/// The network has room for one message, and messages without a cost go between those with one: each kind keeps its order, and what found
/// no room goes at the next flush.
#[test]
fn what_finds_no_room_goes_with_a_flush() {
    loom::model(|| {
        let pair = Pair::new(1);
        let sender = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                [WHOLE, 0, WHOLE, 0].into_iter().enumerate().for_each(|message| pair.post(message));
            })
        };
        pair.take();
        pair.flush();
        sender.join().unwrap();
        while pair.take() | pair.flush() {}
        assert!(pair.is_in_order(true) && pair.is_in_order(false));
        pair.check(4);
    });
}
