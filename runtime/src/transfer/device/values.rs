//! Device buffers as values: on which device they are made when they come from another process.

use crate::pe::Pe;
use chare_device::{Device, DeviceError, Stream, deserialize_by};
use std::rc::Rc;

/// Has values be made on the device of the PE that decodes them, by a stream of the node that may wait for kernels
/// of the program.
pub(crate) fn place_values() {
    deserialize_by(|| Pe::try_current(of_pe).unwrap_or_else(|| Err(none())));
}

fn of_pe(pe: &Rc<Pe>) -> Result<(Device, Stream), DeviceError> {
    let held = pe.node.devices.of(pe.node.topology.rank_of(pe.id))?;
    Ok((held.device.clone(), held.streams.behind(&held.device)?.clone()))
}

fn none() -> DeviceError {
    let cause = "a device buffer is made of bytes outside a job's PEs, where nobody says on which one";
    DeviceError::NoDevice { cause: cause.to_owned() }
}
