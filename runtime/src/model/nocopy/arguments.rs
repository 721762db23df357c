//! Nocopy arguments of a call: as they travel, and as the entry sees them.

use super::arrived::{Arrived, ArrivedArgument, NocopyParameter};
use super::buffer::{Buffer, BufferMut, Element};
use super::descriptor::{Descriptor, Few};
use super::eager::EagerBytes;
use super::kind::NocopyKind;
use super::landing::PostedMemory;
use super::local::Local;
use super::parts::PartMut;
use super::release::Release;
use super::several::SeveralMut;
use chare_lrts::MemoryMut;
use chare_lrts::codec::{self, CodecError, Writer};
use smallvec::smallvec;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The nocopy arguments of a call that has any, by how far they have come.
pub(crate) enum Nocopy {
    /// Still in the sender's process.
    Leaving(Few<Local>),
    /// In another process, to be fetched.
    Described(Few<Descriptor>),
    /// Ready for the entry.
    Arrived(Few<Arrived>),
}

impl Nocopy {
    /// The only argument of a call, for a parameter of this kind, whose bytes came with it and nobody waits for: ready, unless a post
    /// method or a device is to have it.
    pub(crate) fn eager(kind: NocopyKind, bytes: &[u8]) -> Self {
        let bytes = EagerBytes::came(bytes);
        if kind.is_posted() || kind.is_of_device() {
            return Self::Described(smallvec![Descriptor::Inline { bytes, lender: None }]);
        }
        let memory = bytes.into_memory();
        Self::Arrived(smallvec![Arrived::Received { memory, layout: None, release: None }])
    }

    /// Whether the arguments are where parameters of these kinds take them from. Arguments from the same process are, unless there are posts
    /// to be filled, or layouts or devices to be heeded.
    #[inline]
    pub(crate) fn is_ready(&self, kinds: &[NocopyKind]) -> bool {
        match self {
            Self::Arrived(_) => true,
            Self::Leaving(leaving) => leaving.iter().zip(kinds).all(|(one, kind)| one.is_ready(*kind)),
            Self::Described(_) => false,
        }
    }

    /// Has arguments that have come to a device leave from there, for a chare that lives on another PE: its device may be another one.
    pub(crate) fn leave_devices(&mut self) {
        let Self::Arrived(arrived) = self else { return };
        if arrived.iter().any(|one| matches!(one, Arrived::Device(_))) {
            *self = Self::Leaving(std::mem::take(arrived).into_iter().map(Local::from).collect());
        }
    }

    /// Whether buffers of devices are among arguments that are still in the sender's process.
    pub(crate) fn sends_of_devices(&self) -> bool {
        matches!(self, Self::Leaving(leaving) if leaving.iter().any(|local| matches!(local, Local::Device(_))))
    }

    /// Bytes of each argument that is not ready, packed.
    pub(crate) fn offered(&self, position: usize) -> usize {
        match self {
            Self::Leaving(leaving) => leaving[position].bytes(),
            Self::Described(descriptors) => descriptors[position].bytes(),
            Self::Arrived(_) => 0,
        }
    }

    /// Bytes of arguments that are still in the sender's process, packed.
    pub(crate) fn leaving_bytes(&self) -> usize {
        match self {
            Self::Leaving(leaving) => leaving.iter().map(Local::bytes).sum(),
            Self::Described(_) | Self::Arrived(_) => 0,
        }
    }

    /// Bytes that came from another process and are kept in this one.
    pub(crate) fn kept_bytes(&self) -> usize {
        let is_inline = |descriptor: &&Descriptor| matches!(descriptor, Descriptor::Inline { .. });
        match self {
            Self::Described(descriptors) => descriptors.iter().filter(is_inline).map(Descriptor::bytes).sum(),
            Self::Arrived(arrived) => arrived.iter().map(Arrived::kept_bytes).sum(),
            Self::Leaving(leaving) => leaving.iter().map(Local::kept_bytes).sum(),
        }
    }
}

/// The arrived nocopy arguments of one call, taken in declaration order by generated code.
pub struct NocopyArguments<'a>(Option<&'a mut Nocopy>);

impl<'a> NocopyArguments<'a> {
    /// The nocopy arguments of a call: all arrived, or none if its entry has none. Arguments that are not taken stay with the call.
    #[inline]
    pub(crate) fn new(nocopy: Option<&'a mut Nocopy>) -> Self {
        Self(nocopy)
    }

    /// The next argument, as the parameter's type.
    ///
    /// # Panics
    /// If the sender's elements do not fit the parameter's: the job ends and names the entry.
    pub fn take<P: NocopyParameter>(&mut self) -> P {
        let next = match self.0.as_deref_mut() {
            Some(Nocopy::Arrived(arrived)) => take_first(arrived),
            Some(Nocopy::Leaving(leaving)) => match take_first(leaving) {
                Some(Local::Host(leaving)) => Some(leaving.into()),
                Some(Local::Device(_)) | None => None,
            },
            Some(Nocopy::Described(_)) | None => None,
        };
        let arrived = next.expect(
            "a call has as many nocopy arguments as its entry has parameters, brought in before it runs",
        );
        match P::from_arrived(ArrivedArgument(arrived)) {
            Ok(parameter) => parameter,
            Err(cause) => panic!("a nocopy argument does not fit its parameter: {cause}"),
        }
    }
}

/// The first of few, mostly the only one, which is taken in half the time.
fn take_first<T>(few: &mut Few<T>) -> Option<T> {
    match few.len() {
        0 => None,
        1 => few.pop(),
        _ => Some(few.remove(0)),
    }
}

pub(super) fn misfit<T>(address: *const u8, len: usize) -> String {
    format!(
        "{len} bytes at an address aligned to {} are no whole number of `{}` ({} bytes each, aligned to {})",
        1usize << (address as usize).trailing_zeros().min(12),
        std::any::type_name::<T>(),
        size_of::<T>(),
        align_of::<T>()
    )
}

/// A `#[nocopy]` argument as the entry sees it: the sender's own memory inside a process, a mapped view of it on
/// one host where it is shareable, else memory of the runtime filled by one get.
///
/// Keep it as long as you like. Of memory of the sender's, dropping it tells the sender that its buffer is free; inside an entry, the sender
/// is told when the entry is over or awaits something. Of what was fetched the sender was told when it was here.
pub struct Received<T: Element> {
    pub(crate) buffer: Buffer<T>,
    pub(crate) release: Option<Arc<Release>>,
}

impl<T: Element> Clone for Received<T> {
    fn clone(&self) -> Self {
        Self { buffer: self.buffer.clone(), release: self.release.clone() }
    }
}

impl<T: Element> Deref for Received<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer
    }
}

impl<T: Element> fmt::Debug for Received<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Received({} elements)", self.len())
    }
}

impl<T: Element> NocopyParameter for Received<T> {
    type Element = T;
    const KIND: NocopyKind = NocopyKind::Received;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::Received { memory, layout: None, release } = arrived.0 else {
            return Err(
                "the runtime delivered a posted or unpacked buffer to a plain nocopy parameter".to_owned()
            );
        };
        match Buffer::from_memory(memory) {
            Ok(buffer) => Ok(Self { buffer, release }),
            Err(memory) => Err(misfit::<T>(memory.address(), memory.len())),
        }
    }

    fn can_be_written(&self) -> bool {
        true
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&self.buffer)
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, String> {
        let buffer = codec::decode_next(bytes).map_err(|error| error.to_string())?;
        Ok(Self { buffer, release: None })
    }
}

/// A `#[nocopy(post)]` argument as the entry sees it: the buffer that the post method gave, filled from its start, or where the layout of
/// [`Landing::at`](crate::Landing::at) says; or the part of a buffer, or several buffers.
///
/// It dereferences to the elements that the transfer wrote; a buffer in which they landed by a layout, to all of it. A part and several
/// buffers do not dereference: take them by [`Posted::into_part`] and [`Posted::into_several`].
pub struct Posted<T: Element> {
    landed: Landed<T>,
    transferred: usize,
}

/// What the post method gave.
enum Landed<T: Element> {
    /// A buffer, and how many elements of it are shown.
    Buffer(BufferMut<T>, usize),
    Part(PartMut<T>),
    Several(SeveralMut<T>),
}

impl<T: Element> Landed<T> {
    fn of(filled: PostedMemory) -> Result<Self, String> {
        let PostedMemory { memory, bytes, layout } = filled;
        let in_words = |memory: MemoryMut| misfit::<T>(memory.address(), memory.len());
        let owner = memory.owner();
        if owner.is::<PartMut<T>>() {
            return PartMut::from_memory(memory).map(Self::Part).map_err(in_words);
        }
        if layout.is_some() && owner.is::<SeveralMut<T>>() {
            return SeveralMut::from_memory(memory).map(Self::Several).map_err(in_words);
        }
        let buffer = BufferMut::<T>::from_memory(memory).map_err(in_words)?;
        let shown = if layout.is_some() { buffer.len() } else { bytes / size_of::<T>() };
        Ok(Self::Buffer(buffer, shown))
    }

    /// # Panics
    /// Always: what was posted is not taken in this way.
    fn taken_otherwise(&self) -> ! {
        match self {
            Self::Buffer(..) => {
                panic!("an argument that landed in a buffer is taken by `Posted::into_buffer`")
            }
            Self::Part(_) => {
                panic!("an argument that landed in a part of a buffer is taken by `Posted::into_part`")
            }
            Self::Several(_) => {
                panic!("an argument that landed in several buffers is taken by `Posted::into_several`")
            }
        }
    }
}

impl<T: Element> Posted<T> {
    /// How many elements the transfer wrote; the rest of the buffer is untouched.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// The whole posted buffer, to be used and posted again.
    ///
    /// # Panics
    /// If the post method gave a part of a buffer, or several buffers.
    pub fn into_buffer(self) -> BufferMut<T> {
        match self.landed {
            Landed::Buffer(buffer, _) => buffer,
            other => other.taken_otherwise(),
        }
    }

    /// The whole posted buffer as a vector; without a copy if it was posted as one.
    ///
    /// # Panics
    /// As [`Posted::into_buffer`] does.
    pub fn into_vec(self) -> Vec<T> {
        self.into_buffer().into_vec()
    }

    /// The posted part of a buffer, filled.
    ///
    /// # Panics
    /// If the post method gave something else.
    pub fn into_part(self) -> PartMut<T> {
        match self.landed {
            Landed::Part(part) => part,
            other => other.taken_otherwise(),
        }
    }

    /// The several buffers that were posted, filled, which give themselves back one by one.
    ///
    /// # Panics
    /// If the post method gave something else.
    pub fn into_several(self) -> SeveralMut<T> {
        match self.landed {
            Landed::Several(several) => several,
            other => other.taken_otherwise(),
        }
    }
}

impl<T: Element> Deref for Posted<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.landed {
            Landed::Buffer(buffer, shown) => &buffer[..*shown],
            other => other.taken_otherwise(),
        }
    }
}

impl<T: Element> fmt::Debug for Posted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.landed {
            Landed::Buffer(buffer, _) => {
                write!(out, "Posted({} of {} elements)", self.transferred, buffer.len())
            }
            Landed::Part(part) => write!(out, "Posted({part:?})"),
            Landed::Several(several) => write!(out, "Posted({several:?})"),
        }
    }
}

impl<T: Element> NocopyParameter for Posted<T> {
    type Element = T;
    const KIND: NocopyKind = NocopyKind::Posted;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        let Arrived::Posted(filled) = arrived.0 else {
            return Err("the runtime delivered an unposted buffer to a posted parameter".to_owned());
        };
        let transferred = filled.bytes / size_of::<T>();
        Ok(Self { landed: Landed::of(filled)?, transferred })
    }

    /// A part of a buffer stays with the others.
    fn can_be_written(&self) -> bool {
        matches!(self.landed, Landed::Buffer(..))
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        let Landed::Buffer(buffer, shown) = &self.landed else { self.landed.taken_otherwise() };
        out.write(&(self.transferred, shown, buffer))
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, String> {
        let read = codec::decode_next::<(usize, usize, BufferMut<T>)>(bytes);
        let (transferred, shown, buffer) = read.map_err(|error| error.to_string())?;
        if transferred > buffer.len() || shown > buffer.len() {
            let all = buffer.len();
            return Err(format!("{transferred} elements in a posted buffer of {all}, which shows {shown}"));
        }
        Ok(Self { landed: Landed::Buffer(buffer, shown), transferred })
    }
}
