//! Outflows: device buffers on their way to another node, or into a room of this one, chunk by chunk.
//!
//! A few chunks are out at a time: while one is on its way, another is copied to the host, and the next is packed. A chunk that comes back makes room for another.

use super::inflow::Inflow;
use super::legs;
use super::pinned::landed_memory;
use super::room::Room;
use super::saying::{send_chunk, send_refusal};
use crate::model::nocopy::{Arrived, Release};
use crate::node::Node;
use crate::node::devices::staging::NoRoom;
use crate::node::devices::{Held, Sender};
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::continuing::continue_later;
use crate::transfer::take::gathering::{Failure, Finish};
use chare_device::{Choice, DeviceBuffer, DeviceError, Facts, Landed, Pinned, Stream, Way};
use chare_layout::{Plan, Raw};
use chare_lrts::clock;
use chare_lrts::{MemoryMut, NodeId, Token};
use parking_lot::Mutex;
use std::sync::Arc;

/// Chunks of one argument that are out at a time: one for each stage of its way.
const DEPTH: usize = 4;

/// Whither chunks go.
pub(super) enum Sink {
    /// To another node, which has asked under this name for what an entry sent.
    Peer {
        peer: NodeId,
        transfer: Token,
        sender: Sender,
        /// Whether it hears of a failure, and the job goes on.
        is_registered: bool,
    },
    Here(Arc<Inflow>),
}

/// A device buffer that leaves in chunks.
pub(super) struct Outflow {
    buffer: DeviceBuffer<u8>,
    layout: Arc<Raw>,
    bytes: u64,
    /// How it is cut into chunks, and how these are packed.
    choice: Choice,
    to: Sink,
    state: Mutex<OutflowState>,
}

#[derive(Default)]
struct OutflowState {
    /// Where the next chunk begins.
    next: u64,
    /// Chunks that have not come back.
    out: usize,
    /// Whether no more are sent because something failed.
    is_over: bool,
    /// What failed, until it is told.
    failed: Option<Failure>,
}

/// Where a chunk begins and its bytes, the memory that it is packed into, and the stream that does so.
type Staged = ((u64, u64), Landed<u8>, Stream);

impl Outflow {
    /// Sends the first `bytes` of what is meant of a buffer. Its handle goes when the last chunk has come back.
    pub(super) fn begin(
        node: &Arc<Node>,
        (buffer, layout): (DeviceBuffer<u8>, Option<Arc<Raw>>),
        bytes: u64,
        to: Sink,
    ) {
        let whole = || Raw::bytes_of(buffer.len() as u64).map(Arc::new);
        let planned = layout.map_or_else(whole, Ok).and_then(|layout| {
            let plan = Plan::pack_range(&layout, 0..bytes)?;
            Ok((layout, Facts::of(&plan)))
        });
        match planned {
            Ok((layout, facts)) => {
                let held = node.devices.held(buffer.device());
                let leg = match &to {
                    Sink::Peer { peer, .. } => legs::between(node, *peer),
                    Sink::Here(_) => legs::HERE,
                };
                let choice =
                    held.expect("what is sent is of a device of the node").choose(facts, Way::Out, &[leg]);
                Arc::new(Self { buffer, layout, bytes, choice, to, state: Mutex::default() }).go_on(node);
            }
            Err(error) => fail(node, &to, Failure::Words(in_words(error))),
        }
    }

    fn held<'a>(&self, node: &'a Node) -> &'a Held<Node> {
        node.devices.held(self.buffer.device()).expect("what is sent is of a device of the node")
    }

    /// Has the stream pack chunks, as many as may be out.
    fn go_on(self: &Arc<Self>, node: &Arc<Node>) {
        loop {
            match self.stage_next(node) {
                Ok(Some((range, landed, last))) => {
                    let outflow = Arc::clone(self);
                    continue_later(node, &last, move |node, passed| {
                        outflow.staged(node, range, passed.and_then(|()| landed_memory(landed)));
                    });
                }
                Ok(None) => return,
                Err(failure) => return self.fail(node, failure),
            }
        }
    }

    /// The next chunk, which streams pack, and the last of these; nothing if enough are out, or there is no room now.
    fn stage_next(self: &Arc<Self>, node: &Arc<Node>) -> Result<Option<Staged>, Failure> {
        let mut state = self.state.lock();
        if state.is_over || state.out == DEPTH || state.next == self.bytes {
            return Ok(None);
        }
        let (at, end) = (state.next, self.bytes.min(state.next + self.choice.chunk_bytes));
        let (held, len) = (self.held(node), end - at);
        let again = || {
            let outflow = Arc::clone(self);
            Box::new(move |node: &Arc<Node>| outflow.go_on(node)) as _
        };
        let plan = Arc::new(Plan::pack_range(&self.layout, at..end).map_err(in_words)?);
        if !held.staging.enter(Way::Out, len, again) {
            return Ok(None);
        }
        let method = self.choice.method;
        let staged = held.streams.outward(&self.buffer).and_then(|lanes| {
            let landed = self.buffer.stage_by(method, lanes, &plan)?;
            Ok((landed, method.last(Way::Out, lanes).clone()))
        });
        if staged.is_ok() {
            state.next = end;
            state.out += 1;
        }
        // What follows may come back here at once.
        drop(state);
        match staged {
            Ok((landed, last)) => Ok(Some(((at, len), landed, last))),
            Err(cause @ DeviceError::NoRoom { .. }) => match held.staging.found_no_room(Way::Out, len, again)
            {
                NoRoom::Waits => Ok(None),
                NoRoom::TriedAgain => {
                    let outflow = Arc::clone(self);
                    continue_later(node, &held.streams.ends, move |node, passed| match passed {
                        Ok(()) => outflow.go_on(node),
                        Err(cause) => outflow.fail(node, cause.into()),
                    });
                    Ok(None)
                }
                NoRoom::GivenUp => Err(cause.into()),
            },
            Err(cause) => {
                held.staging.leave(node, Way::Out, len);
                Err(cause.into())
            }
        }
    }

    /// Sends a chunk that the stream has packed.
    fn staged(self: &Arc<Self>, node: &Arc<Node>, (at, len): (u64, u64), chunk: Result<Pinned, DeviceError>) {
        let mut chunk = match chunk {
            Ok(chunk) => chunk,
            Err(cause) => {
                self.fail(node, cause.into());
                return self.came_back(node, len);
            }
        };
        let outflow = Arc::clone(self);
        self.held(node).ways.out.add(self.choice.method, len);
        match &self.to {
            Sink::Here(inflow) => {
                let into = Arc::clone(inflow);
                let fill = move |node: &Arc<Node>, mut memory: MemoryMut| {
                    memory.as_mut_slice().copy_from_slice(chunk.bytes().expect("the stream is past it"));
                    drop(chunk);
                    into.arrive(node, at, memory);
                    outflow.came_back(node, len);
                };
                inflow.make_room(node, len as usize, Box::new(fill));
            }
            Sink::Peer { peer, transfer, sender, .. } => {
                let (owner, to, left) = (Arc::clone(node), *peer, clock::now());
                let back = Release::new(len, true, move |_| {
                    owner.devices.legs.note(to, len, clock::since(left));
                    // The memory may go after this: who waits for it is told at the next look.
                    owner.outside.sent.add_shared(1);
                    owner.later(Box::new(move |node| {
                        outflow.came_back(node, len);
                        node.outside.processed.add_shared(1);
                    }));
                });
                send_chunk(node, (*peer, *transfer), at, (chunk, back), sender);
            }
        }
    }

    fn came_back(self: &Arc<Self>, node: &Arc<Node>, len: u64) {
        self.state.lock().out -= 1;
        self.held(node).staging.leave(node, Way::Out, len);
        self.tell_failure(node);
        self.go_on(node);
    }

    /// Sends no more.
    fn fail(&self, node: &Arc<Node>, failure: Failure) {
        {
            let mut state = self.state.lock();
            if state.is_over {
                return;
            }
            (state.is_over, state.failed) = (true, Some(failure));
        }
        self.tell_failure(node);
    }

    /// Tells what failed, once: a peer that goes on when nothing that was sent is on its way to it.
    fn tell_failure(&self, node: &Arc<Node>) {
        let goes_on = matches!(self.to, Sink::Peer { is_registered: true, .. });
        let failure = {
            let mut state = self.state.lock();
            if goes_on && state.out > 0 { None } else { state.failed.take() }
        };
        if let Some(failure) = failure {
            fail(node, &self.to, failure);
        }
    }
}

/// Brings a buffer of a device of this process into a room, by way of the host.
pub(super) fn in_chunks(
    node: &Arc<Node>,
    lent: (DeviceBuffer<u8>, Option<Arc<Raw>>),
    room: Room,
    finish: Finish<Arrived>,
) {
    let bytes = room.bytes() as u64;
    let inflow = Inflow::begin(node, room, &[legs::HERE], finish);
    Outflow::begin(node, lent, bytes, Sink::Here(inflow));
}

/// Ends the job, unless who asked is to hear of it: at the owner who sent the argument is known, elsewhere who receives it.
fn fail(node: &Arc<Node>, to: &Sink, failure: Failure) {
    match to {
        Sink::Here(inflow) => inflow.fail(node, failure),
        Sink::Peer { peer, transfer, is_registered: true, .. } => {
            send_refusal(node, (*peer, *transfer), failure);
        }
        Sink::Peer { peer, sender, .. } => {
            failure.end(node, format!("sending a device buffer of {sender} to {peer}"));
        }
    }
}
