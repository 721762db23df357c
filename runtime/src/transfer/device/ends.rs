//! Ends of a device argument's way: where it comes from, and where it is to be.

use crate::model::ids::PeId;
use crate::model::nocopy::{Descriptor, Local, NocopyKind};
use crate::node::Node;
use crate::node::devices::is_same;
use chare_device::Device;

/// Where an argument comes from.
pub(in crate::transfer) enum Origin {
    /// It is in this process.
    Here(Local),
    /// It is in another one.
    There(Descriptor),
}

/// Where an argument is to be: a parameter of this kind, on this PE.
#[derive(Clone, Copy)]
pub(in crate::transfer) struct End {
    pub(in crate::transfer) pe: PeId,
    pub(in crate::transfer) kind: NocopyKind,
}

impl End {
    /// Whether the runtime is to provide memory of this device.
    pub(super) fn is_on(self, node: &Node, device: &Device) -> bool {
        let rank = node.rank_here(self.pe).expect("arguments are brought in where their chare is");
        self.kind == NocopyKind::DeviceReceived
            && node.devices.of(rank).is_ok_and(|held| is_same(&held.device, device))
    }
}

/// # Panics
/// If a buffer is of a device that the job does not know.
pub(crate) fn check_device(node: &Node, device: &Device) {
    assert!(
        node.devices.held(device).is_some(),
        "a buffer of {}, which the program opened itself, cannot be sent: allocate it on `chare::devices::mine()`",
        device.info()
    );
}
