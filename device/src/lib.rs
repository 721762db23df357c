//! Devices: memory that the host cannot touch, streams that copy in it, events, and memory that processes share.
//!
//! ```
//! use chare_device::{Bell, Device, DeviceError, Priority, Software};
//! use chare_layout::{Layout, Plan};
//! use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Software::default().open();
//! let (mut staged, field) = (device.pinned(64)?, device.allocate(64)?);
//! staged.bytes().expect("no stream uses it").fill(7);
//!
//! // Every other byte of the first 64, to the front of the field.
//! let plan = Plan::pack(Layout::<u8>::vector(32, 1, 2)?.raw())?;
//! let stream = device.stream(Priority::Normal)?;
//! // SAFETY: nobody else uses either memory.
//! unsafe { stream.step(&Arc::new(plan), &staged.span(), &field.span())? };
//! let packed = stream.record()?;
//!
//! // Whoever would sleep on it has the stream ring; async code awaits `stream.passed()`.
//! let bell = Bell::new()?;
//! stream.ring(&bell)?;
//! bell.wait()?;
//! assert!(packed.is_complete()?);
//! # Ok(())
//! # }
//! ```
//!
//! 1. *Device memory is never a Rust reference*: a [`Block`] is an address and a length for the device's own use. What a host
//!    reads or writes lies in [`Pinned`] memory, which shows its bytes while no stream has a share in it.
//! 2. *A stream does one thing after the other*, and takes its orders without waiting. What two streams do is ordered by events
//!    alone.
//! 3. *Memory is shared with the commands that use it*: a block that is dropped goes back to its arena when the last command of
//!    a stream that names it is over. Nobody waits.
//! 4. *Arenas are exported*, as descriptors or by the driver's names, and a process that imports one has the same memory.
//! 5. *An error that a device does not recover from stays*: each later call returns it, and sleepers wake.
//! 6. *Buffers are safe*: a [`DeviceBufferMut`] or [`DeviceBuffer`] carries what streams still do with it, so that the next stream waits,
//!    and nobody else.
//! 7. *One layer checks*: what stands in `device`, `stream` and `memory` checks bounds and owners once, for all backends.
//!
//! It knows no chare and no network.

mod backend;
mod buffer;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod event;
mod launch;
mod memory;
mod method;
mod model;
mod passed;
mod software;
mod stream;
mod tables;
mod values;
mod words;

pub use buffer::batch::{Batch, Done};
pub use buffer::exclusive::DeviceBufferMut;
pub use buffer::landed::Landed;
pub use buffer::order::Uses;
pub use buffer::shared::DeviceBuffer;
#[cfg(feature = "cuda")]
pub use cuda::Cuda;
pub use device::Device;
pub use event::Event;
pub use memory::arena::Arena;
pub use memory::block::Block;
pub use memory::mapping::{DmaBuf, Exported, MemoryHandle, Registrable};
pub use memory::pinned::Pinned;
pub use memory::span::Span;
pub use method::{Method, Way};
pub use model::Model;
pub use model::choice::{Choice, Facts, Leg};
pub use passed::Passed;
pub use software::Software;
pub use software::faults::Faults;
pub use software::mapped::AdoptedMemory;
#[cfg(feature = "sim")]
pub use software::virtual_time::{DeviceSpeeds, VirtualTime};
pub use stream::{Lanes, Stream};
pub use values::{ValuesBy, deserialize_by};
pub use words::bell::Bell;
pub use words::error::DeviceError;
pub use words::info::{Info, Priority, Uuid};
