//! Connections: how queue pairs are made and ended.
//!
//! 1. The first message to a peer asks for the connection: address, route, request, grant. The peer proves by its private data
//!    that it belongs to the job: our door, which the bootstrap told, and its node.
//! 2. When both ask at once, the request of the lower node goes first: it refuses the other's with [`CROSSED`], and the higher
//!    node gives up its own, but keeps it until it is answered: iWARP's manager ends no request before that.
//! 3. The asker says a word as soon as it is granted; the granter sends nothing before it has heard that. With iWARP a grant
//!    proves nothing to the granter: the asker may have given up waiting.
//! 4. A request or grant that fails is made again, a few times. Whether the peer lives, its keepalive connection tells, not the request.
//! 5. The end of a connection that nobody ended in order is the end of the peer.

#![expect(unsafe_code, reason = "makes queue pairs on the endpoint's queues")]

use super::super::link::{ConnectionState, Link};
use super::super::manager::{ConnectionEvent, Identifier, PRIVATE_BYTES};
use super::Endpoint;
use crate::fabric::pool::Arrival;
use crate::ids::NodeId;
use crate::leased::endpoint::{Access, Event, Refusal};
use rdma_sys::rdma_cm_event_type as told;
use std::io;
use std::net::SocketAddr;

/// The refusal of a request that met another.
const CROSSED: u8 = 1;

impl Endpoint {
    /// Makes sure of a connection.
    ///
    /// # Errors
    /// [`Refusal::Full`] while it is being made.
    pub(super) fn prepare(&mut self, node: NodeId) -> Result<(), Refusal> {
        let Some(link) = self.link(node) else { return Err(Refusal::Broken(format!("{node} is no peer"))) };
        match &link.state {
            ConnectionState::Open(_) => Ok(()),
            ConnectionState::Broken(cause) => Err(Refusal::Broken(cause.clone())),
            ConnectionState::Expected | ConnectionState::Asking(_) | ConnectionState::Granting(_) => {
                Err(Refusal::Full)
            }
            ConnectionState::Absent => {
                self.ask(node)
                    .map_err(|error| Refusal::Broken(format!("asking for a connection: {error}")))?;
                Err(Refusal::Full)
            }
        }
    }

    fn ask(&mut self, node: NodeId) -> io::Result<()> {
        let source = SocketAddr::new(self.device.address, 0);
        let identifier = self.manager.identifier(Some(node))?;
        if let Some(link) = self.link(node) {
            identifier.resolve_address(source, link.address)?;
            link.state = ConnectionState::Asking(identifier);
            self.is_connecting = true;
        }
        Ok(())
    }

    /// Does what the connection manager tells. `ended` gets connections that are no more.
    pub(super) fn hear_manager(&mut self, events: &mut Vec<Event>, ended: &mut Vec<(NodeId, String)>) {
        while let Some(told) = self.manager.next() {
            match told.event {
                told::RDMA_CM_EVENT_CONNECT_REQUEST => {
                    // SAFETY: this request's identifier is taken here only.
                    let identifier = unsafe { Identifier::of_request(&told) };
                    self.answer(identifier, &told.private);
                }
                told::RDMA_CM_EVENT_DEVICE_REMOVAL => {
                    events.push(Event::Failed(format!("the device {} was removed", self.device.name)));
                }
                _ => self.hear_of(&told, events, ended),
            }
        }
    }

    /// Handles an event of a connection that is here already.
    fn hear_of(
        &mut self,
        told: &ConnectionEvent,
        events: &mut Vec<Event>,
        ended: &mut Vec<(NodeId, String)>,
    ) {
        let own = self.node;
        let Some(node) = told.node else { return };
        let Some(link) = self.link(node) else { return };
        let Some(identifier) = link.identifier().filter(|identifier| identifier.is(told.about)) else {
            // It has been answered, whatever the event is.
            return self.given_up.retain(|identifier| !identifier.is(told.about));
        };
        let went_on = match told.event {
            told::RDMA_CM_EVENT_ADDR_RESOLVED => identifier.resolve_route(),
            told::RDMA_CM_EVENT_ROUTE_RESOLVED => self.request(node),
            told::RDMA_CM_EVENT_ESTABLISHED => {
                if matches!(link.state, ConnectionState::Asking(_)) {
                    self.open_link(node, events);
                    self.say_word(node);
                }
                Ok(())
            }
            told::RDMA_CM_EVENT_DISCONNECTED => {
                ended.push((node, format!("it closed the connection ({})", told.describe())));
                Ok(())
            }
            told::RDMA_CM_EVENT_REJECTED if told.private[0] == CROSSED && node < own => {
                self.forget_pair(node);
                if let Some(link) = self.link(node) {
                    link.state = ConnectionState::Expected;
                }
                Ok(())
            }
            told::RDMA_CM_EVENT_ADDR_ERROR
            | told::RDMA_CM_EVENT_ROUTE_ERROR
            | told::RDMA_CM_EVENT_CONNECT_ERROR
            | told::RDMA_CM_EVENT_UNREACHABLE
            | told::RDMA_CM_EVENT_REJECTED => Err(io::Error::other(told.describe())),
            // Nothing that changes anything: an address of this host, a number that may be used again.
            _ => Ok(()),
        };
        if let Err(error) = went_on {
            self.fail_attempt(node, &error.to_string(), events);
        }
    }

    /// Notes that a connection is made.
    pub(super) fn open_link(&mut self, node: NodeId, events: &mut Vec<Event>) {
        let credits = self.queues.limits().credits as u32;
        if let Some(link) = self.link(node) {
            link.open(credits);
            events.push(Event::Room);
        }
    }

    fn fail_attempt(&mut self, node: NodeId, cause: &str, events: &mut Vec<Event>) {
        self.forget_pair(node);
        match self.link(node).is_some_and(Link::retry) {
            true => events.push(Event::Room),
            false => self.break_link(node, format!("no connection can be made: {cause}"), events),
        }
    }

    /// Asks the peer for the connection, once the way to it is known.
    fn request(&mut self, node: NodeId) -> io::Result<()> {
        self.make_pair(node)?;
        let own = self.node.0;
        let Some((identifier, door)) = self.link(node).and_then(|link| Some((link.identifier()?, link.door)))
        else {
            return Ok(());
        };
        let mut private = [0; PRIVATE_BYTES];
        private[..8].copy_from_slice(&door.to_le_bytes());
        private[8..].copy_from_slice(&own.to_le_bytes());
        identifier.connect(&private)
    }

    /// Handles a request, of a peer or of a stranger.
    fn answer(&mut self, identifier: Identifier, private: &[u8; PRIVATE_BYTES]) {
        let (door, node) = private.split_at(8);
        let node = NodeId(u32::from_le_bytes(node.try_into().expect("four bytes are left")));
        let (own, is_known) = (self.node, door == self.door.to_le_bytes());
        let Some(link) = self.link(node).filter(|_| is_known) else { return identifier.reject(&[]) };
        match link.state {
            ConnectionState::Asking(_) if own < node => return identifier.reject(&[CROSSED]),
            // The peer asks again: its grant came too late.
            ConnectionState::Absent
            | ConnectionState::Expected
            | ConnectionState::Asking(_)
            | ConnectionState::Granting(_) => {}
            ConnectionState::Open(_) | ConnectionState::Broken(_) => return identifier.reject(&[]),
        }
        self.forget_pair(node);
        identifier.name(Some(node));
        if let Some(link) = self.link(node)
            && let ConnectionState::Asking(unanswered) =
                std::mem::replace(&mut link.state, ConnectionState::Granting(identifier))
        {
            self.given_up.push(unanswered);
        }
        let granted = self.make_pair(node).and_then(|()| {
            self.link(node).and_then(|link| link.identifier()).map_or(Ok(()), Identifier::accept)
        });
        if granted.is_err() {
            // The peer hears that its request came to nothing, and asks again.
            self.forget_pair(node);
            if let Some(link) = self.link(node) {
                link.state = ConnectionState::Absent;
            }
        }
    }

    /// Makes the queue pair of a link and posts those buffers for the peer's messages that are not posted yet.
    fn make_pair(&mut self, node: NodeId) -> io::Result<()> {
        self.post_slice(node)?;
        let mut attributes = self.queues.connection();
        let (domain, device) = (self.queues.domain, self.listener.device());
        let Some(identifier) = self.link(node).and_then(|link| link.identifier()) else { return Ok(()) };
        if identifier.device() != device {
            return Err(io::Error::other("the way to it begins at another device; name one with `+verbs`"));
        }
        // SAFETY: domain and queues are of this device, and outlive all links.
        unsafe { identifier.create_queue_pair(domain, &mut attributes)? };
        let number = identifier.number();
        self.pairs.extend(number.map(|number| (number, node)));
        Ok(())
    }

    fn post_slice(&mut self, node: NodeId) -> io::Result<()> {
        let first = node.index() * self.slice();
        if self.slices[node.index()].is_none() {
            let len = self.incoming.len() / self.slices.len();
            self.slices[node.index()] = Some(self.pin(self.incoming.buffer(first), len, Access::Filled)?);
        }
        while let Some(posted) =
            self.link(node).map(|link| link.posted).filter(|posted| *posted < self.slice())
        {
            // SAFETY: it is not posted yet, and gets one arrival.
            let arrival = unsafe { Arrival::new(first + posted, 0) };
            self.post_buffer(arrival).map_err(|_| io::Error::other("the receive queue is full"))?;
            self.link(node).expect("just looked at").posted += 1;
        }
        Ok(())
    }

    /// Forgets the queue pair of a link that ends.
    fn forget_pair(&mut self, node: NodeId) {
        let number = self.link(node).and_then(|link| link.identifier()).and_then(Identifier::number);
        number.map(|number| self.pairs.remove(&number));
    }

    /// Ends a connection, after all that it carried was heard.
    pub(super) fn end_link(&mut self, node: NodeId, cause: String, events: &mut Vec<Event>) {
        match self.link(node).map(|link| &link.state) {
            Some(ConnectionState::Granting(_)) => self.fail_attempt(node, &cause, events),
            _ => self.break_link(node, cause, events),
        }
    }

    /// Ends the link to a peer that nothing reaches any more, and all work that its connection had.
    fn break_link(&mut self, node: NodeId, cause: String, events: &mut Vec<Event>) {
        self.forget_pair(node);
        let Some(link) = self.link(node).filter(|link| !matches!(link.state, ConnectionState::Broken(_)))
        else {
            return;
        };
        let work = link.end(cause.clone());
        for one in work {
            events.extend(self.failed(one, &cause));
        }
        events.push(Event::Broken(node, cause));
    }
}
