//! Arrived nocopy arguments: ready for the entry, their element type forgotten, and what makes parameters of them.

use super::buffer::Element;
use super::device::DeviceFilled;
use super::kind::NocopyKind;
use super::landing::PostedMemory;
use super::outgoing::Leaving;
use super::release::{Release, awaited};
use chare_device::DeviceBuffer;
use chare_layout::Raw;
use chare_lrts::Memory;
use std::sync::Arc;

/// A nocopy argument that the entry may use.
pub(crate) enum Arrived {
    /// To be read in place, as far as the layout selects it; the sender is told when the release is dropped.
    Received { memory: Memory, layout: Option<Arc<Raw>>, release: Option<Arc<Release>> },
    /// In the buffer that the post method gave, which is full.
    Posted(PostedMemory),
    /// On the receiver's device; whoever lent it is told when the last handle is dropped.
    Device(DeviceBuffer<u8>),
    /// In the device buffer that the post method gave.
    DevicePosted(Box<DeviceFilled>),
}

impl Arrived {
    /// Bytes that this node keeps for the argument, without bytes that others lend.
    pub(super) fn kept_bytes(&self) -> usize {
        match self {
            Self::Received { memory, release: None, .. } => memory.len(),
            Self::Received { release: Some(_), .. } => 0,
            Self::Posted(filled) if filled.layout.is_some() => filled.bytes,
            Self::Posted(filled) => filled.memory.len(),
            Self::Device(_) | Self::DevicePosted(_) => 0,
        }
    }
}

impl From<Leaving> for Arrived {
    /// An argument from the same process has arrived already.
    fn from(Leaving { memory, layout, release, .. }: Leaving) -> Self {
        Self::Received { memory, layout, release: awaited(release.as_ref()).cloned() }
    }
}

/// A parameter type that `#[nocopy]` knows.
pub trait NocopyParameter: Sized {
    /// The type of the buffer's elements.
    type Element: Element;

    /// What brings the elements to the parameter.
    #[doc(hidden)]
    const KIND: NocopyKind;

    #[doc(hidden)]
    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String>;
}

/// Keeps [`Arrived`] out of the public interface.
#[doc(hidden)]
pub struct ArrivedArgument(pub(super) Arrived);
