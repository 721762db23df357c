//! Memory of a CUDA device, as arenas have it.

use crate::cuda::context::Context;
use crate::cuda::sys::{HostMemory, Memory, owner_of};
use crate::memory::mapping::{DmaBuf, Domain, Mapping, Registrable};
use crate::words::error::DeviceError;
use rustix::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

/// Memory, and the context that it is given back in: fields are dropped in this order, after `drop` has entered it.
pub(crate) struct Mapped {
    memory: Kind,
    /// What the driver gave for networks, once it was asked; it stays until the memory goes.
    dma_buf: OnceLock<Arc<OwnedFd>>,
    context: Arc<Context>,
}

enum Kind {
    Device(Memory),
    Host(HostMemory),
    /// Where it starts, and its bytes: somebody else made it.
    Adopted(u64, u64),
}

impl Mapped {
    fn of(memory: Kind, context: &Arc<Context>) -> Self {
        Self { memory, dma_buf: OnceLock::new(), context: Arc::clone(context) }
    }

    pub(crate) fn create(context: &Arc<Context>, domain: Domain, bytes: u64) -> Result<Self, DeviceError> {
        context.enter()?;
        let created = match domain {
            Domain::Device => {
                let device = context.primary().device();
                Memory::create(device, bytes, context.info()).map(Kind::Device)
            }
            Domain::Host => HostMemory::create(bytes).map(Kind::Host),
        };
        let kind = created.map_err(|code| {
            let (device, asked, most) = (context.info().to_string(), bytes, context.info().memory_bytes);
            match domain {
                // Other processes have taken it.
                Domain::Device if code.is_out_of_memory() => DeviceError::OutOfMemory { device, asked, most },
                _ => context.fault("mapping memory", code),
            }
        })?;
        Ok(Self::of(kind, context))
    }

    pub(crate) fn import(
        context: &Arc<Context>,
        descriptor: &OwnedFd,
        bytes: u64,
    ) -> Result<Self, DeviceError> {
        context.enter()?;
        let imported = Memory::import(context.primary().device(), descriptor, bytes);
        let memory = imported.map_err(|code| match context.fault("importing an arena", code) {
            lost @ DeviceError::Lost { .. } => lost,
            _ => DeviceError::import(context.info(), code),
        })?;
        Ok(Self::of(Kind::Device(memory), context))
    }

    pub(crate) fn adopt(context: &Arc<Context>, address: u64, bytes: u64) -> Result<Self, DeviceError> {
        context.enter()?;
        let owner = owner_of(address).map_err(|code| context.fault("adopting memory", code))?;
        if owner != context.primary().device() {
            let cause = format!("{address:#x} is memory of device {owner}");
            return Err(DeviceError::refused(context.info(), "adopting memory", cause));
        }
        Ok(Self::of(Kind::Adopted(address, bytes), context))
    }
}

/// What is asked for, in errors.
const REGISTERING: &str = "registering memory";

impl Mapping for Mapped {
    fn address(&self) -> u64 {
        match &self.memory {
            Kind::Device(memory) => memory.address(),
            Kind::Host(memory) => memory.address(),
            Kind::Adopted(address, _) => *address,
        }
    }

    fn len(&self) -> u64 {
        match &self.memory {
            Kind::Device(memory) => memory.len(),
            Kind::Host(memory) => memory.len(),
            Kind::Adopted(_, bytes) => *bytes,
        }
    }

    fn export(&self) -> Result<OwnedFd, DeviceError> {
        self.context.enter()?;
        let refused = |cause: &str| DeviceError::refused(self.context.info(), "exporting an arena", cause);
        match &self.memory {
            Kind::Device(_) if !self.context.info().is_exportable => {
                Err(refused("its driver exports no memory as descriptors"))
            }
            Kind::Device(memory) => {
                memory.export().map_err(|code| self.context.fault("exporting an arena", code))
            }
            Kind::Host(_) => Err(refused("it is pinned")),
            Kind::Adopted(..) => Err(refused("it was adopted")),
        }
    }

    fn registrable(&self) -> Result<Registrable, DeviceError> {
        self.context.enter()?;
        let refused = |cause: &str| DeviceError::refused(self.context.info(), REGISTERING, cause);
        let Kind::Device(memory) = &self.memory else {
            return Err(refused("it is no memory of ours on the device"));
        };
        if !self.context.info().is_registrable {
            return Err(refused(
                "the driver makes no dma-buf of it, or does not order what a network writes",
            ));
        }
        let descriptor = match self.dma_buf.get() {
            Some(descriptor) => descriptor,
            None => {
                let made = memory.dma_buf().map_err(|code| self.context.fault(REGISTERING, code))?;
                self.dma_buf.get_or_init(|| Arc::new(made))
            }
        };
        let dma_buf = DmaBuf { descriptor: Arc::clone(descriptor), offset: 0 };
        Ok(Registrable { address: memory.address(), dma_buf: Some(dma_buf) })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // A context that is lost gives nothing back, and is asked all the same.
        let _ = self.context.enter();
    }
}
