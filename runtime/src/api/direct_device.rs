//! The Direct API for devices: `rget_device` reads and `rput_device` writes registered memory of a device, any number of times.
//!
//! Handles come from [`RegisteredDeviceSource`](crate::RegisteredDeviceSource) and
//! [`RegisteredDeviceTarget`](crate::RegisteredDeviceTarget). Nobody waits for a stream: a transfer comes after what streams were given
//! before, and what they are given afterwards comes after the transfer. A handle that is stale, or a device that is lost, ends the job with
//! an error that says so, or comes back as [`DeviceTransferFailed`] to a caller of one of the `try_` functions. A peer that is gone ends the
//! job.

use super::direct::Misfit;
use crate::model::nocopy::{
    Completion, DeviceLanding, DeviceSourceHandle, DeviceTargetHandle, DeviceTransferFailed,
    DeviceTransferred, Element, OutgoingDevice, SendDeviceBuffer, SentDevice,
};
use crate::node::Node;
use crate::pe::Pe;
use crate::transfer::device::{Unfilled, check_device, get, put, sender, transfer_failed};
use chare_device::DeviceBufferMut;
use std::sync::{Arc, OnceLock};

/// Reads a peer's elements into `into`: a device buffer from its start on, which may be longer, or a [`DeviceLanding`] where its layout
/// says. `done` receives the buffer when it is filled; it must be a callback of this node. One step on the device where both have the same
/// one, else as a posted device argument comes; a message to the owner and one back before that.
///
/// A handle that is stale when the transfer runs, and a device that is lost, end the job with an error that says so; see
/// [`try_rget_device`].
///
/// # Errors
/// [`Misfit`] when `into` is shorter than what the handle means, or of another length by a layout.
///
/// # Panics
/// Outside a job's entries, and if the buffer is of a device that the program opened itself.
pub fn rget_device<T: Element>(
    from: &DeviceSourceHandle<T>,
    into: impl Into<DeviceLanding<T>>,
    done: impl Into<Completion<SentDevice<T>>>,
) -> Result<(), Misfit<DeviceBufferMut<T>>> {
    let done = done.into();
    read(from, into.into(), move |node, outcome| match outcome {
        Ok(filled) => {
            let (callback, filled) = done.finish(filled);
            node.fire(callback, filled);
            Ok(())
        }
        Err(failed) => Err(failed),
    })
}

/// Reads as [`rget_device`] does, by handles that may have become stale, and from devices that may be lost: a failure goes to `done`, and the
/// job goes on.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::{DeviceBufferMut, DeviceTransferred, RegisteredDeviceSource, try_rget_device};
///
/// let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let zeros = |len| DeviceBufferMut::<u32>::zeroed(&device, &stream, len).expect("it has room");
///     let source = RegisteredDeviceSource::register(zeros(100).freeze());
///     let handle = source.handle();
///     drop(source);
///     let (outcome, done) = chare::future::<DeviceTransferred<u32>>();
///     try_rget_device(&handle, zeros(100), done).expect("it is as long");
///     let failed = outcome.await.expect_err("the handle is stale");
///     assert!(failed.to_string().contains("stale"));
///     assert_eq!(failed.buffer.expect("nobody had it").len(), 100);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// As for [`rget_device`].
///
/// # Panics
/// As for [`rget_device`].
pub fn try_rget_device<T: Element>(
    from: &DeviceSourceHandle<T>,
    into: impl Into<DeviceLanding<T>>,
    done: impl Into<Completion<DeviceTransferred<T>>>,
) -> Result<(), Misfit<DeviceBufferMut<T>>> {
    let done = done.into();
    read(from, into.into(), move |node, outcome| {
        let (callback, outcome) = done.finish(outcome);
        node.fire(callback, outcome);
        Ok(())
    })
}

/// Writes a device buffer into a peer's elements, from the start of what the handle means on: the whole buffer, or what
/// [`SendDeviceBuffer::only`] selects of it. [`SendDeviceBuffer::on_sent`] tells when the elements are there. Cost as of
/// [`rget_device`], by one message less.
///
/// A handle that is stale when the transfer runs, and a device that is lost, end the job with an error that says so; see
/// [`try_rput_device`].
///
/// # Errors
/// [`Misfit`] when there are more elements than the handle means, or not as many as its layout selects.
///
/// # Panics
/// As [`rget_device`].
#[expect(clippy::result_large_err, reason = "what was given comes back as it is")]
pub fn rput_device<S: Element, T: Element>(
    from: impl Into<SendDeviceBuffer<S, T>>,
    to: &DeviceTargetHandle<T>,
) -> Result<(), Misfit<SendDeviceBuffer<S, T>>> {
    let from = fitting(from.into(), to)?;
    let (node, what) = begun("rput_device");
    put(&node, from.outgoing(), to.remote.clone(), move |node, written| {
        if let Err(cause) = written {
            transfer_failed(node, what, cause);
        }
    });
    Ok(())
}

/// Writes as [`rput_device`] does, by handles that may have become stale, and to devices that may be lost: a failure goes to `done`, and the
/// job goes on. `done` receives the buffer either way, in the place of [`SendDeviceBuffer::on_sent`]; it must be a callback of this node.
/// After a failure the peer's elements may be written in part.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::{DeviceBufferMut, DeviceTransferred, RegisteredDeviceTarget, try_rput_device};
///
/// let code = chare::Job::in_process(1, 1).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let zeros = |len| DeviceBufferMut::<u32>::zeroed(&device, &stream, len).expect("it has room");
///     let target = RegisteredDeviceTarget::register(zeros(100));
///     let (outcome, done) = chare::future::<DeviceTransferred<u32>>();
///     try_rput_device(zeros(10), &target.handle(), done).expect("it fits");
///     assert_eq!(outcome.await.expect("it is registered").transferred(), 10);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// As for [`rput_device`].
///
/// # Panics
/// As [`rget_device`], and if the buffer has an [`on_sent`](SendDeviceBuffer::on_sent) of its own.
#[expect(clippy::result_large_err, reason = "what was given comes back as it is")]
pub fn try_rput_device<S: Element, T: Element>(
    from: impl Into<SendDeviceBuffer<S, T>>,
    to: &DeviceTargetHandle<T>,
    done: impl Into<Completion<DeviceTransferred<S>>>,
) -> Result<(), Misfit<SendDeviceBuffer<S, T>>> {
    let from = fitting(from.into(), to)?;
    let (node, _) = begun("try_rput_device");
    // Written before the buffer's release is dropped, which looks at it.
    let failed = Arc::new(OnceLock::new());
    let outgoing: OutgoingDevice = from.outgoing_tried(done.into(), Arc::clone(&failed));
    put(&node, outgoing, to.remote.clone(), move |_, written| {
        if let Err(cause) = written {
            failed.set(cause).expect("a transfer ends once");
        }
    });
    Ok(())
}

/// Begins a read, whose outcome `finish` takes; what it does not take ends the job.
fn read<T: Element>(
    from: &DeviceSourceHandle<T>,
    into: DeviceLanding<T>,
    finish: impl FnOnce(&Arc<Node>, DeviceTransferred<T>) -> Result<(), DeviceTransferFailed<T>> + Send + 'static,
) -> Result<(), Misfit<DeviceBufferMut<T>>> {
    let (have, need) = (into.len(), from.len());
    if have < need || have > need && into.has_layout() {
        let cure = "use a landing as long as the handle, or select less of the handle";
        return Err(Misfit { buffer: into.into_buffer(), have, need, cure });
    }
    let (node, what) = begun("rget_device");
    let mut posted = into.into_posted();
    posted.bytes = need * size_of::<T>();
    check_device(&node, posted.buffer.device());
    get(&node, from.remote.clone(), posted, move |node, landed| {
        let typed = |buffer: DeviceBufferMut<u8>| {
            let buffer = buffer.typed().unwrap_or_else(|_| unreachable!("it was such a buffer"));
            buffer.freeze()
        };
        let outcome = match landed {
            Ok(buffer) => Ok(SentDevice::new(typed(buffer), need)),
            Err(Unfilled { cause, buffer }) => Err(DeviceTransferFailed { buffer: buffer.map(typed), cause }),
        };
        if let Err(failed) = finish(node, outcome) {
            transfer_failed(node, what, failed.cause);
        }
    });
    Ok(())
}

/// What is to be written, if it fits.
///
/// # Errors
/// It, if it does not.
#[expect(clippy::result_large_err, reason = "what was given comes back as it is")]
fn fitting<S: Element, T: Element>(
    from: SendDeviceBuffer<S, T>,
    to: &DeviceTargetHandle<T>,
) -> Result<SendDeviceBuffer<S, T>, Misfit<SendDeviceBuffer<S, T>>> {
    let (have, need) = (from.len(), to.len());
    if have > need || have < need && to.remote.layout.is_some() {
        let cure = "send as many elements as the handle selects";
        return Err(Misfit { buffer: from, have, need, cure });
    }
    Ok(from)
}

/// The node, and what to call a transfer that begins here.
fn begun(name: &str) -> (Arc<Node>, String) {
    Pe::current(|pe| (Arc::clone(&pe.node), format!("{name}, begun by {}", sender())))
}
