//! Local arguments: nocopy arguments that have not left their process, by the memory they lie in.

use super::arrived::Arrived;
use super::device::LeavingDevice;
use super::kind::NocopyKind;
use super::outgoing::Leaving;

/// A nocopy argument on its way to one chare that has not left its process.
#[derive(Clone)]
pub(crate) enum Local {
    /// In memory of the host.
    Host(Leaving),
    /// In memory of a device.
    Device(LeavingDevice),
}

impl Local {
    /// Whether a parameter of this kind takes the argument as it is.
    #[inline]
    pub(crate) fn is_ready(&self, kind: NocopyKind) -> bool {
        match self {
            Self::Host(leaving) => {
                leaving.layout.is_none() && matches!(kind, NocopyKind::Received | NocopyKind::Viewed)
            }
            Self::Device(_) => false,
        }
    }

    /// Bytes of the argument, packed.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Host(leaving) => leaving.bytes(),
            Self::Device(leaving) => leaving.bytes(),
        }
    }

    /// Bytes of the host that this node keeps because another sent them.
    pub(crate) fn kept_bytes(&self) -> usize {
        match self {
            Self::Host(leaving) => leaving.kept_bytes(),
            Self::Device(_) => 0,
        }
    }
}

impl From<Leaving> for Local {
    fn from(leaving: Leaving) -> Self {
        Self::Host(leaving)
    }
}

impl From<Arrived> for Local {
    /// An argument that arrived for a chare that lives elsewhere travels on from here.
    fn from(arrived: Arrived) -> Self {
        match arrived {
            Arrived::Received { memory, layout, release } => {
                Self::Host(Leaving { layout, ..Leaving::plain(memory, release) })
            }
            Arrived::Posted(filled) => Self::Host(filled.into_leaving()),
            Arrived::Device(buffer) => Self::Device(LeavingDevice { buffer, layout: None, release: None }),
            Arrived::DevicePosted(filled) => Self::Device(filled.into_leaving()),
        }
    }
}
