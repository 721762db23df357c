//! Goodbyes: how a node and one of its peers end their exchange.
//!
//! 1. A node says goodbye in its last message to a peer, when neither has an operation open at the other.
//! 2. A node that hears a goodbye says so on the keepalive connection. A network's word that a message has left proves less: some say it before
//!    the message has arrived.
//! 3. A node is done with a peer when it has heard the peer's goodbye and the peer has heard its own; or when the peer is lost. A
//!    peer that ends after its own goodbye has nobody left to hear ours.

use crate::peer_state::PeerState;
use crate::tcp::keepalive::Sign;

/// How far our goodbye is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OurGoodbye {
    Unsaid,
    Said,
    /// Or there is nobody to hear it.
    Heard,
}

/// Meaning of a sign on a peer's keepalive connection.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// Nothing that it must act on.
    Known,
    /// The peer says goodbye.
    Goodbye,
    /// No correct peer does that, in words.
    Breach(&'static str),
    /// The peer is lost, for this reason.
    Lost(String),
}

/// Both goodbyes, of one peer.
#[derive(Debug)]
pub(crate) struct Goodbyes {
    state: PeerState,
    ours: OurGoodbye,
}

impl Goodbyes {
    /// With a peer that was just met.
    pub(crate) fn new() -> Self {
        Self { state: PeerState::Open, ours: OurGoodbye::Unsaid }
    }

    /// Whether the peer has neither said goodbye nor been lost.
    pub(crate) fn is_open(&self) -> bool {
        self.state == PeerState::Open
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.state == PeerState::Lost
    }

    /// Whether our goodbye is still to be said: before it, anything may be.
    pub(crate) fn may_say(&self) -> bool {
        self.ours == OurGoodbye::Unsaid
    }

    /// Our goodbye is on its way.
    pub(crate) fn say_goodbye(&mut self) {
        self.ours = OurGoodbye::Said;
    }

    /// The peer's goodbye is here.
    pub(crate) fn hear_goodbye(&mut self) {
        self.state = PeerState::Closed;
    }

    /// Judges a sign on the peer's keepalive connection. A peer that never said anything may say goodbye there.
    pub(crate) fn judge(&mut self, sign: Sign, has_said_nothing: bool) -> Meaning {
        let end = match sign {
            Sign::Heard if self.be_heard() => return Meaning::Known,
            Sign::Heard => return Meaning::Breach("it heard a goodbye that was not said"),
            Sign::Goodbye if self.is_open() && has_said_nothing => return Meaning::Goodbye,
            Sign::Goodbye => return Meaning::Breach("a goodbye beside its messages"),
            Sign::Ended => "its process ended without a goodbye".to_owned(),
            Sign::Broken(cause) => cause,
        };
        if self.be_left() { Meaning::Lost(end) } else { Meaning::Known }
    }

    /// The peer has heard our goodbye. Whether there was one to hear.
    fn be_heard(&mut self) -> bool {
        let was_said = self.ours == OurGoodbye::Said;
        if was_said {
            self.ours = OurGoodbye::Heard;
        }
        was_said
    }

    /// The peer's keepalive connection has ended. Whether something ends with it: what was still to come from it, or to be said to it.
    fn be_left(&self) -> bool {
        match self.state {
            PeerState::Open => true,
            PeerState::Closed => self.ours != OurGoodbye::Heard,
            PeerState::Lost => false,
        }
    }

    /// The peer is lost. Returns whether anybody must be told: after its goodbye it may go as it likes.
    pub(crate) fn lose(&mut self) -> bool {
        self.ours = OurGoodbye::Heard;
        std::mem::replace(&mut self.state, PeerState::Lost) == PeerState::Open
    }

    /// Whether nothing more is to be said or heard.
    pub(crate) fn is_over(&self) -> bool {
        match self.state {
            PeerState::Lost => true,
            PeerState::Closed => self.ours == OurGoodbye::Heard,
            PeerState::Open => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_both_goodbyes_and_the_word_that_ours_was_heard() {
        let mut goodbyes = Goodbyes::new();
        assert!(!goodbyes.be_heard(), "none was said");
        goodbyes.say_goodbye();
        assert!(!goodbyes.may_say());
        goodbyes.hear_goodbye();
        assert!(!goodbyes.is_over() && !goodbyes.is_open());
        assert!(goodbyes.be_heard() && !goodbyes.be_heard(), "once");
        assert!(!goodbyes.be_left());
        assert!(goodbyes.is_over() && !goodbyes.is_lost());
    }

    #[test]
    fn an_end_after_the_goodbye_is_no_loss() {
        let mut goodbyes = Goodbyes::new();
        goodbyes.hear_goodbye();
        assert!(goodbyes.be_left(), "nobody is left to hear ours");
        assert!(!goodbyes.lose(), "it may go as it likes");
        assert!(goodbyes.is_over() && goodbyes.is_lost() && !goodbyes.be_left());
    }

    #[test]
    fn an_end_before_it_is_a_loss_and_news_once() {
        let mut goodbyes = Goodbyes::new();
        assert!(goodbyes.be_left() && goodbyes.lose());
        assert!(goodbyes.is_over() && goodbyes.is_lost() && !goodbyes.lose());
    }
}
