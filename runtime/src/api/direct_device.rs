//! The Direct API for devices: `rget_device` reads and `rput_device` writes registered memory of a device, any number of times.
//!
//! Handles come from [`RegisteredDeviceSource`](crate::RegisteredDeviceSource) and
//! [`RegisteredDeviceTarget`](crate::RegisteredDeviceTarget). Nobody waits for a stream: a transfer comes after what streams were given
//! before, and what they are given afterwards comes after the transfer. A handle that is stale, a device that is lost, or a peer that is
//! gone ends the job with an error that says so.

use super::direct::Misfit;
use crate::delivery::zerocopy::device::{check_device, get, put, take_charge};
use crate::model::nocopy::{
    Completion, DeviceLanding, DeviceSourceHandle, DeviceTargetHandle, Element, NocopyArgument, Outgoing,
    SendDeviceBuffer, SentDevice,
};
use crate::node::Node;
use crate::pe::Pe;
use chare_device::DeviceBufferMut;
use std::sync::Arc;

/// Reads a peer's elements into `into`: a device buffer from its start on, which may be longer, or a [`DeviceLanding`] where its layout
/// says. `done` receives the buffer when it is filled; it must be a callback of this node. One step on the device where both have the same
/// one, else as a posted device argument comes; a message to the owner and one back before that.
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
    let (into, done, need) = (into.into(), done.into(), from.len());
    let have = into.len();
    if have < need || have > need && into.has_layout() {
        let cure = "use a landing as long as the handle, or select less of the handle";
        return Err(Misfit { buffer: into.into_buffer(), have, need, cure });
    }
    let (node, what) = begun("rget_device");
    let mut posted = into.into_posted();
    posted.bytes = need * size_of::<T>();
    check_device(&node, posted.buffer.device());
    get(&node, from.remote.clone(), posted, what, move |node, buffer| {
        let buffer: DeviceBufferMut<T> =
            buffer.typed().unwrap_or_else(|_| unreachable!("it was such a buffer"));
        let (callback, filled) = done.finish(SentDevice::new(buffer.freeze(), need));
        node.fire(callback, filled);
    });
    Ok(())
}

/// Writes a device buffer into a peer's elements, from the start of what the handle means on: the whole buffer, or what
/// [`SendDeviceBuffer::only`] selects of it. [`SendDeviceBuffer::on_sent`] tells when the elements are there. Cost as of
/// [`rget_device`], by one message less.
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
    let (from, need) = (from.into(), to.len());
    let have = from.len();
    if have > need || have < need && to.remote.layout.is_some() {
        let cure = "send as many elements as the handle selects";
        return Err(Misfit { buffer: from, have, need, cure });
    }
    let (node, what) = begun("rput_device");
    let Outgoing::Device(outgoing) = from.erase() else { unreachable!("it lies on a device") };
    let leaving = take_charge(&node, outgoing);
    put(&node, leaving, to.remote.clone(), what);
    Ok(())
}

/// The node, and what to call a transfer that begins here.
fn begun(name: &str) -> (Arc<Node>, String) {
    Pe::current(|pe| (Arc::clone(&pe.node), format!("{name}, begun by {}", pe.running().describe())))
}
