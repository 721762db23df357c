//! Sharing of device memory between the processes of a host: descriptors of arenas that this node has given others, and arenas that it has
//! mapped of theirs.
//!
//! A descriptor is taken out of its owner's process by number, which needs the right that a copy of its memory by the kernel needs.

use crate::model::nocopy::{MappedDevice, ToldLayout};
use chare_device::{Arena, Device, DeviceBuffer, DeviceError};
use chare_layout::Raw;
use chare_lrts::NodeId;
use parking_lot::Mutex;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Arenas on either side of the border of this process. They stay as long as the node.
#[derive(Default)]
pub(crate) struct Sharing {
    /// By address.
    given: Mutex<HashMap<u64, OwnedFd>>,
    /// By owner, and the number of its descriptor.
    mapped: Mutex<HashMap<(NodeId, i32), Arena>>,
}

impl Sharing {
    /// Names the arena of a buffer for other processes of the host, and the buffer's place in it.
    ///
    /// # Errors
    /// [`DeviceError::Refused`].
    pub(crate) fn name(
        &self,
        buffer: &DeviceBuffer<u8>,
        layout: Option<&Arc<Raw>>,
    ) -> Result<MappedDevice, DeviceError> {
        let arena = buffer.arena();
        let mut given = self.given.lock();
        let descriptor = match given.entry(arena.address()) {
            Entry::Occupied(given) => given.get().as_raw_fd(),
            Entry::Vacant(place) => place.insert(arena.export()?).as_raw_fd(),
        };
        Ok(MappedDevice {
            process: std::process::id() as i32,
            descriptor,
            arena_bytes: arena.len(),
            offset: buffer.offset(),
            bytes: buffer.len() as u64,
            layout: layout.cloned().map(ToldLayout),
        })
    }

    /// The arena that another node of the host has named, mapped for a device of this node.
    ///
    /// # Errors
    /// What the kernel or the device says, in words.
    pub(crate) fn map(&self, device: &Device, owner: NodeId, named: &MappedDevice) -> Result<Arena, String> {
        let key = (owner, named.descriptor);
        let mut mapped = self.mapped.lock();
        if let Some(arena) = mapped.get(&key) {
            return Ok(arena.clone());
        }
        let process = Pid::from_raw(named.process).ok_or_else(|| format!("process {}", named.process))?;
        let descriptor = pidfd_open(process, PidfdFlags::empty())
            .and_then(|process| pidfd_getfd(process, named.descriptor, PidfdGetfdFlags::empty()))
            .map_err(|error| error.to_string())?;
        let arena = device.import(descriptor, named.arena_bytes).map_err(|error| error.to_string())?;
        mapped.insert(key, arena.clone());
        Ok(arena)
    }
}
