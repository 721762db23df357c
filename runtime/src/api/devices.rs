//! Devices in programs: the device of a PE, streams, and callbacks that streams send.
//!
//! The PEs of a host are dealt the host's devices in blocks, so that each node has one for itself where there are as many. What the devices are, `+device` says ([`DeviceChoice`]); they are opened when a PE
//! first asks, so a program that never does pays nothing for them.
//!
//! ```
//! use chare::DeviceBufferMut;
//! use chare::devices::{self, DeviceChoice};
//!
//! let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
//!     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
//!     let mut field = DeviceBufferMut::<f32>::new(&device, 1000).expect("it has room");
//!     field.write(&stream, &[2.5; 1000]).expect("it has room");
//! });
//! assert_eq!(code.unwrap(), 0);
//! ```
//!
//! | a device buffer goes by | see |
//! |---|---|
//! | a `#[nocopy]` parameter | [`SendDeviceBuffer`](crate::SendDeviceBuffer), [`DeviceReceived`](crate::DeviceReceived) |
//! | a `#[nocopy(post)]` parameter | [`DevicePosted`](crate::DevicePosted), [`DeviceLanding`](crate::DeviceLanding) |
//! | registered memory | [`rget_device`](crate::rget_device), [`rput_device`](crate::rput_device) |

use crate::model::arguments::Arguments;
use crate::model::callback::Callback;
use crate::model::error::JobError;
pub use crate::node::devices::{DeviceChoice, DeviceChoiceError, DeviceModels};
use crate::pe::Pe;
use crate::transfer::device::{continue_later, sender};
#[cfg(feature = "cuda")]
pub use chare_device::Cuda;
pub use chare_device::{
    AdoptedMemory, Arena, Bell, Block, Choice, Device, DeviceBuffer, DeviceBufferMut, DeviceError, Event,
    Exported, Facts, Faults, Info, Landed, Leg, MemoryHandle, Method, Model, Passed, Pinned, Priority,
    Software, Span, Stream, Uuid, Way,
};

/// The device of the PE that runs this. Opens it, if no PE of the process has asked before: for CUDA that may take a second.
///
/// # Errors
/// [`DeviceError::NoDevice`], which says what is missing and what to do, and what the device says when it is opened.
///
/// # Panics
/// Outside a job's entries.
pub fn mine() -> Result<Device, DeviceError> {
    Pe::current(|pe| Ok(pe.node.devices.of(rank(pe))?.device.clone()))
}

/// A stream of the PE that runs this, on its device: made when it is first asked for, then always the same one.
///
/// # Errors
/// As for [`mine`].
///
/// # Panics
/// Outside a job's entries.
pub fn stream() -> Result<Stream, DeviceError> {
    Pe::current(|pe| pe.node.devices.stream(rank(pe)).cloned())
}

/// Measures how long this PE's device takes to pack and to move bytes, once: from then on the way of device arguments to other nodes and to
/// the host is chosen by that, and before by an order of methods ([`Model`]). Waits for the device, for about a second: call it before
/// the program begins, on each node. An earlier job that has measured the same device with the same driver has left what this one would find
/// ([`DeviceModels`]), and then it is known from the start, also where nobody calls this.
///
/// # Errors
/// As for [`mine`].
///
/// # Panics
/// Outside a job's entries.
pub fn measure() -> Result<Model, DeviceError> {
    Pe::current(|pe| pe.node.devices.of(rank(pe))?.measure().cloned())
}

fn rank(pe: &Pe) -> usize {
    pe.node.topology.rank_of(pe.id)
}

/// Callbacks that streams send.
pub trait StreamCallbacks {
    /// Sends a callback when the stream has done all that it was given so far. The caller goes on at once, and quiescence waits for it, as
    /// for a message. If the device is lost before, or does not take the order, the job ends with an error that says so.
    ///
    /// ```
    /// use chare::devices::{self, DeviceChoice, StreamCallbacks};
    /// use chare::{Callback, DeviceBufferMut};
    ///
    /// let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
    ///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
    ///     let field = DeviceBufferMut::<f32>::zeroed(&device, &stream, 1000).expect("it has room");
    ///     let is_done = stream.record().expect("it goes on");
    ///     let then = Callback::once(move |()| {
    ///         assert!(is_done.is_complete().expect("it is not lost"));
    ///         chare::exit(field.len() as i32 / 100);
    ///     });
    ///     stream.then(then);
    /// });
    /// assert_eq!(code.unwrap(), 10);
    /// ```
    ///
    /// It is what Charm++ calls `hapiAddCallback`; in an `async` entry, [`Stream::passed`] is awaited instead.
    ///
    /// # Panics
    /// Outside a job's entries.
    fn then(&self, callback: Callback<()>);
}

impl StreamCallbacks for Stream {
    fn then(&self, callback: Callback<()>) {
        let callback = callback.erase();
        Pe::current(|pe| {
            let what = format!("a callback of a stream, given in {},", sender());
            continue_later(&pe.node, self, move |node, passed| match passed {
                Ok(()) => node.fire(callback, Arguments::new(())),
                Err(cause) => node.fail(JobError::Device { what, node: node.id, cause }),
            });
        });
    }
}
