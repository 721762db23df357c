//! Endpoint: messages of one node, received from any sender and sent out of a pool.
//!
//! 1. Receives are posted one after another and looked at in that order: MPI matches messages of one sender in the order in
//!    which they were sent, so they come out in it.
//! 2. A buffer of the receiving pool is posted, or an [`Arrival`] names it; one of the sending pool is free, written into
//!    ([`Letter`]), or under way.
//! 3. Only a [`Ticket`] calls MPI.

#![expect(unsafe_code, reason = "hands MPI addresses of its buffers")]

use super::callers::{Callers, Ticket};
use super::flow::Process;
use super::wire::MESSAGE_TAG;
use crate::fabric::pool::{Arrival, Pool};
use crate::fabric::wire::BUFFER_BYTES;
use chare_mpi_sys::{MpiError, Request};
use std::collections::VecDeque;
use std::sync::Arc;

/// From one buffer to the next: a cache line more than their length, since beginnings at multiples of a large power of two would
/// drive each other out of the caches.
const STRIDE_BYTES: usize = BUFFER_BYTES + 64;
/// Messages that may have arrived before anybody looked: 4 MiB of buffers.
const RECEIVES: usize = 64;
/// Messages on their way out: 4 MiB of buffers.
pub(super) const SENDS: usize = 64;
/// Sends looked at by one look: enough to keep up with those who send, few enough that a peer which does not receive costs
/// little.
const LOOKS_MAX: usize = 4;

/// A written buffer that has not left.
pub(super) struct Letter {
    pub(super) slot: usize,
    len: usize,
}

/// Event of the endpoint.
pub(super) enum Event {
    /// A message, and the rank of its sender.
    Received(Arrival, u32),
    /// Buffers of the sending pool are free again.
    Sent,
    /// The same, but the message of this one may not have arrived.
    SendFailed(usize, String),
}

/// Receives and sends of one node.
pub(super) struct Endpoint {
    own: Process,
    callers: Callers,
    incoming: Arc<Pool>,
    receives: VecDeque<(usize, Request)>,
    outgoing: Pool,
    free: Vec<usize>,
    sends: VecDeque<(usize, Request)>,
}

impl Endpoint {
    /// Posts all receives.
    ///
    /// # Errors
    /// MPI's.
    pub(super) fn open(own: Process, callers: Callers, ticket: Ticket) -> Result<Self, MpiError> {
        let mut endpoint = Self {
            own,
            callers,
            incoming: Arc::new(Pool::new(RECEIVES, STRIDE_BYTES)),
            receives: VecDeque::with_capacity(RECEIVES),
            outgoing: Pool::new(SENDS, STRIDE_BYTES),
            free: (0..SENDS).rev().collect(),
            sends: VecDeque::with_capacity(SENDS),
        };
        (0..RECEIVES).try_for_each(|slot| endpoint.post_slot(slot, ticket))?;
        Ok(endpoint)
    }

    pub(super) fn own(&self) -> &Process {
        &self.own
    }

    pub(super) fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    fn post_slot(&mut self, slot: usize, _: Ticket) -> Result<(), MpiError> {
        let address = self.incoming.buffer(slot);
        // SAFETY: the ticket; the buffer is not posted and nobody else touches it until it has arrived (rule 2), and stays as long
        // as this endpoint, which takes its receives back before it goes.
        let request = unsafe { self.own.communicator.irecv(address, BUFFER_BYTES, None, MESSAGE_TAG) }?;
        self.receives.push_back((slot, request));
        Ok(())
    }

    /// Posts a buffer again that was read.
    ///
    /// # Errors
    /// MPI's; the buffer is lost then.
    pub(super) fn post(&mut self, read: &Arrival, ticket: Ticket) -> Result<(), MpiError> {
        self.post_slot(read.slot(), ticket)
    }

    /// Looks what has happened.
    ///
    /// # Errors
    /// MPI's, on receiving: nobody can say whose message failed.
    pub(super) fn poll(&mut self, events: &mut Vec<Event>, ticket: Ticket) -> Result<(), MpiError> {
        let received = self.receive(ticket)?;
        let is_quiet = received.is_none();
        events.extend(received);
        // A message that has come is worth more than a look at those that leave.
        if is_quiet || self.free.is_empty() {
            self.collect(events, ticket);
        }
        Ok(())
    }

    /// The next message, if it is here. One at a time: looking for what is not there takes MPI several times as long as finding
    /// what is, and the receiver of this one would wait for that.
    fn receive(&mut self, _: Ticket) -> Result<Option<Event>, MpiError> {
        let Some((slot, request)) = self.receives.front_mut() else { return Ok(None) };
        // SAFETY: the ticket; a request leaves the queue when it has ended.
        let ended = unsafe { self.own.communicator.test(request) };
        if matches!(ended, Ok(None)) {
            return Ok(None);
        }
        let slot = *slot;
        self.receives.pop_front();
        let Some(ended) = ended? else { return Ok(None) };
        // SAFETY: it has ended, so that it is not posted; the arrival is made once.
        let arrival = unsafe { Arrival::new(slot, ended.len()) };
        Ok(Some(Event::Received(arrival, ended.source())))
    }

    /// Looks which sends have ended, beginning with the one that was not looked at for longest.
    fn collect(&mut self, events: &mut Vec<Event>, _: Ticket) {
        for _ in 0..LOOKS_MAX.min(self.sends.len()) {
            let Some((slot, mut request)) = self.sends.pop_front() else { break };
            // SAFETY: the ticket; a request that has ended is not put back.
            match unsafe { self.own.communicator.test(&mut request) } {
                Ok(None) => self.sends.push_back((slot, request)),
                Ok(Some(_)) => {
                    self.free.push(slot);
                    events.push(Event::Sent);
                }
                Err(error) => {
                    self.free.push(slot);
                    events.push(Event::SendFailed(slot, error.to_string()));
                }
            }
        }
    }

    /// Whether MPI has messages that have not left.
    pub(super) fn is_sending(&self) -> bool {
        !self.sends.is_empty()
    }

    /// The buffers of messages that have not left.
    pub(super) fn under_way(&self) -> impl Iterator<Item = usize> {
        self.sends.iter().map(|(slot, _)| *slot)
    }

    /// Writes a message into a free buffer; `None` when there is none.
    pub(super) fn write(&mut self, parts: &[&[u8]]) -> Option<Letter> {
        let slot = self.free.pop()?;
        // SAFETY: it was free, so that it is not under way.
        let len = unsafe { self.outgoing.write(slot, parts) };
        Some(Letter { slot, len })
    }

    /// Sends a written message.
    ///
    /// # Errors
    /// MPI's; the buffer is free again.
    pub(super) fn send(&mut self, letter: Letter, to: &Process, _: Ticket) -> Result<(), MpiError> {
        let Letter { slot, len } = letter;
        let address = self.outgoing.buffer(slot);
        // SAFETY: the ticket; the letter says that the buffer is written and not under way, and nobody touches it before the request
        // has ended. It stays as long as this endpoint, which waits for its sends before it goes, or leaks it.
        match unsafe { to.communicator.isend(address, len, to.rank, MESSAGE_TAG) } {
            Ok(request) => {
                self.sends.push_back((slot, request));
                Ok(())
            }
            Err(error) => {
                self.free.push(slot);
                Err(error)
            }
        }
    }

    /// Forgets a written message.
    pub(super) fn discard(&mut self, letter: Letter) {
        self.free.push(letter.slot);
    }

    /// Cancels all requests, and forgets those that MPI gives back.
    fn cancel(&mut self, _: Ticket) {
        let Self { own, receives, sends, .. } = self;
        for requests in [receives, sends] {
            requests.retain_mut(|(_, request)| {
                // SAFETY: the ticket; requests in the queues have not ended.
                let ended = unsafe {
                    // What cannot be cancelled shows by not ending.
                    let _ = own.communicator.cancel(request);
                    own.communicator.test(request)
                };
                matches!(ended, Ok(None))
            });
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if !self.own.communicator.library().is_finalized()
            && let Some(ticket) = self.callers.ticket()
        {
            self.cancel(ticket);
        }
        if !self.receives.is_empty() {
            // MPI may still write them.
            std::mem::forget(Arc::clone(&self.incoming));
        }
        if !self.sends.is_empty() {
            std::mem::forget(std::mem::replace(&mut self.outgoing, Pool::new(0, STRIDE_BYTES)));
        }
    }
}
