//! Lanes of a device: the runtime's own streams there, one for each stage of a transfer, so that no stage waits for another one's work.

use chare_device::{Device, DeviceBuffer, DeviceError, Lanes, Priority, Stream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Streams for what is behind others' kernels: a long kernel keeps one part in so many of the rest waiting, at most.
const BEHIND: usize = 8;

/// What steps are for: each kind is launched on a stream of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// From buffer to buffer, behind whatever is still done with either.
    Within,
    /// Into memory that leaves the device, out of buffers that nobody writes any more.
    Out,
    /// Out of memory that has come to the device.
    In,
}

/// The streams.
pub(crate) struct Streams {
    within: Stream,
    packs: Stream,
    outward: Stream,
    inward: Stream,
    unpacks: Stream,
    /// Waits for what streams still do with buffers that were lent.
    pub(crate) ends: Stream,
    behind: [OnceLock<Stream>; BEHIND],
    /// The next of them; any thread takes one, and nothing else depends on it.
    next: AtomicUsize,
}

impl Streams {
    /// # Errors
    /// What the device says.
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            within: device.stream(Priority::High)?,
            packs: device.stream(Priority::High)?,
            outward: device.stream(Priority::High)?,
            inward: device.stream(Priority::High)?,
            unpacks: device.stream(Priority::High)?,
            ends: device.stream(Priority::Normal)?,
            behind: Default::default(),
            next: AtomicUsize::new(0),
        })
    }

    /// The stream of steps.
    pub(crate) fn of(&self, lane: Lane) -> &Stream {
        match lane {
            Lane::Within => &self.within,
            Lane::Out => &self.packs,
            Lane::In => &self.unpacks,
        }
    }

    /// The streams of a chunk that comes to the device.
    pub(crate) fn inward(&self) -> Lanes<'_> {
        Lanes { steps: &self.unpacks, copies: &self.inward }
    }

    /// The streams of a chunk of a buffer that leaves the device: a stream beside all others while somebody still writes the buffer.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) fn outward(&self, buffer: &DeviceBuffer<u8>) -> Result<Lanes<'_>, DeviceError> {
        if buffer.is_written()? {
            return Ok(Lanes { steps: &self.packs, copies: &self.outward });
        }
        self.behind(buffer.device()).map(Lanes::from)
    }

    /// A stream that may wait for kernels of the program.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) fn behind(&self, device: &Device) -> Result<&Stream, DeviceError> {
        let place = &self.behind[self.next.fetch_add(1, Ordering::Relaxed) % BEHIND];
        if place.get().is_none() {
            let made = device.stream(Priority::High)?;
            return Ok(place.get_or_init(|| made));
        }
        Ok(place.get().expect("it was made"))
    }
}
