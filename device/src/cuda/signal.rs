//! Signals of a CUDA device: events of the driver.

use crate::backend::Signal;
use crate::cuda::context::Context;
use crate::cuda::kept::Kept;
use crate::cuda::spares::Spare;
use crate::cuda::sys::Event;
use crate::words::error::DeviceError;
use std::any::Any;
use std::sync::Arc;

/// Fields are dropped in this order: the context is the last.
pub(crate) struct CudaSignal {
    pub(crate) event: Arc<Spare<Event>>,
    pub(crate) kept: Arc<Kept>,
    pub(crate) context: Arc<Context>,
}

impl Signal for CudaSignal {
    fn is_complete(&self) -> Result<bool, DeviceError> {
        self.context.enter()?;
        let asked = self.event.is_complete().and_then(|is_complete| {
            if is_complete {
                self.kept.let_go()?;
            }
            Ok(is_complete)
        });
        asked.map_err(|code| self.context.fault("asking an event", code))
    }

    fn nanoseconds_since(&self, earlier: &dyn Signal) -> Result<u64, DeviceError> {
        let earlier: &dyn Any = earlier;
        let earlier: &Self = earlier.downcast_ref().expect("both are stamps of one device");
        self.context.enter()?;
        let asked = self.event.nanoseconds_since(&earlier.event);
        asked.map_err(|code| self.context.fault("asking an event when it was", code))
    }
}

impl Drop for CudaSignal {
    fn drop(&mut self) {
        // The event is given back in its context, if it goes with the last of its stream. One that is lost gives nothing back, and is asked all the same.
        let _ = self.context.enter();
    }
}
