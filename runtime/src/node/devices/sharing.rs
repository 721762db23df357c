//! Sharing of device memory between the processes of a host: descriptors of arenas that this node has given others, and arenas that it has
//! mapped of theirs; and between the devices of this node that reach each other.
//!
//! An arena is named by the process that made it and by its descriptor there. Who has mapped it names it to others as it was named to it:
//! no device grants a second export, and so nobody needs one.
//!
//! Memory that a program has adopted goes back to its maker, who may have other memory at its address next:
//!
//! 1. It is named for one loan, and mapped until that is over; of such memory a third process gets chunks.
//! 2. Its descriptors are open here for the whole of the loan. So there are a few for each, and not many for all: what would need more goes in
//!    chunks.
//! 3. Who could not map what was named in one way asks for it in chunks, and nothing is named to it in this way any more.
//!
//! A descriptor is taken out of its owner's process by number, which needs the right that a copy of its memory by the kernel needs.

use crate::model::nocopy::{MappedDevice, NamedMemory, ToldLayout};
use chare_device::{Arena, Device, DeviceBuffer, DeviceError, MemoryHandle, Uuid};
use chare_layout::Raw;
use chare_lrts::{NodeId, Token};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::hash_map::Entry;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

/// The process that made an arena, and the number of the arena's descriptor there.
type Name = (i32, i32);

/// Descriptors of adopted memory that are open at once, in all loans of a node: a quarter of those that a process usually may have.
const DESCRIPTORS_MAX: usize = 256;

/// Why memory that a program has adopted goes by way of the host's, where other memory of its device would not.
#[derive(Debug, Error)]
pub(crate) enum Detour {
    /// It has no name for other processes.
    #[error("{0}")]
    Unnamed(DeviceError),
    /// Too many descriptors would be open.
    #[error("{DESCRIPTORS_MAX} descriptors of such memory may be open at once, and are")]
    Crowded,
    /// Who was told of it cannot map it.
    #[error("it cannot be mapped: {0}")]
    Unmapped(String),
    /// Who is to be told of it could not map such memory before.
    #[error("such memory could not be mapped before")]
    Refused,
    /// The network does not read it.
    #[error("the network cannot register it: {0}")]
    Unregistered(String),
}

/// Arenas on either side of the border of this process. They stay as long as the node.
#[derive(Default)]
pub(crate) struct Sharing {
    /// Arenas of this process, by address.
    given: Mutex<FxHashMap<u64, (Arena, OwnedFd)>>,
    mapped: Mutex<Mapped>,
    loans: Mutex<Loans>,
    /// Nodes that could not map adopted memory, and how it was named to them.
    refused: Mutex<FxHashSet<(NodeId, Discriminant<MemoryHandle>)>>,
    /// Whether it was told that adopted memory goes by way of the host's, for each cause. Any thread writes one, once, and nothing else depends
    /// on it.
    told_of_adopted: [AtomicBool; 4],
    /// The same for memory of a device without descriptors.
    told_of_unexported: AtomicBool,
}

/// Adopted memory that other nodes have been told of.
#[derive(Default)]
struct Loans {
    /// What names it, by the loans' tokens.
    open: FxHashMap<Token, MemoryHandle>,
    /// Descriptors of all of it.
    descriptors: usize,
}

impl Loans {
    fn end(&mut self, loan: Token) -> Option<MemoryHandle> {
        let ended = self.open.remove(&loan)?;
        self.descriptors -= descriptors(&ended);
        Some(ended)
    }
}

/// Descriptors that a handle keeps open.
fn descriptors(handle: &MemoryHandle) -> usize {
    match handle {
        MemoryHandle::Descriptors(parts) => parts.len(),
        MemoryHandle::Name(..) => 0,
    }
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
        let (process, memory, offset, handle) = if arena.is_adopted() {
            let exported = arena.export_part(buffer.offset()..buffer.offset() + buffer.len() as u64)?;
            (this_process(), named(&exported.handle), exported.offset, Some(exported.handle))
        } else {
            let (process, descriptor) = self.name_of(arena)?;
            (process, NamedMemory::Arena { descriptor, bytes: arena.len() }, buffer.offset(), None)
        };
        let named = MappedDevice {
            uuid: buffer.device().info().uuid.0,
            process,
            memory,
            offset,
            bytes: buffer.len() as u64,
            layout: layout.cloned().map(ToldLayout),
            sender: sender.to_owned(),
        };
        Ok((named, handle))
    }

    /// Keeps what names adopted memory, of which a node is to be told, until the [loan is over](Self::end_loan).
    ///
    /// # Errors
    /// [`Detour::Refused`] and [`Detour::Crowded`].
    pub(crate) fn keep(&self, peer: NodeId, loan: Token, handle: MemoryHandle) -> Result<(), Detour> {
        if self.is_refused(peer, &handle) {
            return Err(Detour::Refused);
        }
        let mut loans = self.loans.lock();
        let descriptors = loans.descriptors + descriptors(&handle);
        if descriptors > DESCRIPTORS_MAX {
            return Err(Detour::Crowded);
        }
        loans.descriptors = descriptors;
        loans.open.insert(loan, handle);
        Ok(())
    }

    /// Who was told of adopted memory has not mapped it, or not any more.
    pub(crate) fn end_loan(&self, loan: Token) {
        let ended = self.loans.lock().end(loan);
        drop(ended);
    }

    /// A node asks for something that it may have been told of already: it could not map it.
    pub(crate) fn refuse_loan(&self, peer: NodeId, loan: Token) {
        let ended = self.loans.lock().end(loan);
        if let Some(handle) = ended {
            self.refuse(peer, discriminant(&handle));
        }
    }

    /// Notes that a node, which may be this one, could not map what was named in such a way.
    pub(crate) fn refuse(&self, peer: NodeId, named: Discriminant<MemoryHandle>) {
        self.refused.lock().insert((peer, named));
    }

    /// Whether a node could not map what was named in the way of this handle.
    pub(crate) fn is_refused(&self, peer: NodeId, handle: &MemoryHandle) -> bool {
        self.refused.lock().contains(&(peer, discriminant(handle)))
    }

    /// What is to be told of memory that a program has adopted, the first time that some of it goes by way of the host's for this cause: so many
    /// bytes, sent by `sender`. Who refuses memory has told of it.
    pub(crate) fn tell_of_adopted(&self, bytes: u64, sender: &str, cause: &Detour) -> Option<String> {
        let number = match cause {
            Detour::Unnamed(_) => 0,
            Detour::Crowded => 1,
            Detour::Unmapped(_) => 2,
            Detour::Unregistered(_) => 3,
            Detour::Refused => return None,
        };
        let is_told = self.told_of_adopted[number].swap(true, Ordering::Relaxed);
        (!is_told).then(|| {
            format!(
                "{bytes} bytes of a device buffer that the program has adopted, and {sender} sends, go by way of the host's memory ({cause}), as may others of which nobody is told; buffers that the device allocates do not"
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
            process(named.process).and_then(|process| taken_out(&process, descriptor))
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
fn handle_of(number: i32, named: &NamedMemory) -> Result<MemoryHandle, String> {
    let parts = match named {
        NamedMemory::Named { name, bytes } => {
            let name = <[u8; MemoryHandle::NAME_BYTES]>::try_from(&name[..]);
            let name = name.map_err(|_| "no name of a driver has so many bytes".to_owned())?;
            return Ok(MemoryHandle::Name(name, *bytes));
        }
        NamedMemory::Allocations(parts) => &parts[..],
        NamedMemory::Arena { descriptor, bytes } => &[(*descriptor, *bytes)],
    };
    if parts.len() > MemoryHandle::PARTS_MAX {
        return Err(format!("it is said to have {} descriptors", parts.len()));
    }
    let process = process(number)?;
    let parts = parts.iter().map(|(descriptor, bytes)| Ok((taken_out(&process, *descriptor)?, *bytes)));
    Ok(MemoryHandle::Descriptors(parts.collect::<Result<_, String>>()?))
}

/// The process of a number that another node has said.
fn process(number: i32) -> Result<OwnedFd, String> {
    let process = Some(number).filter(|number| *number > 0).and_then(Pid::from_raw);
    let process = process.ok_or_else(|| format!("no process has the number {number}"))?;
    pidfd_open(process, PidfdFlags::empty()).map_err(|error| error.to_string())
}

/// A descriptor of another process.
fn taken_out(process: &OwnedFd, descriptor: i32) -> Result<OwnedFd, String> {
    pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()).map_err(|error| error.to_string())
}

fn this_process() -> i32 {
    std::process::id() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adopted_memory_that_goes_by_the_host_is_told_of_once_for_each_cause_with_its_bytes() {
        let sharing = Sharing::default();
        let tell = |cause| sharing.tell_of_adopted(1_048_576, "Field::send on PE 3", &cause);
        let unmapped = || Detour::Unmapped("no peer access".to_owned());
        let told = tell(unmapped()).expect("it is the first time");
        assert!(told.starts_with("1048576 bytes of a device buffer that the program has adopted"), "{told}");
        assert!(told.contains("Field::send on PE 3") && told.contains(": no peer access)"), "{told}");
        assert_eq!(tell(unmapped()), None);
        assert!(tell(Detour::Crowded).is_some_and(|told| told.contains("(256 descriptors")));
        assert_eq!(tell(Detour::Refused), None, "who refused it has told");
    }

    #[test]
    fn a_name_of_another_length_than_the_drivers_is_not_imported() {
        let named = |len| NamedMemory::Named { name: vec![7; len], bytes: 64 };
        assert!(handle_of(1, &named(MemoryHandle::NAME_BYTES)).is_ok_and(|handle| handle.bytes() == 64));
        for len in [0, MemoryHandle::NAME_BYTES - 1, MemoryHandle::NAME_BYTES + 1] {
            assert!(handle_of(1, &named(len)).is_err(), "{len}");
        }
    }

    /// Memory of so many parts, each with a descriptor.
    fn parts(count: usize) -> MemoryHandle {
        let program = std::env::current_exe().expect("this program");
        let part = || (std::fs::File::open(&program).expect("it is a file").into(), 4096);
        MemoryHandle::Descriptors((0..count).map(|_| part()).collect())
    }

    const PEER: NodeId = NodeId(3);

    #[test]
    fn adopted_memory_is_named_for_one_loan_and_its_descriptors_go_with_it() {
        let (sharing, handle) = (Sharing::default(), parts(2));
        let told = named(&handle);
        sharing.keep(PEER, 7, handle).expect("there are few");
        assert!(handle_of(this_process(), &told).is_ok_and(|handle| handle.bytes() == 8192));
        sharing.end_loan(7);
        let loans = sharing.loans.lock();
        assert!(loans.open.is_empty() && loans.descriptors == 0);
    }

    #[test]
    fn no_more_descriptors_of_adopted_memory_are_open_than_a_process_can_spare() {
        let sharing = Sharing::default();
        let loans = DESCRIPTORS_MAX / MemoryHandle::PARTS_MAX;
        for loan in 0..loans as Token {
            sharing.keep(PEER, loan, parts(MemoryHandle::PARTS_MAX)).expect("they are few yet");
        }
        assert!(matches!(sharing.keep(PEER, 99, parts(1)), Err(Detour::Crowded)));
        let name = MemoryHandle::Name([7; MemoryHandle::NAME_BYTES], 64);
        sharing.keep(PEER, 98, name).expect("a name is no descriptor");
        sharing.end_loan(0);
        sharing.keep(PEER, 99, parts(MemoryHandle::PARTS_MAX)).expect("another loan is over");
    }

    #[test]
    fn a_node_that_could_not_map_memory_is_told_of_none_in_that_way_any_more() {
        let sharing = Sharing::default();
        sharing.refuse_loan(PEER, 7);
        sharing.keep(PEER, 7, parts(1)).expect("it was not told of any");
        sharing.refuse_loan(PEER, 7);
        assert!(matches!(sharing.keep(PEER, 8, parts(1)), Err(Detour::Refused)));
        sharing.keep(NodeId(1), 8, parts(1)).expect("it is another one");
        let name = MemoryHandle::Name([7; MemoryHandle::NAME_BYTES], 64);
        sharing.keep(PEER, 9, name).expect("it is another way");
        assert_eq!(sharing.loans.lock().descriptors, 1);
    }

    /// As many as a frame says there are would be taken out of its sender.
    #[test]
    fn memory_of_more_descriptors_than_are_ever_told_or_of_no_process_is_not_imported() {
        let handle = parts(1);
        let NamedMemory::Allocations(one) = named(&handle) else { panic!("it has descriptors") };
        let told = |count: usize| NamedMemory::Allocations(one.repeat(count));
        assert!(handle_of(this_process(), &told(MemoryHandle::PARTS_MAX)).is_ok());
        let refused = handle_of(this_process(), &told(MemoryHandle::PARTS_MAX + 1));
        assert!(refused.is_err_and(|cause| cause.contains("17 descriptors")));
        for number in [0, -1, i32::MIN] {
            let refused = handle_of(number, &told(1));
            assert!(refused.is_err_and(|cause| cause.contains("no process has the number")), "{number}");
        }
    }

    #[test]
    fn memory_of_a_device_without_descriptors_is_told_of_once() {
        let sharing = Sharing::default();
        assert!(sharing.tell_of_unexported(64).is_some_and(|told| told.starts_with("64 bytes go ")));
        assert_eq!(sharing.tell_of_unexported(64), None);
    }
}
