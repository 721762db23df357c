//! Endpoint of the simulated network: one that `leased` drives as it does those of real libraries.
//! `leased -> **simulated/endpoint** -> simulated/wires`
//!
//! It uses what an [`Endpoint`](crate::leased::endpoint::Endpoint) may do to its user, each part in some jobs: messages overtake each other,
//! short ones are copied out at once or not, few buffers receive, long accesses go in pieces, memory at this end has to be registered, few
//! regions may be, and a registration is refused although there is room.

#![expect(unsafe_code, reason = "implements an endpoint, and fills buffers as a network does")]

use super::one_sided::{Interface, Posting};
use super::wires::{Load, Wires};
use crate::ambient::dice;
use crate::error::LrtsError;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::leased::Leased;
use crate::leased::endpoint::{self, Access, Event, Refusal, Registration, SENDS, Transfer};
use crate::leased::wire::BUFFER_BYTES;
use crate::memory::Place;
use crate::region::Regions;
use crate::tcp::keepalive::Sign;
use crate::tcp::keepalive::standalone::Signs;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustix::fd::BorrowedFd;
use std::collections::BTreeSet;
use std::ptr::null_mut;
use std::sync::Arc;

/// The stream of the seed's dice that the habits of endpoints are drawn from.
const STREAM: u64 = u64::MAX - 7;

/// One registration in so many is refused, where some are.
const REFUSED_ONE_IN: u64 = 8;

/// What an endpoint does of all that it may; the same for all nodes of a job.
#[derive(Clone, Copy)]
struct Habits {
    /// Buffers that receive.
    receives: usize,
    /// Messages of so many bytes are copied out at once.
    copied_bytes_max: usize,
    transfer_bytes_max: usize,
    registers_local: bool,
    registrations_max: usize,
    /// Whether a write can prove that it has arrived.
    delivers: bool,
}

impl Habits {
    /// Where a model describes the network: those of libraries as they are met.
    const USUAL: Self = Self {
        receives: 64,
        copied_bytes_max: 64,
        transfer_bytes_max: 1 << 30,
        registers_local: true,
        registrations_max: usize::MAX,
        delivers: true,
    };

    fn draw(seed: u64) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(STREAM);
        let mut one_of = |among: &[usize]| among[dice.random_range(0..among.len())];
        Self {
            receives: one_of(&[2, 8, 64]),
            copied_bytes_max: one_of(&[0, 64, 4_096]),
            transfer_bytes_max: one_of(&[512, 64 << 10, 1 << 30]),
            registers_local: one_of(&[0, 1]) == 1,
            registrations_max: one_of(&[1, 4, 1_000_000]),
            delivers: one_of(&[0, 1, 1, 1]) == 1,
        }
    }
}

/// A node's endpoint; see the file's head.
pub struct Endpoint {
    node: NodeId,
    wires: Arc<Wires>,
    habits: Habits,
    incoming: Arc<Pool>,
    outgoing_free: Vec<usize>,
    incoming_free: Vec<usize>,
    /// Peers for which there was no room.
    refused: BTreeSet<NodeId>,
    is_shut: bool,
}

impl Endpoint {
    /// A node of a job whose nodes reach each other's memory one-sidedly.
    pub fn open(regions: &Arc<Regions>, nodes: u32, wires: &Arc<Wires>) -> Leased {
        let node = regions.node();
        let habits = if wires.are_modelled() { Habits::USUAL } else { Habits::draw(wires.seed()) };
        wires.open_interface(node);
        let endpoint = Self {
            node,
            wires: Arc::clone(wires),
            habits,
            incoming: Arc::new(Pool::new(habits.receives, BUFFER_BYTES)),
            outgoing_free: (0..SENDS).collect(),
            incoming_free: (0..habits.receives).collect(),
            refused: BTreeSet::new(),
            is_shut: false,
        };
        let signs = LifeSigns { node, wires: Arc::clone(wires) };
        Leased::driven("sim", Arc::clone(regions), Box::new(endpoint), Box::new(signs), nodes)
    }

    /// Whether nobody may use it any more.
    fn check_open(&self) -> Result<(), Refusal> {
        if self.is_shut { Err(Refusal::Broken("the endpoint is closed".to_owned())) } else { Ok(()) }
    }

    /// The next event, if there is one and room for it.
    fn next_event(&mut self) -> Option<Event> {
        if self.incoming_free.is_empty() {
            return None;
        }
        Some(match self.wires.take(self.node)?.1 {
            Load::Message(bytes) => {
                let slot = self.incoming_free.pop().expect("just looked at");
                // SAFETY: a free buffer is not posted, and no arrival names it.
                Event::Received(unsafe { Arrival::new(slot, self.incoming.write(slot, &[&bytes])) })
            }
            Load::Sent(slot) => {
                self.outgoing_free.push(slot);
                Event::Sent(slot)
            }
            Load::Moved(slot, Ok(())) => Event::Moved(slot),
            Load::Moved(slot, Err(cause)) => Event::MoveFailed(slot, cause),
            _ => unreachable!("nobody sends it to an endpoint, or it is not left here"),
        })
    }
}

impl endpoint::Endpoint for Endpoint {
    fn kind(&self) -> String {
        "sim".to_owned()
    }

    fn label(&self) -> String {
        "one-sided".to_owned()
    }

    /// Nothing: the wires know nodes by their numbers.
    fn address(&self) -> Result<Vec<u8>, LrtsError> {
        Ok(Vec::new())
    }

    fn introduce(&mut self, _: NodeId, _: &[u8], _: u64) -> Result<(), LrtsError> {
        Ok(())
    }

    fn connects_on_demand(&self) -> bool {
        true
    }

    fn delivers(&self) -> bool {
        self.habits.delivers
    }

    fn reaches_devices(&self) -> bool {
        false
    }

    fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    fn post_receive(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        self.incoming_free.push(arrival.slot());
        Ok(())
    }

    fn send(&mut self, target: NodeId, parts: &[&[u8]], announced: bool) -> Result<Option<usize>, Refusal> {
        self.check_open()?;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let is_copied = !announced && len <= self.habits.copied_bytes_max;
        let slot = if is_copied { None } else { Some(*self.outgoing_free.last().ok_or(Refusal::Full)?) };
        if self.wires.send_message((self.node, target), parts, slot).is_err() {
            self.refused.insert(target);
            return Err(Refusal::Full);
        }
        if slot.is_some() {
            self.outgoing_free.pop();
        }
        Ok(slot)
    }

    unsafe fn transfer(
        &mut self,
        transfer: &Transfer,
        registration: Option<&Registration>,
        slot: usize,
    ) -> Result<(), Refusal> {
        self.check_open()?;
        assert!(transfer.len <= self.habits.transfer_bytes_max, "{} bytes at a time", transfer.len);
        let needs_none = !self.habits.registers_local || transfer.len == 0;
        assert!(needs_none || registration.is_some(), "memory at this end has to be registered");
        let posting = Posting { poster: self.node, slot, transfer: *transfer };
        self.wires.post(posting).map_err(|_| {
            self.refused.insert(transfer.peer);
            Refusal::Full
        })
    }

    fn transfer_bytes_max(&self) -> usize {
        self.habits.transfer_bytes_max
    }

    fn registers_local(&self) -> bool {
        self.habits.registers_local
    }

    fn registrations_max(&self) -> usize {
        self.habits.registrations_max
    }

    fn register(&mut self, place: &Place, access: Access) -> Result<Registration, String> {
        if place.device.is_some() {
            return Err("it takes no memory of devices".to_owned());
        }
        if dice::below(REFUSED_ONE_IN) == 0 && dice::refuses() {
            return Err("it has no room for this one".to_owned());
        }
        let (address, len) = (place.address.cast_mut(), place.len);
        let window =
            self.wires.with_interface(self.node, |interface| interface.register(address, len, access));
        Ok(Registration { object: null_mut(), window })
    }

    fn deregister(&mut self, registration: &Registration) {
        self.wires.with_interface(self.node, |interface| interface.deregister(registration.window.key));
    }

    fn poll(&mut self, events: &mut Vec<Event>, _: bool) {
        if self.is_shut {
            return;
        }
        let (node, wires) = (self.node, Arc::clone(&self.wires));
        let before = self.refused.len();
        self.refused.retain(|peer| !wires.has_room(node, *peer));
        events.extend((self.refused.len() < before).then_some(Event::Room));
        // What arrives meanwhile is another poll's.
        let waiting = self.wires.waiting(self.node);
        events.extend(std::iter::from_fn(|| self.next_event()).take(waiting));
    }

    /// None: whoever drives the node is told of all by the [`Wires`].
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn may_sleep(&mut self) -> bool {
        let (node, wires) = (self.node, &self.wires);
        wires.is_quiet_at(node) && !self.refused.iter().any(|peer| wires.has_room(node, *peer))
    }

    fn shut(&mut self) {
        self.is_shut = true;
        self.wires.with_interface(self.node, Interface::shut);
    }

    fn is_shut(&self) -> bool {
        self.is_shut
    }
}

/// Signs of peers' lives over the wires.
struct LifeSigns {
    node: NodeId,
    wires: Arc<Wires>,
}

impl Signs for LifeSigns {
    fn check(&mut self) -> Vec<(NodeId, Sign)> {
        self.wires.take_signs(self.node)
    }

    fn write_heard(&self, peer: NodeId) {
        self.wires.sign(self.wires.now(self.node), (self.node, peer), Sign::Heard);
    }

    fn write_goodbye(&self, peer: NodeId) {
        self.wires.sign(self.wires.now(self.node), (self.node, peer), Sign::Goodbye);
    }
}
