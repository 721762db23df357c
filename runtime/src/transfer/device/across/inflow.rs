//! Inflows: chunks of one argument on their way into its room, in any order, several at a time.
//!
//! A chunk first gets memory: on the way to a device pinned memory, for which it may have to wait. When it has been filled it goes to the
//! room; with the last one the argument is there.

use super::pinned::{as_memory, into_pinned};
use super::room::Room;
use crate::model::nocopy::Arrived;
use crate::node::Node;
use crate::node::devices::lanes::Lane;
use crate::node::devices::staging::NoRoom;
use crate::pe::device_steps::When;
use crate::transfer::device::continuing::continue_later;
use crate::transfer::device::launching::launch_soon;
use crate::transfer::take::gathering::{Failure, Finish};
use chare_device::{Batch, Choice, Device, DeviceError, Done, Leg, Method, Pinned, Way};
use chare_lrts::MemoryMut;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An argument that comes in chunks.
pub(super) struct Inflow {
    /// The device of the room, if it is on one.
    device: Option<Device>,
    /// How chunks are unpacked there, and how long they should be.
    choice: Option<Choice>,
    /// Taken when all has come, or cannot come.
    state: Mutex<Option<InflowState>>,
    /// Written before the state is taken because what is missing cannot come.
    has_failed: AtomicBool,
}

struct InflowState {
    room: Room,
    /// Bytes that have not arrived.
    missing: usize,
    finish: Finish<Arrived>,
}

/// What takes memory for a chunk.
type Then = Box<dyn FnOnce(&Arc<Node>, MemoryMut) + Send>;

impl Inflow {
    /// Waits for chunks, which come through the `beside` legs; `finish` takes the argument, at once if it has no bytes.
    pub(super) fn begin(node: &Arc<Node>, room: Room, beside: &[Leg], finish: Finish<Arrived>) -> Arc<Self> {
        let (device, missing) = (room.device().cloned(), room.bytes());
        let choice = room.choose(node, beside);
        let state = Mutex::new(Some(InflowState { room, missing, finish }));
        let inflow = Arc::new(Self { device, choice, state, has_failed: AtomicBool::new(false) });
        if missing == 0 {
            inflow.advance(node, 0);
        }
        inflow
    }

    /// The device of the room, if it is on one.
    pub(super) fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// How long chunks should be: all of it where the room is not on a device.
    pub(super) fn chunk_bytes(&self) -> u64 {
        self.choice.map_or(u64::MAX, |choice| choice.chunk_bytes)
    }

    /// Gives `then` memory for a chunk of so many bytes, now or when there is some.
    pub(super) fn make_room(self: &Arc<Self>, node: &Arc<Node>, bytes: usize, then: Then) {
        let Some(device) = &self.device else {
            return then(node, node.network.allocate(bytes));
        };
        let held = node.devices.held(device).expect("rooms are on devices of the node");
        let staging = &held.staging;
        staging.enter(Way::In, bytes as u64, || unreachable!("who arrives is let in"));
        match device.pinned(bytes as u64) {
            Ok(pinned) => then(node, as_memory(pinned)),
            Err(cause @ DeviceError::NoRoom { .. }) => {
                // In a mutex, because it is kept only if somebody comes back.
                let then = Arc::new(Mutex::new(Some(then)));
                let again = || {
                    let (then, inflow) = (Arc::clone(&then), Arc::clone(self));
                    move |node: &Arc<Node>| {
                        let then = then.lock().take().expect("it is tried again once");
                        inflow.make_room(node, bytes, then);
                    }
                };
                match staging.found_no_room(Way::In, bytes as u64, || Box::new(again())) {
                    NoRoom::Waits => {}
                    NoRoom::TriedAgain => {
                        let (again, inflow) = (again(), Arc::clone(self));
                        continue_later(node, &held.streams.ends, move |node, passed| match passed {
                            Ok(()) => again(node),
                            Err(cause) => inflow.fail(node, cause.into()),
                        });
                    }
                    NoRoom::GivenUp => self.fail(node, cause.into()),
                }
            }
            Err(cause) => {
                staging.leave(node, Way::In, bytes as u64);
                self.fail(node, cause.into());
            }
        }
    }

    /// Takes a chunk, which stands at this place of the stream, in memory from [`make_room`](Self::make_room).
    pub(super) fn arrive(self: &Arc<Self>, node: &Arc<Node>, at: u64, chunk: MemoryMut) {
        let bytes = chunk.len();
        let Some(device) = &self.device else {
            let filled = self.state.lock().as_mut().map(|state| state.room.fill(at, chunk));
            match filled {
                Some(Err(cause)) => self.fail(node, Failure::Words(cause)),
                Some(Ok(())) | None => self.advance(node, bytes),
            }
            return;
        };
        let held = node.devices.held(device).expect("rooms are on devices of the node");
        let chunk = into_pinned(chunk);
        let method = self.choice.map_or(Method::OneShot, |choice| choice.method);
        held.ways.into.add(method, bytes as u64);
        if method == Method::OneShot && self.is_all(at, bytes) {
            return self.unpack(node, device, chunk);
        }
        let lanes = held.streams.inward();
        let given = self.state.lock().as_mut().map(|state| state.room.fill_by((lanes, method), at, chunk));
        if let Some(Err(cause)) = given {
            held.staging.leave(node, Way::In, bytes as u64);
            return self.fail(node, cause);
        }
        let inflow = Arc::clone(self);
        continue_later(node, method.last(Way::In, lanes), move |node, passed| {
            let device = inflow.device.as_ref().expect("it is on one");
            let held = node.devices.held(device).expect("rooms are on devices of the node");
            held.staging.leave(node, Way::In, bytes as u64);
            match passed {
                Ok(()) => inflow.advance(node, bytes),
                Err(cause) => inflow.fail(node, cause.into()),
            }
        });
    }

    /// Whether a chunk is all of the argument.
    fn is_all(&self, at: u64, bytes: usize) -> bool {
        at == 0 && self.state.lock().as_ref().is_some_and(|state| state.room.bytes() == bytes)
    }

    /// Unpacks all of the argument by a step, together with others of the turn.
    fn unpack(&self, node: &Arc<Node>, device: &Device, chunk: Pinned) {
        let (bytes, of) = (chunk.len(), device.clone());
        let leave = move |node: &Arc<Node>| {
            let held = node.devices.held(&of).expect("rooms are on devices of the node");
            held.staging.leave(node, Way::In, bytes);
        };
        let Some(InflowState { mut room, finish, .. }) = self.state.lock().take() else { return leave(node) };
        let (plan, target) = match room.open() {
            Ok(opened) => opened,
            Err(failure) => {
                leave(node);
                return finish(node, Err(failure));
            }
        };
        let then = move |node: &Arc<Node>, done: Result<Done, DeviceError>| {
            leave(node);
            let arrived = done.and_then(|done| match done {
                Done::Filled(target) => {
                    room.put_buffer(target);
                    room.into_arrived()
                }
                Done::Landed(_) => unreachable!("it goes to a buffer"),
            });
            finish(node, arrived.map_err(Failure::Device));
        };
        let add = move |batch: &mut Batch| batch.unstage(&plan, chunk, target);
        launch_soon(node, (device, Lane::In), add, (When::Past, Box::new(then)));
    }

    /// Takes the room back, for another way; nothing if it is full, or given up.
    pub(super) fn take_room(&self) -> Option<(Room, Finish<Arrived>)> {
        self.state.lock().take().map(|state| (state.room, state.finish))
    }

    /// Notes bytes that have arrived, and hands the argument on with the last.
    fn advance(&self, node: &Arc<Node>, bytes: usize) {
        let full = {
            let mut state = self.state.lock();
            if let Some(state) = state.as_mut() {
                // Chunks of a peer that lies may overlap.
                state.missing = state.missing.saturating_sub(bytes);
            }
            state.take_if(|state| state.missing == 0)
        };
        if let Some(InflowState { room, finish, .. }) = full {
            finish(node, room.into_arrived().map_err(Failure::Device));
        }
    }

    /// Gives up, once. What was to be filled goes along.
    pub(super) fn fail(&self, node: &Arc<Node>, failure: Failure) {
        let state = {
            let mut state = self.state.lock();
            self.has_failed.fetch_or(state.is_some(), Ordering::Relaxed);
            state.take()
        };
        if let Some(InflowState { room, finish, .. }) = state {
            let failure = match room.into_given() {
                Ok(Some(given)) => Failure::Unfilled(Box::new(failure), given.buffer),
                Ok(None) | Err(_) => failure,
            };
            finish(node, Err(failure));
        }
    }

    /// Whether it was given up.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}
