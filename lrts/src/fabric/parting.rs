//! How a node and one of its peers part.
//!
//! 1. A node says goodbye in its last message to a peer, when neither has an operation open at the other.
//! 2. Whoever hears a goodbye says so on the lifeline. A network's word that a message has left proves less: some say it before
//!    the message has arrived.
//! 3. A node is done with a peer when it has heard the peer's goodbye and the peer has heard its own; or when the peer is lost. A
//!    peer that ends after its own goodbye has nobody left to hear ours.

use crate::tcp::lifelines::Sign;

/// Whether something may still come from the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    Open,
    /// It said goodbye.
    Closed,
    Lost,
}

/// How far our goodbye is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Farewell {
    Unsaid,
    Said,
    /// Or there is nobody to hear it.
    Heard,
}

/// What a sign on a peer's lifeline means for the node.
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

/// See the module.
#[derive(Debug)]
pub(crate) struct Parting {
    presence: Presence,
    farewell: Farewell,
}

impl Parting {
    /// With a peer that was just met.
    pub(crate) fn new() -> Self {
        Self { presence: Presence::Open, farewell: Farewell::Unsaid }
    }

    /// Whether the peer has neither said goodbye nor been lost.
    pub(crate) fn is_open(&self) -> bool {
        self.presence == Presence::Open
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.presence == Presence::Lost
    }

    /// Whether our goodbye is still to be said: before it, anything may be.
    pub(crate) fn may_say(&self) -> bool {
        self.farewell == Farewell::Unsaid
    }

    /// Our goodbye is on its way.
    pub(crate) fn say_goodbye(&mut self) {
        self.farewell = Farewell::Said;
    }

    /// The peer's goodbye is here.
    pub(crate) fn hear_goodbye(&mut self) {
        self.presence = Presence::Closed;
    }

    /// What a sign on the peer's lifeline means. One that never said anything may say goodbye there.
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
        let was_said = self.farewell == Farewell::Said;
        if was_said {
            self.farewell = Farewell::Heard;
        }
        was_said
    }

    /// The peer's lifeline has ended. Whether something ends with it: what was still to come from it, or to be said to it.
    fn be_left(&self) -> bool {
        match self.presence {
            Presence::Open => true,
            Presence::Closed => self.farewell != Farewell::Heard,
            Presence::Lost => false,
        }
    }

    /// The peer is lost. Whether that is news: it may go as it likes after its goodbye.
    pub(crate) fn lose(&mut self) -> bool {
        self.farewell = Farewell::Heard;
        std::mem::replace(&mut self.presence, Presence::Lost) == Presence::Open
    }

    /// Whether nothing more is to be said or heard.
    pub(crate) fn is_over(&self) -> bool {
        match self.presence {
            Presence::Lost => true,
            Presence::Closed => self.farewell == Farewell::Heard,
            Presence::Open => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_both_goodbyes_and_the_word_that_ours_was_heard() {
        let mut parting = Parting::new();
        assert!(!parting.be_heard(), "none was said");
        parting.say_goodbye();
        assert!(!parting.may_say());
        parting.hear_goodbye();
        assert!(!parting.is_over() && !parting.is_open());
        assert!(parting.be_heard() && !parting.be_heard(), "once");
        assert!(!parting.be_left());
        assert!(parting.is_over() && !parting.is_lost());
    }

    #[test]
    fn an_end_after_the_goodbye_is_no_loss() {
        let mut parting = Parting::new();
        parting.hear_goodbye();
        assert!(parting.be_left(), "nobody is left to hear ours");
        assert!(!parting.lose(), "it may go as it likes");
        assert!(parting.is_over() && parting.is_lost() && !parting.be_left());
    }

    #[test]
    fn an_end_before_it_is_a_loss_and_news_once() {
        let mut parting = Parting::new();
        assert!(parting.be_left() && parting.lose());
        assert!(parting.is_over() && parting.is_lost() && !parting.lose());
    }
}
