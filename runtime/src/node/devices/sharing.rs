//! Sharing of device memory between the processes of a host: descriptors of arenas that this node has given others, and arenas that it has
//! mapped of theirs; and between the devices of this node that reach each other.
//!
//! An arena is named by the process that made it and by its descriptor there. Who has mapped it names it to others as it was named to it:
//! no device grants a second export, and so nobody needs one.
//!
//! Memory that a program has adopted goes back to its maker, who may have other memory at its address next. So it is named for one loan, and
//! mapped until that is over; of such memory a third process gets chunks.
//!
//! A descriptor is taken out of its owner's process by number, which needs the right that a copy of its memory by the kernel needs.

use crate::model::nocopy::{MappedDevice, NamedMemory, ToldLayout};
use chare_device::{Arena, Device, DeviceBuffer, DeviceError, MemoryHandle, Uuid};
use chare_layout::Raw;
use chare_lrts::Token;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The process that made an arena, and the number of the arena's descriptor there.
type Name = (i32, i32);

/// Arenas on either side of the border of this process. They stay as long as the node.
#[derive(Default)]
pub(crate) struct Sharing {
    /// Arenas of this process, by address.
    given: Mutex<FxHashMap<u64, (Arena, OwnedFd)>>,
    mapped: Mutex<Mapped>,
    /// What names adopted memory that other nodes have been told of, by the loans' tokens.
    loans: Mutex<FxHashMap<Token, MemoryHandle>>,
    /// Whether it was told that adopted memory goes by way of the host's. Any thread writes it, once, and nothing else depends on it.
    told_of_adopted: AtomicBool,
    /// The same for memory of a device without descriptors.
    told_of_unexported: AtomicBool,
}

/// Arenas of other processes, and of other devices of this one.
#[derive(Default)]
struct Mapped {
    /// By the device that they are mapped for, too: a process may have several that reach the memory.
    by_name: FxHashMap<(Name, Uuid), Arena>,
    by_address: FxHashMap<u64, Name>,
}

impl Sharing {
    /// Names the memory of a buffer for other processes of the host, and the buffer's place in it; the buffer is `sender`'s. Memory that was
    /// adopted has its name while the handle is there which comes with it.
    ///
    /// # Errors
    /// [`DeviceError::Refused`].
    pub(crate) fn name(
        &self,
        buffer: &DeviceBuffer<u8>,
        layout: Option<&Arc<Raw>>,
        sender: &str,
    ) -> Result<(MappedDevice, Option<MemoryHandle>), DeviceError> {
        let arena = buffer.arena();
        let (process, memory, start, handle) = if arena.is_adopted() {
            let exported = arena.export()?;
            (this_process(), named(&exported.handle), exported.offset, Some(exported.handle))
        } else {
            let (process, descriptor) = self.name_of(arena)?;
            (process, NamedMemory::Arena { descriptor, bytes: arena.len() }, 0, None)
        };
        let named = MappedDevice {
            uuid: buffer.device().info().uuid.0,
            process,
            memory,
            offset: start + buffer.offset(),
            bytes: buffer.len() as u64,
            layout: layout.cloned().map(ToldLayout),
            sender: sender.to_owned(),
        };
        Ok((named, handle))
    }

    /// Keeps what names adopted memory until its [loan is over](Self::end_loan).
    pub(crate) fn keep(&self, loan: Token, handle: MemoryHandle) {
        self.loans.lock().insert(loan, handle);
    }

    /// Who was told of adopted memory has not mapped it, or not any more.
    pub(crate) fn end_loan(&self, loan: Token) {
        let ended = self.loans.lock().remove(&loan);
        drop(ended);
    }

    /// What is to be told of memory that a program has adopted and that no other process can map, the first time that some of it goes by way
    /// of the host's instead: so many bytes, sent by `sender`.
    pub(crate) fn tell_of_adopted(&self, bytes: u64, sender: &str, cause: &str) -> Option<String> {
        let is_told = self.told_of_adopted.swap(true, Ordering::Relaxed);
        (!is_told).then(|| {
            format!(
                "{bytes} bytes of a device buffer that the program has adopted, and {sender} sends, go by way of the host's memory, as does all that was made like it ({cause}); buffers that the device allocates do not"
            )
        })
    }

    /// What is to be told of a device whose memory no other process can map, the first time that so many bytes of it go by way of the host's.
    pub(crate) fn tell_of_unexported(&self, bytes: u64) -> Option<String> {
        let is_told = self.told_of_unexported.swap(true, Ordering::Relaxed);
        (!is_told).then(|| {
            format!(
                "{bytes} bytes go from process to process by way of the host's memory, as does all memory of their device: its driver exports none as descriptors"
            )
        })
    }

    fn name_of(&self, arena: &Arena) -> Result<Name, DeviceError> {
        let foreign = self.mapped.lock().by_address.get(&arena.address()).copied();
        if let Some(name) = foreign {
            return Ok(name);
        }
        let descriptor = match self.given.lock().entry(arena.address()) {
            Entry::Occupied(given) => given.get().1.as_raw_fd(),
            Entry::Vacant(place) => {
                let part = match arena.export()?.handle {
                    MemoryHandle::Descriptors(parts) => parts.into_iter().next(),
                    MemoryHandle::Name(..) => None,
                };
                let (descriptor, _) = part.expect("what a device allocates has one descriptor");
                place.insert((arena.clone(), descriptor)).1.as_raw_fd()
            }
        };
        Ok((this_process(), descriptor))
    }

    /// The arena that has been named by this node or by another one of the host, mapped for a device of this node; or that device's own.
    ///
    /// # Errors
    /// What the kernel or the device says, in words.
    pub(crate) fn map(&self, device: &Device, named: &MappedDevice) -> Result<Arena, String> {
        let (descriptor, bytes) = match &named.memory {
            NamedMemory::Arena { descriptor, bytes } => (*descriptor, *bytes),
            lent => {
                let handle = handle_of(named.process, lent)?;
                return device.import(handle).map_err(|error| error.to_string());
            }
        };
        let name = ((named.process, descriptor), device.info().uuid);
        let is_here = named.process == this_process();
        if is_here && named.uuid == device.info().uuid.0 {
            return self.given(descriptor, |arena, _| Ok(arena.clone()));
        }
        let mut mapped = self.mapped.lock();
        if let Some(arena) = mapped.by_name.get(&name) {
            return Ok(arena.clone());
        }
        let descriptor = if is_here {
            self.given(descriptor, |_, given| given.try_clone().map_err(|error| error.to_string()))
        } else {
            taken_out(named.process, descriptor)
        };
        let handle = MemoryHandle::descriptor(descriptor?, bytes);
        let arena = device.import(handle).map_err(|error| error.to_string())?;
        mapped.by_address.insert(arena.address(), name.0);
        mapped.by_name.insert(name, arena.clone());
        Ok(arena)
    }

    /// Looks at an arena of this node that was given out.
    fn given<R>(
        &self,
        descriptor: i32,
        look: impl FnOnce(&Arena, &OwnedFd) -> Result<R, String>,
    ) -> Result<R, String> {
        let given = self.given.lock();
        let own = given.values().find(|(_, given)| given.as_raw_fd() == descriptor);
        own.map_or_else(|| Err("it was not given out here".to_owned()), |(arena, given)| look(arena, given))
    }
}

/// How other processes are told of memory that this one has exported for a loan.
fn named(handle: &MemoryHandle) -> NamedMemory {
    match handle {
        MemoryHandle::Descriptors(parts) => {
            let parts = parts.iter().map(|(descriptor, bytes)| (descriptor.as_raw_fd(), *bytes));
            NamedMemory::Allocations(parts.collect())
        }
        MemoryHandle::Name(name, bytes) => NamedMemory::Named { name: name.to_vec(), bytes: *bytes },
    }
}

/// By what memory is imported that a process has told of for a loan.
fn handle_of(process: i32, named: &NamedMemory) -> Result<MemoryHandle, String> {
    let parts = match named {
        NamedMemory::Named { name, bytes } => {
            let name = <[u8; MemoryHandle::NAME_BYTES]>::try_from(&name[..]);
            let name = name.map_err(|_| "no name of a driver has so many bytes".to_owned())?;
            return Ok(MemoryHandle::Name(name, *bytes));
        }
        NamedMemory::Allocations(parts) => &parts[..],
        NamedMemory::Arena { descriptor, bytes } => &[(*descriptor, *bytes)],
    };
    let parts = parts.iter().map(|(descriptor, bytes)| Ok((taken_out(process, *descriptor)?, *bytes)));
    Ok(MemoryHandle::Descriptors(parts.collect::<Result<_, String>>()?))
}

/// A descriptor of another process.
fn taken_out(process: i32, descriptor: i32) -> Result<OwnedFd, String> {
    let process = Pid::from_raw(process).ok_or_else(|| format!("process {process}"))?;
    pidfd_open(process, PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()))
        .map_err(|error| error.to_string())
}

fn this_process() -> i32 {
    std::process::id() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adopted_memory_that_goes_by_the_host_is_told_of_once_with_its_bytes() {
        let sharing = Sharing::default();
        let tell = || sharing.tell_of_adopted(1_048_576, "Field::send on PE 3", "a pool made it");
        let told = tell().expect("it is the first time");
        assert!(told.starts_with("1048576 bytes of a device buffer that the program has adopted"), "{told}");
        assert!(told.contains("Field::send on PE 3") && told.contains("(a pool made it)"), "{told}");
        assert_eq!(tell(), None);
    }

    #[test]
    fn a_name_of_another_length_than_the_drivers_is_not_imported() {
        let named = |len| NamedMemory::Named { name: vec![7; len], bytes: 64 };
        assert!(handle_of(1, &named(MemoryHandle::NAME_BYTES)).is_ok_and(|handle| handle.bytes() == 64));
        for len in [0, MemoryHandle::NAME_BYTES - 1, MemoryHandle::NAME_BYTES + 1] {
            assert!(handle_of(1, &named(len)).is_err(), "{len}");
        }
    }

    #[test]
    fn adopted_memory_is_named_for_one_loan_and_its_descriptors_go_with_it() {
        let (sharing, file) = (Sharing::default(), std::env::current_exe().expect("this program"));
        let descriptor = OwnedFd::from(std::fs::File::open(file).expect("it is a file"));
        let number = descriptor.as_raw_fd();
        let handle = MemoryHandle::descriptor(descriptor, 4096);
        let NamedMemory::Allocations(parts) = named(&handle) else { panic!("it has descriptors") };
        assert_eq!(parts, [(number, 4096)]);
        sharing.keep(7, handle);
        let told = NamedMemory::Allocations(parts);
        assert!(handle_of(this_process(), &told).is_ok_and(|handle| handle.bytes() == 4096));
        sharing.end_loan(7);
        assert!(sharing.loans.lock().is_empty());
    }

    #[test]
    fn memory_of_a_device_without_descriptors_is_told_of_once() {
        let sharing = Sharing::default();
        assert!(sharing.tell_of_unexported(64).is_some_and(|told| told.starts_with("64 bytes go ")));
        assert_eq!(sharing.tell_of_unexported(64), None);
    }
}
