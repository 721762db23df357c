//! Backend of the software device.

use crate::backend::{Backend, Queue};
use crate::memory::mapping::{Domain, Mapping};
use crate::software::faults::{Chances, Faults};
use crate::software::mapped::Mapped;
use crate::software::queue::SoftwareQueue;
use crate::software::shared::Shared;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use crate::words::priority::Priority;
use parking_lot::Mutex;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct SoftwareBackend {
    shared: Arc<Shared>,
    faults: Faults,
    /// Chances of what no stream does.
    chances: Mutex<Chances>,
    /// Next number of chances; written by whoever makes a stream, and nothing else depends on it.
    next: AtomicU64,
}

impl SoftwareBackend {
    pub(crate) fn new(info: Info, faults: Faults) -> Self {
        let chances = Mutex::new(faults.chances(0));
        Self { shared: Arc::new(Shared::new(Arc::new(info))), faults, chances, next: AtomicU64::new(1) }
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
        Ok(Box::new(Mapped::create(self.shared.info(), domain, bytes)?))
    }

    fn import(&self, descriptor: OwnedFd, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError> {
        self.admit("importing an arena")?;
        Ok(Box::new(Mapped::open(self.shared.info(), descriptor, bytes)?))
    }

    /// All streams are alike: priorities of threads are the system's business.
    fn queue(&self, _priority: Priority) -> Result<Box<dyn Queue>, DeviceError> {
        self.admit("making a stream")?;
        let numbers = self.next.fetch_add(2, Ordering::Relaxed);
        let chances = [numbers, numbers + 1].map(|number| self.faults.chances(number));
        Ok(Box::new(SoftwareQueue::start(&self.shared, chances)?))
    }
}
