//! Backend of a CUDA device.

#![expect(unsafe_code, reason = "implements a trait that adopts streams")]

use crate::backend::{Backend, Queue};
use crate::cuda::context::Context;
use crate::cuda::kernels::Kernels;
use crate::cuda::mapped::Mapped;
use crate::cuda::queue::CudaQueue;
use crate::cuda::sys::{Primary, Stream, load};
use crate::memory::mapping::{Domain, Mapping, MemoryHandle};
use crate::tables::Tables;
use crate::words::error::DeviceError;
use crate::words::info::{Info, Priority, Uuid};
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

pub(crate) struct CudaBackend {
    /// Devices whose memory it can map, of those that this process sees.
    peers: Vec<[u8; 16]>,
    kernels: Arc<Kernels>,
    tables: Arc<Tables>,
    context: Arc<Context>,
}

impl CudaBackend {
    /// How many devices the driver has found.
    pub(crate) fn count() -> Result<u32, DeviceError> {
        load().map_err(|cause| DeviceError::NoDevice { cause })?;
        Primary::count().map_err(|code| DeviceError::NoDevice { cause: code.to_string() })
    }

    /// A device, of which at most so many bytes are used.
    pub(crate) fn open(ordinal: u32, memory_bytes: u64, pinned_bytes: u64) -> Result<Self, DeviceError> {
        let count = Self::count()?;
        if ordinal >= count {
            let cause = format!("number {ordinal} was asked for, and the driver has {count}, counted from 0");
            return Err(DeviceError::NoDevice { cause });
        }
        let retained = Primary::retain(ordinal);
        let (primary, facts) = retained.map_err(|code| DeviceError::Refused {
            operation: "opening it",
            device: format!("device {ordinal}"),
            cause: code.to_string(),
        })?;
        let info = Arc::new(Info {
            name: facts.name,
            ordinal,
            uuid: Uuid(facts.uuid),
            memory_bytes: memory_bytes.min(facts.memory_bytes),
            pinned_bytes,
            driver: Some(facts.driver),
            copy_engines: facts.copy_engines,
            is_exportable: facts.has_descriptors,
            is_registrable: facts.is_registrable,
        });
        let context = Arc::new(Context::new(info, primary));
        context.enter()?;
        let kernels = Kernels::load().map_err(|code| context.fault("loading kernels", code))?;
        let tables = Arc::new(Tables::new(context.info()));
        Ok(Self { peers: facts.peers, kernels: Arc::new(kernels), tables, context })
    }
}

impl Backend for CudaBackend {
    fn info(&self) -> &Arc<Info> {
        self.context.info()
    }

    fn check(&self) -> Result<(), DeviceError> {
        self.context.check()
    }

    fn map(&self, domain: Domain, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError> {
        Ok(Box::new(Mapped::create(&self.context, domain, bytes)?))
    }

    fn import(&self, handle: MemoryHandle) -> Result<Box<dyn Mapping>, DeviceError> {
        Ok(Box::new(Mapped::import(&self.context, &handle)?))
    }

    fn reaches(&self, other: Uuid) -> bool {
        self.peers.contains(&other.0)
    }

    fn tables_copied(&self) -> u64 {
        self.tables.copied()
    }

    fn adopt(&self, address: u64, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError> {
        Ok(Box::new(Mapped::adopt(&self.context, address, bytes)?))
    }

    unsafe fn adopt_queue(
        &self,
        raw: *mut c_void,
        guard: Box<dyn Any + Send + Sync>,
    ) -> Result<Box<dyn Queue>, DeviceError> {
        self.context.enter()?;
        self.context.sweep();
        // SAFETY: the caller's promise.
        let stream = unsafe { Stream::adopted(raw, guard) };
        Ok(Box::new(CudaQueue::new(&self.context, &self.kernels, &self.tables, stream)))
    }

    fn queue(&self, priority: Priority) -> Result<Box<dyn Queue>, DeviceError> {
        self.context.enter()?;
        self.context.sweep();
        let stream = Stream::new(priority == Priority::High);
        let stream = stream.map_err(|code| self.context.fault("making a stream", code))?;
        Ok(Box::new(CudaQueue::new(&self.context, &self.kernels, &self.tables, stream)))
    }
}

impl Drop for CudaBackend {
    fn drop(&mut self) {
        self.context.close();
        // For what is given back after this.
        let _ = self.context.enter();
    }
}
