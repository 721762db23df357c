//! Exchange: all that one node has with its peers over a network of messages; the rules that hold whatever the network.
//!
//! It lives behind one lock and never calls the runtime: what concerns that is left as a [`Notification`].
//!
//! 1. Own messages wait in a queue per peer for room and go before the frames that were sent after them.
//! 2. Nodes part as [`Goodbyes`](super::goodbye::Goodbyes) says. What a peer asks for that will hear our goodbye before any answer is not
//!    answered.
//! 3. Whatever fails on the way to a peer, and whatever no correct peer sends, makes it lost, once. The cause is told before the
//!    operations that fail with it; those that are posted meanwhile wait for that.
//!
//! How bytes reach a peer, and how operations move memory, is the network's part: leases of one-sided access, or matched messages.

use super::goodbye::Meaning;
use super::peers::{Peers, Serve};
use crate::emulated::wire::OPERATIONS_MAX;
use crate::error::LrtsError;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Completion, NoRoom, PathUse};
use crate::notification::Notification;
use crate::operation::Operation;
use crate::tcp::keepalive::standalone::Signs;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why something was not posted.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// No room now.
    Full,
    /// Never, for this reason.
    #[cfg_attr(
        not(any(feature = "ofi", feature = "verbs", feature = "sim")),
        expect(dead_code, reason = "MPI says later what it could not send")
    )]
    Broken(String),
}

/// Content of a message to a peer.
pub(crate) enum Content<'a, Control> {
    Frame(Frame<'a>),
    Control(Control),
}

/// Why an operation was not opened.
pub(crate) enum Unopened {
    /// There is no room for it now.
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "only matched messages run out of tags"))]
    Refused(Operation),
    /// It can never begin.
    #[cfg_attr(
        not(any(feature = "ofi", feature = "verbs", feature = "sim")),
        expect(dead_code, reason = "only leases register local memory")
    )]
    Failed(Completion),
}

/// A message of a backend's own.
pub(crate) trait Own: Copy + Serialize + DeserializeOwned {
    /// The last message in each direction.
    const GOODBYE: Self;
}

/// Knowledge of the way to a peer and from it. Where a network connects with the first message, neither may ever have said one.
pub(crate) trait Way {
    /// Whether nothing was said to the peer.
    fn said_nothing(&self) -> bool {
        false
    }

    /// Whether nothing was heard from it.
    fn heard_nothing(&self) -> bool {
        false
    }
}

/// What an exchange keeps whatever the network.
pub(crate) struct Peering<Control, Server, Way, Message> {
    pub(crate) node: NodeId,
    pub(crate) backend: &'static str,
    pub(crate) signs: Box<dyn Signs>,
    pub(crate) peers: Peers<Control, Server, Way>,
    pub(crate) notifications: Vec<Notification<Message>>,
    /// Lost peers of which the runtime has not been told yet.
    pub(crate) untold: Vec<NodeId>,
}

impl<Control: Own, Server: Serve, W, Message> Peering<Control, Server, W, Message> {
    /// Frames that a peer was sent.
    pub(crate) fn sent(&self, peer: NodeId) -> PathUse {
        self.peers.get(peer).map(|peer| peer.sent).unwrap_or_default()
    }

    /// The runtime has been told of these losses.
    pub(crate) fn have_told(&mut self, losses: &[NodeId]) {
        self.untold.retain(|peer| !losses.contains(peer));
    }

    pub(crate) fn complete(&mut self, completions: impl IntoIterator<Item = Completion>) {
        self.notifications.extend(completions.into_iter().map(Notification::Completion));
    }
}

/// The common part of an [`Exchange`].
pub(crate) type PeeringOf<E> = Peering<
    <E as Exchange>::Control,
    <E as Exchange>::Server,
    <E as Exchange>::Way,
    <E as Exchange>::Message,
>;

/// An exchange: the first half is the network's, the second the same for all.
pub(crate) trait Exchange: Sized {
    type Control: Own;
    type Server: Serve;
    type Way: Way;
    type Message;
    /// What a call of the network's library takes: the proof that this thread may make it, if any thread may not.
    type Caller: Copy;

    fn peering(&self) -> &PeeringOf<Self>;

    fn peering_mut(&mut self) -> &mut PeeringOf<Self>;

    /// How many operations of this node are open at another.
    fn count(&self, node: NodeId) -> usize;

    /// Sends a message to a peer.
    ///
    /// # Errors
    /// [`Refusal`].
    fn post(
        &mut self,
        target: NodeId,
        content: Content<'_, Self::Control>,
        caller: Self::Caller,
    ) -> Result<(), Refusal>;

    /// Does what a peer says, other than goodbye.
    ///
    /// # Errors
    /// What no correct peer says, in words.
    fn obey(&mut self, source: NodeId, control: Self::Control) -> Result<(), String>;

    /// Tries once more what a peer waits for. Returns whether anything went on.
    fn retry(&mut self, node: NodeId, closing: bool) -> bool;

    /// Ends what is open with a peer that has said goodbye.
    fn conclude(&mut self, node: NodeId);

    /// Ends what is open with a peer that is lost; `is_news` if it had not said goodbye.
    fn abandon(&mut self, node: NodeId, is_news: bool, caller: Self::Caller);

    /// Sends a frame; lost peers swallow any number.
    ///
    /// # Errors
    /// [`NoRoom`], until some progress did something.
    ///
    /// # Panics
    /// If there is no such peer.
    fn send(&mut self, target: NodeId, frame: Frame<'_>, caller: Self::Caller) -> Result<(), NoRoom> {
        let peer = self.peering().peers.get(target).unwrap_or_else(|| panic!("{target} is no peer"));
        if peer.goodbyes.is_lost() {
            return Ok(());
        }
        if !peer.goodbyes.may_say() {
            return Err(NoRoom);
        }
        if !peer.waiting.is_empty() {
            self.flush(target, caller);
            if self.peering().peers.next(target).is_some() {
                return Err(NoRoom);
            }
        }
        let len = frame.len();
        match self.post(target, Content::Frame(frame), caller) {
            Ok(()) => {
                if let Some(peer) = self.peering_mut().peers.get_mut(target) {
                    peer.sent.add(len);
                }
                Ok(())
            }
            Err(Refusal::Full) => Err(NoRoom),
            Err(Refusal::Broken(cause)) => {
                self.lose(target, cause, caller);
                Ok(())
            }
        }
    }

    /// Posts a get or put: `open` returns what the peer must be told.
    ///
    /// # Errors
    /// The operation when too many are open at that peer, or `open` refuses it.
    fn post_operation(
        &mut self,
        operation: Operation,
        caller: Self::Caller,
        open: impl FnOnce(&mut Self, Operation) -> Result<Self::Control, Unopened>,
    ) -> Result<Option<Completion>, Operation> {
        let node = operation.key.node;
        match self.peering().peers.may_post(node) {
            Ok(true) if self.count(node) < OPERATIONS_MAX => {}
            Ok(_) => return Err(operation),
            Err(_) if self.peering().untold.contains(&node) => return Err(operation),
            Err(cause) => return Ok(Some(operation.end(Err(cause)))),
        }
        match open(self, operation) {
            Ok(control) => {
                self.peering_mut().peers.tell(node, control);
                self.flush(node, caller);
                Ok(None)
            }
            Err(Unopened::Refused(operation)) => Err(operation),
            Err(Unopened::Failed(failed)) => Ok(Some(failed)),
        }
    }

    /// Sends what waits for a peer. Returns whether anything left.
    fn flush(&mut self, node: NodeId, caller: Self::Caller) -> bool {
        let mut left = false;
        while let Some(control) = self.peering().peers.next(node) {
            match self.post(node, Content::Control(control), caller) {
                Ok(()) => {
                    left = true;
                    self.peering_mut().peers.told(node);
                }
                Err(Refusal::Full) => break,
                Err(Refusal::Broken(cause)) => {
                    self.lose(node, cause, caller);
                    break;
                }
            }
        }
        self.peering_mut().peers.note(node);
        left
    }

    /// Lets peers go on that wait for something. Returns whether any did.
    fn push_out_to_peers(&mut self, closing: bool, caller: Self::Caller) -> bool {
        let mut happened = false;
        for node in self.peering_mut().peers.take_needing_progress() {
            happened |= self.retry(node, closing);
            happened |= self.flush(node, caller);
        }
        happened
    }

    /// A peer's own message is here.
    fn hear_control(&mut self, source: NodeId, control: Result<Self::Control, String>, caller: Self::Caller) {
        if let Err(cause) = control.and_then(|control| self.obey(source, control)) {
            self.breach(source, cause, caller);
        }
        self.peering_mut().peers.note(source);
    }

    fn say_goodbyes(&mut self) {
        for node in self.peering().peers.nodes() {
            let operations = self.count(node);
            let Peering { peers, signs, .. } = self.peering_mut();
            if peers.say_goodbye(node, operations) {
                match peers.get(node) {
                    Some(peer) if peer.way.said_nothing() => signs.write_goodbye(node),
                    _ => peers.tell(node, Self::Control::GOODBYE),
                }
            }
        }
    }

    /// A peer sends nothing more.
    fn hear_goodbye(&mut self, source: NodeId) {
        if let Some(peer) = self.peering_mut().peers.get_mut(source) {
            peer.goodbyes.hear_goodbye();
        }
        self.conclude(source);
        let Peering { signs, notifications, .. } = self.peering_mut();
        notifications.push(Notification::Closed(source));
        signs.write_heard(source);
    }

    /// Looks who lives. Returns whether anything was heard.
    fn check_signs(&mut self, caller: Self::Caller) -> bool {
        let heard = self.peering_mut().signs.check();
        let happened = !heard.is_empty();
        for (node, sign) in heard {
            let Some(peer) = self.peering_mut().peers.get_mut(node) else { continue };
            match peer.goodbyes.judge(sign, peer.way.heard_nothing()) {
                Meaning::Known => {}
                Meaning::Goodbye => self.hear_goodbye(node),
                Meaning::Breach(cause) => self.breach(node, cause.to_owned(), caller),
                Meaning::Lost(cause) => self.lose(node, cause, caller),
            }
        }
        happened
    }

    fn breach(&mut self, node: NodeId, cause: String, caller: Self::Caller) {
        let backend = self.peering().backend;
        self.end(node, LrtsError::Protocol { peer: node, backend, what: "message", cause }, caller);
    }

    fn lose(&mut self, node: NodeId, cause: String, caller: Self::Caller) {
        let backend = self.peering().backend;
        self.end(node, LrtsError::PeerLost { peer: node, backend, cause }, caller);
    }

    /// Loses all peers, for one reason.
    fn lose_all(&mut self, cause: &str, caller: Self::Caller) {
        for node in self.peering().peers.nodes() {
            self.lose(node, cause.to_owned(), caller);
        }
    }

    /// Ends all that there is with a peer, once.
    fn end(&mut self, node: NodeId, error: LrtsError, caller: Self::Caller) {
        let Peering { peers, notifications, untold, .. } = self.peering_mut();
        let Some(peer) = peers.get_mut(node).filter(|peer| !peer.goodbyes.is_lost()) else { return };
        let is_news = peer.goodbyes.lose();
        peer.waiting.clear();
        if is_news {
            notifications.push(Notification::Lost(error));
            untold.push(node);
        }
        self.abandon(node, is_news, caller);
    }
}
