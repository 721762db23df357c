//! Backend of the software device.

#![expect(unsafe_code, reason = "implements a trait that adopts streams")]

use crate::backend::{Backend, Queue};
use crate::memory::mapping::{Domain, Mapping, MemoryHandle};
use crate::software::faults::{Chances, Faults};
use crate::software::mapped::{AdoptedMemory, Mapped, Ranges};
use crate::software::queue::{Carrier, SoftwareQueue};
use crate::software::shared::Shared;
#[cfg(feature = "sim")]
use crate::software::virtual_time::InTime;
use crate::tables::Tables;
use crate::words::error::DeviceError;
use crate::words::info::{Info, Priority, Uuid};
use parking_lot::Mutex;
use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// How the identities of all software devices begin.
pub(super) const UUID_PREFIX: &[u8; 12] = b"chare-softw.";

pub(crate) struct SoftwareBackend {
    shared: Arc<Shared>,
    tables: Arc<Tables>,
    /// Whether memory of the host's other software devices can be mapped.
    reaches_peers: bool,
    adopted: AdoptedMemory,
    faults: Faults,
    /// Chances of what no stream does.
    chances: Mutex<Chances>,
    /// Next number of chances; written by whoever makes a stream, and nothing else depends on it.
    next: AtomicU64,
    /// All memory of the device that is mapped here, for who adopts some.
    mapped: Mutex<Vec<Weak<Ranges>>>,
    /// Where it is in virtual time, if it is there and not in the machine's.
    #[cfg(feature = "sim")]
    in_time: Option<InTime>,
}

impl SoftwareBackend {
    pub(crate) fn new(info: Info, reaches_peers: bool, adopted: AdoptedMemory, faults: Faults) -> Self {
        let chances = Mutex::new(faults.chances(0));
        let shared = Arc::new(Shared::new(Arc::new(info)));
        let tables = Arc::new(Tables::new(shared.info()));
        Self {
            shared,
            tables,
            reaches_peers,
            adopted,
            faults,
            chances,
            next: AtomicU64::new(1),
            mapped: Mutex::default(),
            #[cfg(feature = "sim")]
            in_time: None,
        }
    }

    /// The same device in virtual time.
    #[cfg(feature = "sim")]
    pub(super) fn at(self, in_time: InTime) -> Self {
        Self { in_time: Some(in_time), ..self }
    }

    fn carrier(&self, chances: Chances) -> Result<Carrier, DeviceError> {
        #[cfg(feature = "sim")]
        if let Some(in_time) = &self.in_time {
            return Ok(Carrier::Virtual(in_time.stream(&self.shared, chances)));
        }
        Carrier::thread(&self.shared, chances)
    }

    fn remember(&self, mapped: &Mapped) {
        let mut here = self.mapped.lock();
        here.retain(|ranges| ranges.strong_count() > 0);
        here.push(Arc::downgrade(mapped.ranges()));
    }

    fn admit(&self, operation: &'static str) -> Result<(), DeviceError> {
        self.shared.check()?;
        if self.chances.lock().refuses() {
            return Err(DeviceError::refused(self.shared.info(), operation, "its faults said so"));
        }
        Ok(())
    }
}

impl Backend for SoftwareBackend {
    fn info(&self) -> &Arc<Info> {
        self.shared.info()
    }

    fn check(&self) -> Result<(), DeviceError> {
        self.shared.check()
    }

    fn map(&self, domain: Domain, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError> {
        self.admit("mapping memory")?;
        let mapped = Mapped::create(self.shared.info(), domain, bytes)?;
        if domain == Domain::Device {
            self.remember(&mapped);
        }
        Ok(Box::new(mapped))
    }

    fn import(&self, handle: MemoryHandle) -> Result<Box<dyn Mapping>, DeviceError> {
        self.admit("importing an arena")?;
        let mapped = Mapped::open(self.shared.info(), handle)?;
        self.remember(&mapped);
        Ok(Box::new(mapped))
    }

    fn reaches(&self, other: Uuid) -> bool {
        self.reaches_peers && other.0.starts_with(UUID_PREFIX)
    }

    fn tables_copied(&self) -> u64 {
        self.tables.copied()
    }

    fn adopt(&self, address: u64, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError> {
        self.admit("adopting memory")?;
        let here = self.mapped.lock();
        let adopt = |ranges| Mapped::adopt(ranges, (address, bytes), self.adopted);
        let found = here.iter().filter_map(Weak::upgrade).find_map(adopt);
        let cause = || format!("{bytes} bytes at {address:#x} lie in none of its memory");
        let found = found.ok_or_else(|| DeviceError::refused(self.shared.info(), "adopting memory", cause()));
        Ok(Box::new(found?))
    }

    unsafe fn adopt_queue(
        &self,
        _raw: *mut c_void,
        _guard: Box<dyn Any + Send + Sync>,
    ) -> Result<Box<dyn Queue>, DeviceError> {
        self.admit("adopting a stream")?;
        Err(DeviceError::refused(self.shared.info(), "adopting a stream", "it has none but its own"))
    }

    /// All streams are alike: priorities of threads are the system's business.
    fn queue(&self, _priority: Priority) -> Result<Box<dyn Queue>, DeviceError> {
        self.admit("making a stream")?;
        let numbers = self.next.fetch_add(2, Ordering::Relaxed);
        let [here, there] = [numbers, numbers + 1].map(|number| self.faults.chances(number));
        Ok(Box::new(SoftwareQueue::new(&self.shared, &self.tables, self.carrier(there)?, here)))
    }
}
