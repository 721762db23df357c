//! Rooms: where an argument is to be, on the host or on a device, chunk by chunk.

use crate::delivery::zerocopy::device::ends::End;
use crate::delivery::zerocopy::gathering::Failure;
use crate::delivery::zerocopy::laid_out::{self, in_words};
use crate::model::nocopy::selected;
use crate::model::nocopy::{Arrived, DeviceFilled, Filled, Given, NocopyKind, PostedDevice, PostedMemory};
use crate::node::Node;
use chare_device::{Choice, Device, DeviceBufferMut, DeviceError, Facts, Method, Pinned, Stream, Way};
use chare_layout::{Plan, Raw};
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// Memory that is filled with a stream of bytes.
pub(super) struct Room {
    place: Place,
    /// How many bytes are to come.
    bytes: usize,
    /// What the post method said of where they go.
    layout: Option<Arc<Raw>>,
    is_posted: bool,
}

enum Place {
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
                Ok(posted(Place::Host(memory), bytes, layout))
            }
            Some(Given::Device(PostedDevice { buffer, bytes, layout, before })) => {
                Ok(posted(Place::Device(buffer, before), bytes, layout))
            }
            None if end.kind == NocopyKind::DeviceReceived => {
                let rank = node.rank_here(end.pe).expect("arguments are brought in where their chare is");
                Ok(received(Place::Unmade(node.devices.of(rank)?.device.clone())))
            }
            None => Ok(received(Place::Host(laid_out::room(node, offered as u64)?))),
        }
    }

    /// How many bytes are to come.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device that it is on, if it is on one.
    pub(super) fn device(&self) -> Option<&Device> {
        match &self.place {
            Place::Host(_) => None,
            Place::Device(buffer, _) => Some(buffer.device()),
            Place::Unmade(device) => Some(device),
        }
    }

    /// How chunks are unpacked, and how long they should be, where it is on a device.
    pub(super) fn choose(&self, node: &Node) -> Option<Choice> {
        let held = node.devices.held(self.device()?).expect("rooms are on devices of the node");
        // What does not fit is said when it is filled.
        let one = Facts { bytes: self.bytes as u64, blocks: 1 };
        let facts = self.plan(0, self.bytes).map_or(one, |plan| Facts::of(&plan));
        Some(held.choose(facts, Way::In))
    }

    /// The device buffer that was posted, or nothing where the runtime provides memory of a device; the room itself if it is on the host.
    ///
    /// # Errors
    /// The room.
    pub(super) fn into_given(self) -> Result<Option<PostedDevice>, Self> {
        match self {
            Self { place: Place::Device(buffer, before), bytes, layout, is_posted } => {
                Ok(is_posted.then_some(PostedDevice { buffer, bytes, layout, before }))
            }
            Self { place: Place::Unmade(_), .. } => Ok(None),
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
            Place::Host(memory) => selected::copy(&plan, &chunk.freeze(), memory).map_err(in_words),
            Place::Device(..) | Place::Unmade(_) => unreachable!("chunks for a device are pinned"),
        }
    }

    /// Fills a range of the stream from pinned memory, by a command to a stream, where it is on a device.
    ///
    /// # Errors
    /// A range that does not fit, and what the device says.
    pub(super) fn fill_by(
        &mut self,
        (on, method): (&Stream, Method),
        at: u64,
        chunk: Pinned,
    ) -> Result<(), Failure> {
        let plan = self.plan(at, chunk.len() as usize)?;
        if let Place::Unmade(device) = &self.place {
            self.place = Place::Device(DeviceBufferMut::new(device, self.bytes)?, None);
        }
        match &mut self.place {
            Place::Device(buffer, _) => Ok(buffer.unstage_by(method, on, &Arc::new(plan), chunk)?),
            Place::Host(_) | Place::Unmade(_) => unreachable!("it is on a device, and made"),
        }
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
            Place::Host(memory) if is_posted => Arrived::Posted(Filled { memory, layout, len }.into()),
            Place::Host(memory) => Arrived::Received { memory: memory.freeze(), layout: None, release: None },
            Place::Device(buffer, _) if is_posted => {
                Arrived::DevicePosted(DeviceFilled { buffer, layout, len, landed: None }.into())
            }
            Place::Device(buffer, _) => Arrived::Device(buffer.freeze()),
            Place::Unmade(device) => Arrived::Device(DeviceBufferMut::new(&device, len)?.freeze()),
        })
    }
}
