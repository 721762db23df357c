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
use chare_lrts::codec::{CodecError, Writer};
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

    /// Whether the elements can leave the process with a chare that has the argument and moves.
    #[doc(hidden)]
    fn can_be_written(&self) -> bool {
        false
    }

    /// Writes the elements, which can leave the process.
    #[doc(hidden)]
    fn write(&self, _out: &mut Writer<'_>) -> Result<(), CodecError> {
        unreachable!("its elements stay in this process")
    }

    /// Reads from the front of `bytes` what the other process has written.
    #[doc(hidden)]
    fn read(_bytes: &mut &[u8]) -> Result<Self, String> {
        Err("elements that do not leave their process have come from another one".to_owned())
    }
}

/// Keeps [`Arrived`] out of the public interface.
#[doc(hidden)]
pub struct ArrivedArgument(pub(in crate::model) Arrived);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::nocopy::{
        Buffer, BufferMut, DeviceReceived, Landing, NocopyLanding, Posted, Received, ReceivedView,
    };
    use chare_device::{DeviceBufferMut, Software};
    use chare_layout::Layout;
    use chare_lrts::codec;

    fn written<P: NocopyParameter>(parameter: &P) -> Vec<u8> {
        assert!(parameter.can_be_written());
        let mut bytes = Vec::new();
        codec::append(&mut bytes, |out| parameter.write(out)).unwrap();
        bytes
    }

    /// The parameter after a way to another process.
    fn elsewhere<P: NocopyParameter>(parameter: &P) -> P {
        let mut bytes = written(parameter);
        for len in 0..bytes.len() {
            assert!(P::read(&mut &bytes[..len]).is_err(), "{len} bytes of {}", bytes.len());
        }
        bytes.push(7);
        let mut rest = &bytes[..];
        let read = P::read(&mut rest).unwrap();
        assert_eq!(rest, [7]);
        read
    }

    fn posted(landing: Landing<u32>) -> Posted<u32> {
        Posted::from_arrived(ArrivedArgument(Arrived::Posted(landing.into_posted()))).unwrap()
    }

    #[test]
    fn received_elements_are_the_same_in_another_process() {
        let memory = Buffer::from(vec![1.0_f64, 2.0, 3.0, 4.0]).into_memory();
        let arrived = |layout: Option<&Layout<f64>>| {
            let layout = layout.map(|layout| Arc::clone(layout.raw()));
            ArrivedArgument(Arrived::Received { memory: memory.clone(), layout, release: None })
        };
        let received = Received::<f64>::from_arrived(arrived(None)).unwrap();
        assert_eq!(*elsewhere(&received), [1.0, 2.0, 3.0, 4.0]);
        let every_other = Layout::vector(2, 1, 2).unwrap();
        let view = ReceivedView::<f64>::from_arrived(arrived(Some(&every_other))).unwrap();
        assert_eq!(elsewhere(&view).to_vec(), [1.0, 3.0]);
    }

    #[test]
    fn a_posted_buffer_is_whole_in_another_process() {
        let first = elsewhere(&posted(Landing::first(2, vec![5, 6, 7])));
        assert_eq!((&*first, first.transferred()), (&[5, 6][..], 2));
        assert_eq!(first.into_vec(), [5, 6, 7]);
        let last = Layout::<u32>::vector(1, 1, 1).unwrap();
        let at = elsewhere(&posted(Landing::at(&last, vec![5, 6, 7])));
        assert_eq!((&*at, at.transferred()), (&[5, 6, 7][..], 1));
    }

    #[test]
    fn a_posted_buffer_shows_no_more_than_there_is() {
        let mut bytes = written(&posted(vec![5, 6, 7].into()));
        assert_eq!(Posted::<u32>::read(&mut &bytes[..]).unwrap().transferred(), 3);
        for place in [0, 8] {
            bytes[place] = 4;
            assert!(Posted::<u32>::read(&mut &bytes[..]).is_err());
            bytes[place] = 3;
        }
    }

    #[test]
    fn elements_of_a_device_and_of_parts_stay() {
        let buffer = DeviceBufferMut::<u8>::new(&Software::default().open(), 8).unwrap().freeze();
        let received = DeviceReceived::<f32>::from_arrived(ArrivedArgument(Arrived::Device(buffer))).unwrap();
        assert!(!received.can_be_written());
        assert!(DeviceReceived::<f32>::read(&mut &[0; 8][..]).is_err());
        let middle = Layout::<u32>::vector(1, 1, 1).unwrap();
        let Ok((_rest, [part])) = BufferMut::from(vec![5_u32, 6, 7]).split([&middle]) else { unreachable!() };
        let filled = ArrivedArgument(Arrived::Posted(NocopyLanding::erase(part)));
        assert!(!Posted::<u32>::from_arrived(filled).unwrap().can_be_written());
    }
}
