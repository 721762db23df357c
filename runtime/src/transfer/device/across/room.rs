//! Rooms: where an argument is to be, on the host or on a device, chunk by chunk.

use crate::model::nocopy::selected;
use crate::model::nocopy::{Arrived, DeviceFilled, Given, NocopyKind, PostedDevice, PostedMemory};
use crate::node::Node;
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::ends::End;
use crate::transfer::take::gathering::Failure;
use crate::transfer::take::remote_memory;
use chare_device::{
    Choice, Device, DeviceBufferMut, DeviceError, Facts, Lanes, Leg, Method, Pinned, Stream, Way,
};
use chare_layout::{Plan, Raw};
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// Memory that is filled with a stream of bytes.
pub(super) struct Room {
    place: RoomMemory,
    /// How many bytes are to come.
    bytes: usize,
    /// What the post method said of where they go.
    layout: Option<Arc<Raw>>,
    is_posted: bool,
}

enum RoomMemory {
    Host(MemoryMut),
    /// With the stream that waits for the landing in the entry's place.
    Device(DeviceBufferMut<u8>, Option<Stream>),
    /// Memory of this device, made when the first chunk comes: a view needs none.
    Unmade(Device),
}

impl Room {
    /// What a post method gave, or memory of the runtime for all that is offered.
    ///
    /// # Errors
    /// A length that there is no memory for, and what a device says.
    pub(super) fn new(
        node: &Arc<Node>,
        end: End,
        offered: usize,
        given: Option<Given>,
    ) -> Result<Self, Failure> {
        let received = |place| Self { place, bytes: offered, layout: None, is_posted: false };
        let posted = |place, bytes, layout| Self { place, bytes, layout, is_posted: true };
        match given {
            Some(Given::Host(PostedMemory { memory, bytes, layout })) => {
                Ok(posted(RoomMemory::Host(memory), bytes, layout))
            }
            Some(Given::Device(PostedDevice { buffer, bytes, layout, before })) => {
                Ok(posted(RoomMemory::Device(buffer, before), bytes, layout))
            }
            None if end.kind == NocopyKind::DeviceReceived => {
                let rank = node.rank_here(end.pe).expect("arguments are brought in where their chare is");
                Ok(received(RoomMemory::Unmade(node.devices.of(rank)?.device.clone())))
            }
            None => Ok(received(RoomMemory::Host(remote_memory::room(node, offered as u64)?))),
        }
    }

    /// How many bytes are to come.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device that it is on, if it is on one.
    pub(super) fn device(&self) -> Option<&Device> {
        match &self.place {
            RoomMemory::Host(_) => None,
            RoomMemory::Device(buffer, _) => Some(buffer.device()),
            RoomMemory::Unmade(device) => Some(device),
        }
    }

    /// How chunks that go through the `beside` legs are unpacked, and how long they should be, where it is on a device.
    pub(super) fn choose(&self, node: &Node, beside: &[Leg]) -> Option<Choice> {
        let held = node.devices.held(self.device()?).expect("rooms are on devices of the node");
        Some(held.choose(self.facts(), Way::In, beside))
    }

    /// Whether one step over memory of another process takes no longer than chunks that go through the `beside` legs.
    pub(super) fn pulls(&self, node: &Node, beside: &[Leg]) -> bool {
        let held = self.device().and_then(|device| node.devices.held(device));
        held.is_some_and(|held| held.model().pulls(self.facts(), beside))
    }

    /// Whether the network, by the `direct` leg, fills it from a device no later than chunks that go through the `beside` legs.
    pub(super) fn goes_directly(&self, node: &Node, direct: Leg, beside: &[Leg]) -> bool {
        let held = self.device().and_then(|device| node.devices.held(device));
        held.is_some_and(|held| {
            let model = held.model();
            !model.is_measured() || model.goes_directly(self.facts(), Way::In, direct, beside)
        })
    }

    /// Whether a post method gave it.
    pub(super) fn is_posted(&self) -> bool {
        self.is_posted
    }

    fn facts(&self) -> Facts {
        // What does not fit is said when it is filled.
        self.plan(0, self.bytes).map_or(Facts::whole(self.bytes as u64), |plan| Facts::of(&plan))
    }

    /// The device buffer that was posted, or nothing where the runtime provides memory of a device; the room itself if it is on the host.
    ///
    /// # Errors
    /// The room.
    pub(super) fn into_given(self) -> Result<Option<PostedDevice>, Self> {
        match self {
            Self { place: RoomMemory::Device(buffer, before), bytes, layout, is_posted } => {
                Ok(is_posted.then_some(PostedDevice { buffer, bytes, layout, before }))
            }
            Self { place: RoomMemory::Unmade(_), .. } => Ok(None),
            on_host => Err(on_host),
        }
    }

    /// Fills a range of the stream from memory of the host, where it is on the host.
    ///
    /// # Errors
    /// A range that does not fit, in words.
    pub(super) fn fill(&mut self, at: u64, chunk: MemoryMut) -> Result<(), String> {
        let plan = self.plan(at, chunk.len())?;
        match &mut self.place {
            RoomMemory::Host(memory) => selected::copy(&plan, &chunk.freeze(), memory).map_err(in_words),
            RoomMemory::Device(..) | RoomMemory::Unmade(_) => unreachable!("chunks for a device are pinned"),
        }
    }

    /// Fills a range of the stream from pinned memory, by commands to streams, where it is on a device.
    ///
    /// # Errors
    /// A range that does not fit, and what the device says.
    pub(super) fn fill_by(
        &mut self,
        (on, method): (Lanes<'_>, Method),
        at: u64,
        chunk: Pinned,
    ) -> Result<(), Failure> {
        let plan = Arc::new(self.plan(at, chunk.len() as usize)?);
        let mut buffer = self.take_buffer()?;
        let given = buffer.unstage_by(method, on, &plan, chunk);
        self.put_buffer(buffer);
        Ok(given?)
    }

    /// The plan of all of it, where it is on a device, and the buffer, which is to be [put back](Self::put_buffer).
    ///
    /// # Errors
    /// As for [`fill_by`](Self::fill_by).
    pub(super) fn open(&mut self) -> Result<(Arc<Plan>, DeviceBufferMut<u8>), Failure> {
        Ok((Arc::new(self.plan(0, self.bytes)?), self.take_buffer()?))
    }

    fn take_buffer(&mut self) -> Result<DeviceBufferMut<u8>, DeviceError> {
        let device = self.device().expect("chunks are pinned for rooms on devices").clone();
        match std::mem::replace(&mut self.place, RoomMemory::Unmade(device)) {
            RoomMemory::Device(buffer, _) => Ok(buffer),
            RoomMemory::Unmade(device) => DeviceBufferMut::new(&device, self.bytes),
            RoomMemory::Host(_) => unreachable!("it is on a device"),
        }
    }

    /// Whether what comes goes where a layout says.
    pub(super) fn has_layout(&self) -> bool {
        self.layout.is_some()
    }

    /// Memory for the network to write, where the room is on a device: its own buffer, which is to be [put back](Self::put_target), or a
    /// packed one if it has a layout.
    ///
    /// # Errors
    /// What the device says; the room is as it was.
    pub(super) fn take_target(&mut self) -> Result<DeviceBufferMut<u8>, DeviceError> {
        let device = self.device().expect("networks write rooms on devices");
        if self.has_layout() { DeviceBufferMut::new(device, self.bytes) } else { self.take_buffer() }
    }

    /// Takes such memory back.
    pub(super) fn put_target(&mut self, target: DeviceBufferMut<u8>) {
        if !self.has_layout() {
            self.put_buffer(target);
        }
    }

    /// Puts the buffer back.
    pub(super) fn put_buffer(&mut self, buffer: DeviceBufferMut<u8>) {
        // The entry runs when the elements are there: no stream waits in its place.
        self.place = RoomMemory::Device(buffer, None);
    }

    fn plan(&self, at: u64, len: usize) -> Result<Plan, String> {
        let whole = || Raw::bytes_of(self.bytes as u64).map(Arc::new);
        let target = self.layout.clone().map_or_else(whole, Ok).map_err(in_words)?;
        Plan::unpack_range(&target, at..at.saturating_add(len as u64)).map_err(in_words)
    }

    /// The argument, when all has come.
    ///
    /// # Errors
    /// What the device says.
    pub(super) fn into_arrived(self) -> Result<Arrived, DeviceError> {
        let Self { place, bytes: len, layout, is_posted } = self;
        Ok(match place {
            RoomMemory::Host(memory) if is_posted => {
                Arrived::Posted(PostedMemory { memory, bytes: len, layout })
            }
            RoomMemory::Host(memory) => {
                Arrived::Received { memory: memory.freeze(), layout: None, release: None }
            }
            RoomMemory::Device(buffer, _) if is_posted => {
                Arrived::DevicePosted(DeviceFilled { buffer, layout, len, landed: None }.into())
            }
            RoomMemory::Device(buffer, _) => Arrived::Device(buffer.freeze()),
            RoomMemory::Unmade(device) => Arrived::Device(DeviceBufferMut::new(&device, len)?.freeze()),
        })
    }
}
