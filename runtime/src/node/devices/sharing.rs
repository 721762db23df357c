//! Sharing of device memory between the processes of a host: descriptors of arenas that this node has given others, and arenas that it has
//! mapped of theirs; and between the devices of this node that reach each other.
//!
//! An arena is named by the process that made it and by its descriptor there. Who has mapped it names it to others as it was named to it:
//! no device grants a second export, and so nobody needs one.
//!
//! A descriptor is taken out of its owner's process by number, which needs the right that a copy of its memory by the kernel needs.

use crate::model::nocopy::{MappedDevice, ToldLayout};
use chare_device::{Arena, Device, DeviceBuffer, DeviceError, Uuid};
use chare_layout::Raw;
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
    /// Names the arena of a buffer for other processes of the host, and the buffer's place in it; the buffer is `sender`'s.
    ///
    /// # Errors
    /// [`DeviceError::Refused`].
    pub(crate) fn name(
        &self,
        buffer: &DeviceBuffer<u8>,
        layout: Option<&Arc<Raw>>,
        sender: &str,
    ) -> Result<MappedDevice, DeviceError> {
        let arena = buffer.arena();
        let (process, descriptor) = self.name_of(arena)?;
        Ok(MappedDevice {
            uuid: buffer.device().info().uuid.0,
            process,
            descriptor,
            arena_bytes: arena.len(),
            offset: buffer.offset(),
            bytes: buffer.len() as u64,
            layout: layout.cloned().map(ToldLayout),
            sender: sender.to_owned(),
        })
    }

    /// What is to be told of memory that a program has adopted and that no other process can map, the first time that some of it goes by way
    /// of the host's instead: so many bytes, sent by `sender`.
    pub(crate) fn tell_of_adopted(&self, bytes: u64, sender: &str) -> Option<String> {
        let is_told = self.told_of_adopted.swap(true, Ordering::Relaxed);
        (!is_told).then(|| {
            format!(
                "{bytes} bytes of a device buffer of {sender} go by way of the host's memory, as does all memory that the program has adopted: no other process and no other device can map it; buffers that the device allocates are mapped"
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
            Entry::Vacant(place) => place.insert((arena.clone(), arena.export()?)).1.as_raw_fd(),
        };
        Ok((this_process(), descriptor))
    }

    /// The arena that has been named by this node or by another one of the host, mapped for a device of this node; or that device's own.
    ///
    /// # Errors
    /// What the kernel or the device says, in words.
    pub(crate) fn map(&self, device: &Device, named: &MappedDevice) -> Result<Arena, String> {
        let name = ((named.process, named.descriptor), device.info().uuid);
        let is_here = named.process == this_process();
        if is_here && named.uuid == device.info().uuid.0 {
            return self.given(named, |arena, _| Ok(arena.clone()));
        }
        let mut mapped = self.mapped.lock();
        if let Some(arena) = mapped.by_name.get(&name) {
            return Ok(arena.clone());
        }
        let descriptor = if is_here {
            self.given(named, |_, given| given.try_clone().map_err(|error| error.to_string()))
        } else {
            taken_out(named)
        };
        let arena = device.import(descriptor?, named.arena_bytes).map_err(|error| error.to_string())?;
        mapped.by_address.insert(arena.address(), name.0);
        mapped.by_name.insert(name, arena.clone());
        Ok(arena)
    }

    /// Looks at an arena of this node that was given out.
    fn given<R>(
        &self,
        named: &MappedDevice,
        look: impl FnOnce(&Arena, &OwnedFd) -> Result<R, String>,
    ) -> Result<R, String> {
        let given = self.given.lock();
        let own = given.values().find(|(_, given)| given.as_raw_fd() == named.descriptor);
        own.map_or_else(|| Err("it was not given out here".to_owned()), |(arena, given)| look(arena, given))
    }
}

/// The descriptor of another process's arena.
fn taken_out(named: &MappedDevice) -> Result<OwnedFd, String> {
    let process = Pid::from_raw(named.process).ok_or_else(|| format!("process {}", named.process))?;
    pidfd_open(process, PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, named.descriptor, PidfdGetfdFlags::empty()))
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
        let told = sharing.tell_of_adopted(1_048_576, "Field::send on PE 3").expect("it is the first time");
        assert!(told.starts_with("1048576 bytes of a device buffer of Field::send on PE 3 go by"), "{told}");
        assert_eq!(sharing.tell_of_adopted(1_048_576, "Field::send on PE 3"), None);
    }

    #[test]
    fn memory_of_a_device_without_descriptors_is_told_of_once() {
        let sharing = Sharing::default();
        assert!(sharing.tell_of_unexported(64).is_some_and(|told| told.starts_with("64 bytes go ")));
        assert_eq!(sharing.tell_of_unexported(64), None);
    }
}
