//! The software device: the reference, on every machine, whose memory lies in the host and whose host cannot touch it.
//!
//! 1. Device memory is a memfd that is mapped twice: at the address that users hold nobody can read or write, the device's own
//!    threads use the other one (`mapped`), and so does a network that registers it.
//! 2. A stream is a queue and a thread (`queue`), an event an atomic word (`signal`).
//! 3. A kernel of the user is a closure that the stream's thread calls (`command`).
//! 4. What other processes map of memory that was adopted is as with the calls that make such memory elsewhere ([`AdoptedMemory`]).
//! 5. Delays, refusals and loss are drawn from a seed (`faults`).
//! 6. In a simulated job there are no threads: commands take virtual time (`virtual_time`).

mod backend;
mod command;
pub(crate) mod faults;
pub(crate) mod mapped;
mod queue;
mod shared;
mod signal;
#[cfg(feature = "sim")]
pub(crate) mod virtual_time;

use crate::device::Device;
use crate::software::backend::{SoftwareBackend, UUID_PREFIX};
use crate::software::faults::Faults;
use crate::software::mapped::AdoptedMemory;
#[cfg(feature = "sim")]
use crate::software::virtual_time::{InTime, VirtualTime};
use crate::words::info::{Info, Uuid};

/// What to open as a software device.
///
/// ```
/// use chare_device::{Device, Software};
///
/// let device: Device = Software { memory_bytes: 64 << 20, ..Software::default() }.open();
/// assert_eq!(device.info().to_string(), "device 0 (software)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Software {
    /// Its number.
    pub ordinal: u32,
    /// Bytes of memory for blocks at most; taken from the host as they are needed.
    pub memory_bytes: u64,
    /// Bytes of pinned memory at most.
    pub pinned_bytes: u64,
    /// Whether other processes can map its memory, as they can where a driver exports descriptors.
    pub is_exportable: bool,
    /// The version of a driver that it says it has, so that what it was measured to take is kept as of a device that has one.
    pub driver: Option<String>,
    /// How the program has allocated the memory that it has adopted.
    pub adopted: AdoptedMemory,
    /// Whether networks can register its memory, as they can that of a device with GPUDirect.
    pub is_registrable: bool,
    /// Whether it maps memory of the host's other software devices, as devices do that are linked.
    pub reaches_peers: bool,
    /// What goes wrong.
    pub faults: Faults,
}

impl Default for Software {
    /// Four gigabytes of memory, and 64 MiB for staging, which processes can share, networks can register and other devices can map, and nothing goes wrong.
    fn default() -> Self {
        Self {
            ordinal: 0,
            memory_bytes: 4 << 30,
            pinned_bytes: 64 << 20,
            is_exportable: true,
            driver: None,
            adopted: AdoptedMemory::default(),
            is_registrable: true,
            reaches_peers: true,
            faults: Faults::default(),
        }
    }
}

impl Software {
    /// Opens the device. Costs nothing until it is used; each opening has memory of its own.
    pub fn open(self) -> Device {
        Device::new(Box::new(self.backend()))
    }

    /// Opens the device in virtual time, as `owner`'s, whose number [`VirtualTime::next`] tells. Its engines are those of the device of this
    /// number of the `host`, whoever has opened it.
    #[cfg(feature = "sim")]
    pub fn open_within(self, time: &VirtualTime, owner: u64, host: u64) -> Device {
        let in_time = InTime::new(time, owner, (host, self.ordinal));
        Device::new(Box::new(self.backend().at(in_time)))
    }

    fn backend(self) -> SoftwareBackend {
        let mut uuid = [0; 16];
        uuid[..12].copy_from_slice(UUID_PREFIX);
        uuid[12..].copy_from_slice(&self.ordinal.to_be_bytes());
        let info = Info {
            name: "software".to_owned(),
            ordinal: self.ordinal,
            uuid: Uuid(uuid),
            memory_bytes: self.memory_bytes,
            pinned_bytes: self.pinned_bytes,
            driver: self.driver,
            copy_engines: 0,
            is_exportable: self.is_exportable,
            is_registrable: self.is_registrable,
        };
        SoftwareBackend::new(info, self.reaches_peers, self.adopted, self.faults)
    }
}

#[cfg(test)]
mod tests {
    #![expect(unsafe_code, reason = "takes memory of another device")]

    use super::*;
    use crate::buffer::exclusive::DeviceBufferMut;
    use crate::buffer::shared::DeviceBuffer;
    use crate::words::error::DeviceError;
    use crate::words::info::Priority;

    #[test]
    fn a_device_copies_from_memory_of_another_one_that_it_reaches() {
        let device =
            |ordinal, reaches_peers| Software { ordinal, reaches_peers, ..Software::default() }.open();
        let [one, other, apart] = [device(0, true), device(1, true), device(2, false)];
        assert!(one.reaches(other.info().uuid) && other.reaches(one.info().uuid));
        assert!(apart.reaches(apart.info().uuid) && !apart.reaches(one.info().uuid));
        assert!(!one.reaches(Uuid(*b"something-else.0")));

        let stream = one.stream(Priority::Normal).expect("a stream");
        let mut field = DeviceBufferMut::<u8>::new(&one, 1000).expect("room");
        field.write(&stream, &[7; 1000]).expect("room for staging");
        stream.finish().expect("it is not lost");
        let field = field.freeze();
        let arena = field.arena();
        let mapped = other.import(arena.export().expect("a descriptor").handle).expect("it is reached");
        let theirs = mapped.part(field.offset()..field.offset() + 1000).expect("it lies within");
        // SAFETY: nobody writes it, and its writer is over.
        let theirs =
            unsafe { DeviceBuffer::<u8>::foreign(&other, theirs, |_| ()) }.expect("it is mapped there");
        let stream = other.stream(Priority::Normal).expect("a stream");
        let mut copy = DeviceBufferMut::<u8>::new(&other, 1000).expect("room");
        copy.copy_from(&stream, &theirs).expect("both are its own to read");
        assert_eq!(copy.freeze().to_vec(&stream).expect("room for staging"), [7; 1000]);
    }

    #[test]
    fn a_device_without_descriptors_has_memory_that_nobody_else_maps() {
        let device = Software { is_exportable: false, ..Software::default() }.open();
        assert!(!device.info().is_exportable);
        let block = device.allocate(64).expect("it has memory all the same");
        assert!(matches!(block.arena().export(), Err(DeviceError::Refused { .. })));
    }
}
