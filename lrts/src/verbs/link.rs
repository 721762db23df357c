//! Link to one peer: how far its connection is, its credits, and the work that its queue pair has.
//!
//! 1. A message costs a credit; there are as many as buffers that the peer posted for it. So the peer's queue is never empty
//!    when a message comes in, however slow the peer is.
//! 2. Credits come back in the last byte of every message, or, once half of them are owed, in a message of that byte alone, which
//!    costs none. No more than two of those are on their way: each stands for half of the credits. Two buffers are for them, and
//!    for the first word of a connection, before which nothing is owed.
//! 3. A message that is not signalled is over when something posted later is. Nothing else is concluded from that: with iWARP a
//!    message ends before the answer to a read that was posted before it.

use super::manager::Identifier;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Copied messages of which one is signalled.
pub(super) const SIGNAL_INTERVAL: u32 = 16;

/// How often a connection is tried. What fails for good fails at once; a packet lost, or a peer that runs one long entry, does not
/// fail that often.
const ATTEMPTS_MAX: u32 = 8;

/// State of the connection.
pub(super) enum ConnectionState {
    Absent,
    /// The peer asked too, and its request goes first.
    Expected,
    /// This node asked.
    Asking(Identifier),
    /// The peer asked, and was granted it; it has not been heard on it.
    Granting(Identifier),
    Open(Identifier),
    /// No more, for this reason.
    Broken(String),
}

/// Work of a queue pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// A message that was copied out.
    Copied,
    /// A message from this buffer.
    Sent(usize),
    /// A one-sided operation.
    Moved(usize),
}

/// A connection to one peer, its credits and its work.
pub(super) struct Link {
    pub(super) state: ConnectionState,
    pub(super) address: SocketAddr,
    /// The number that our request must carry to be heard.
    pub(super) door: u64,
    /// How many buffers for its messages are posted.
    pub(super) posted: usize,
    attempts: u32,
    credits: u32,
    owed: u32,
    /// `None`: over, behind something that is not.
    work: VecDeque<Option<Work>>,
    /// The number of the first work.
    first: u32,
    unsignalled: u32,
}

impl Link {
    pub(super) fn new(address: SocketAddr, door: u64) -> Self {
        Self {
            state: ConnectionState::Absent,
            address,
            door,
            posted: 0,
            attempts: 0,
            credits: 0,
            owed: 0,
            work: VecDeque::new(),
            first: 0,
            unsignalled: 0,
        }
    }

    /// The identifier, while there is one.
    pub(super) fn identifier(&self) -> Option<&Identifier> {
        match &self.state {
            ConnectionState::Asking(identifier)
            | ConnectionState::Granting(identifier)
            | ConnectionState::Open(identifier) => Some(identifier),
            ConnectionState::Absent | ConnectionState::Expected | ConnectionState::Broken(_) => None,
        }
    }

    /// Whether something is told about it that only the manager knows.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(
            self.state,
            ConnectionState::Expected | ConnectionState::Asking(_) | ConnectionState::Granting(_)
        )
    }

    /// Notes that the connection is made.
    pub(super) fn open(&mut self, credits: u32) {
        self.state = match std::mem::replace(&mut self.state, ConnectionState::Absent) {
            ConnectionState::Asking(identifier) | ConnectionState::Granting(identifier) => {
                ConnectionState::Open(identifier)
            }
            other => other,
        };
        self.credits = credits;
    }

    /// Notes that an attempt failed. Returns whether there is another.
    pub(super) fn retry(&mut self) -> bool {
        self.attempts += 1;
        self.state = ConnectionState::Absent;
        self.attempts < ATTEMPTS_MAX
    }

    /// Whether a message may be sent, besides the credits.
    pub(super) fn has_credit(&self) -> bool {
        self.credits > 0
    }

    /// How much work the queue pair has.
    pub(super) fn len(&self) -> usize {
        self.work.len()
    }

    /// Whether the next work must be signalled.
    pub(super) fn must_signal(&self, work: Work) -> bool {
        work != Work::Copied || self.unsignalled + 1 >= SIGNAL_INTERVAL
    }

    /// The number of the next work.
    pub(super) fn next(&self) -> u32 {
        self.first.wrapping_add(self.work.len() as u32)
    }

    /// Notes that the queue pair took a work.
    pub(super) fn posted(&mut self, work: Work) {
        self.unsignalled = if self.must_signal(work) { 0 } else { self.unsignalled + 1 };
        self.work.push_back(Some(work));
    }

    /// Notes that a message was posted: it cost a credit, and took the owed ones along.
    pub(super) fn spent(&mut self, returned: u8) {
        self.credits -= 1;
        self.owed -= u32::from(returned);
    }

    /// Notes that a message of nothing but credits was posted.
    pub(super) fn returned(&mut self, returned: u8) {
        self.owed -= u32::from(returned);
    }

    /// Notes that the work of this number is over, if it was not.
    pub(super) fn over(&mut self, number: u32) -> Option<Work> {
        let index = number.wrapping_sub(self.first) as usize;
        let over = self.work.get_mut(index)?.take();
        self.work.range_mut(..index).for_each(|earlier| {
            earlier.take_if(|work| *work == Work::Copied);
        });
        while self.work.front() == Some(&None) {
            self.work.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        over
    }

    /// Notes that the peer has this many more buffers for us. Returns whether that can be: there are no more than `max`.
    pub(super) fn earn(&mut self, credits: u8, max: u32) -> bool {
        self.credits += u32::from(credits);
        self.credits <= max
    }

    /// Notes that a buffer was posted again that held a message of the peer.
    pub(super) fn owe(&mut self) {
        self.owed += 1;
    }

    /// The credits owed to the peer, as a message carries them.
    pub(super) fn owed(&self) -> u8 {
        self.owed.min(u32::from(u8::MAX)) as u8
    }

    /// Ends the link. Returns the work of which nothing more is heard, because the queue pair is no more.
    pub(super) fn end(&mut self, cause: String) -> Vec<Work> {
        self.state = ConnectionState::Broken(cause);
        self.first = self.next();
        self.work.drain(..).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn link() -> Link {
        Link::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), 7)
    }

    #[test]
    fn what_is_over_ends_copied_messages_before_it_and_nothing_else() {
        let mut link = link();
        for work in [Work::Copied, Work::Moved(1), Work::Copied, Work::Sent(3), Work::Copied, Work::Moved(4)]
        {
            link.posted(work);
        }
        assert_eq!(link.over(3), Some(Work::Sent(3)));
        assert_eq!(link.len(), 5, "an operation before it is under way");
        assert_eq!(link.over(3), None, "it was over");
        assert_eq!(link.over(9), None, "it was never posted");
        assert_eq!(link.over(1), Some(Work::Moved(1)));
        assert_eq!(link.len(), 2);
        assert_eq!(link.end("gone".to_owned()), [Work::Copied, Work::Moved(4)]);
        assert_eq!(link.over(5), None, "nothing is left");
    }

    #[test]
    fn one_of_sixteen_copied_messages_is_signalled_and_all_others_are() {
        let mut link = link();
        let mut signalled = 0;
        for _ in 0..SIGNAL_INTERVAL * 4 {
            signalled += u32::from(link.must_signal(Work::Copied));
            link.posted(Work::Copied);
        }
        assert_eq!(signalled, 4);
        assert!(link.must_signal(Work::Sent(0)) && link.must_signal(Work::Moved(0)));
    }

    #[test]
    fn credits_are_spent_owed_and_returned() {
        let mut link = link();
        link.open(2);
        link.owe();
        assert_eq!(link.owed(), 1);
        link.spent(1);
        assert_eq!(link.owed(), 0);
        assert!(link.has_credit());
        link.spent(0);
        assert!(!link.has_credit());
        assert!(link.earn(2, 2));
        assert!(!link.earn(1, 2), "more than there are buffers");
    }

    #[test]
    fn attempts_end() {
        let mut link = link();
        assert_eq!((1..).find(|_| !link.retry()), Some(ATTEMPTS_MAX));
    }
}
