//! Views of nocopy arguments: what a layout selected, read where it lies.

use super::arguments::misfit;
use super::arrived::{Arrived, ArrivedArgument, NocopyParameter};
use super::buffer::{Buffer, Element};
use super::kind::NocopyKind;
use super::outgoing::{NocopyArgument, Outgoing, OutgoingMemory, Terms};
use super::release::{HandBack, Release};
use super::selected;
use chare_layout::{Layout, LayoutError, Plan, Raw};
use chare_lrts::codec::{self, CodecError, Writer};
use chare_lrts::{Memory, MemoryMut};
use std::fmt;
use std::sync::Arc;

/// A `#[nocopy]` argument that is read where it lies: in the sender's memory inside a process, in a mapping of that memory on one host
/// where it is shareable, whatever layout selected it. Elsewhere the elements have been packed for the way, and stand side by side. The
/// results are the same.
///
/// It costs no copy where a [`Received`](crate::Received) by a layout costs one, and each look at it costs what the layout's strides do:
/// read it once, or take a `Received`.
///
/// Keep it as long as you like. Dropping it tells the sender that its buffer is free, as for `Received`. A nocopy parameter takes it, too: it
/// is sent on as it lies, and dropped when its receivers have released it.
///
/// ```
/// use chare::layout::{Dims, Layout};
/// use chare::prelude::*;
///
/// struct Neighbour;
///
/// #[chare]
/// impl Neighbour {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn halo(&mut self, #[nocopy] block: ReceivedView<f64>, done: Callback<f64>) {
///         assert_eq!(block.len(), 4);
///         done.send(block.rows().map(|row| row.iter().sum::<f64>()).sum());
///     }
/// }
///
/// let code = chare::Job::in_process(2, 1).run(|| async {
///     let block: Layout<f64> = Dims::new([4, 4]).select((1..3, 1..3));
///     let (total, done) = chare::future();
///     let values = vec![0.5; 16];
///     NeighbourProxy::create_on(PeId(1)).halo(SendBuffer::from(values).only(&block), done);
///     assert_eq!(total.await, 2.0);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub struct ReceivedView<T: Element> {
    memory: Memory,
    layout: Layout<u8, T>,
    release: Option<Arc<Release>>,
}

impl<T: Element> ReceivedView<T> {
    /// How many elements were selected.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether none were.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, in the order of the sender's layout, piece by piece: each piece is what stands side by side in memory.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        selected::rows(&self.memory, &self.layout)
    }

    /// The elements, in the order of the sender's layout.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows().flatten()
    }

    /// The elements side by side. One copy.
    pub fn to_vec(&self) -> Vec<T> {
        let mut elements = vec![T::zeroed(); self.len()];
        let packed = Plan::pack(&self.layout);
        packed
            .and_then(|plan| selected::copy_to(&plan, &self.memory, &mut elements))
            .unwrap_or_else(|error| unreachable!("a view lies within its memory: {error}"));
        elements
    }

    /// Copies the elements to where `layout` selects in `target`, in one pass; a shorter layout takes the first ones.
    ///
    /// # Errors
    /// A layout that selects what lies outside `target`, an element twice, or more than there are elements.
    pub fn copy_to(&self, layout: &Layout<T>, target: &mut [T]) -> Result<(), LayoutError> {
        if layout.bytes() > self.layout.bytes() {
            return Err(LayoutError::TooLong { have: layout.bytes(), room: self.layout.bytes() });
        }
        let plan = Plan::beginning(&self.layout, layout)?;
        selected::copy_to(&plan, &self.memory, target)
    }

    /// A view of a whole buffer.
    pub(crate) fn of(buffer: Buffer<T>) -> Self {
        let view = Self::new(buffer.into_memory(), None, None);
        view.unwrap_or_else(|_| unreachable!("a buffer is whole elements"))
    }

    /// The same view of other elements.
    ///
    /// # Errors
    /// What is no whole number of them, in words.
    pub(crate) fn typed<O: Element>(self) -> Result<ReceivedView<O>, String> {
        let Self { memory, layout, release } = self;
        ReceivedView::new(memory, Some(Arc::clone(layout.raw())), release)
    }

    /// What a layout selects of elements that stand side by side.
    ///
    /// # Errors
    /// Elements that do not stand side by side, and a layout that selects what lies outside them, or no whole elements, in words.
    pub(crate) fn only(&self, selection: Raw) -> Result<Self, String> {
        if !self.layout.is_contiguous() {
            return Err("elements that do not stand side by side".to_owned());
        }
        let select = || {
            selection.check_bounds(self.layout.bytes())?;
            Layout::from_raw(Arc::new(selection.shifted(self.layout.origin())?))
        };
        let layout = select().map_err(|error: LayoutError| error.to_string())?;
        Ok(Self { memory: self.memory.clone(), layout, release: self.release.clone() })
    }

    /// A view of memory in which every selected piece is whole elements, each aligned; of a packed copy where it is not.
    fn new(memory: Memory, layout: Option<Arc<Raw>>, release: Option<Arc<Release>>) -> Result<Self, String> {
        let (address, len) = (memory.address(), memory.len());
        let is_aligned = address.cast::<T>().is_aligned();
        let whole = |len: usize| Raw::bytes_of(len as u64).map(Arc::new).map_err(|error| error.to_string());
        let (memory, layout, release) = match layout {
            None if is_aligned => (memory, whole(len)?, release),
            None => return Err(misfit::<T>(address, len)),
            Some(layout) if selected::fits::<T>(&memory, &layout) => (memory, layout, release),
            Some(layout) => {
                let mut packed = MemoryMut::heap_zeroed(layout.bytes() as usize);
                let plan = Plan::pack(&layout).map_err(|error| error.to_string())?;
                selected::copy(&plan, &memory, &mut packed).map_err(|error| error.to_string())?;
                let layout = whole(packed.len())?;
                (packed.freeze(), layout, None)
            }
        };
        let layout = Layout::from_raw(layout).map_err(|_| misfit::<T>(address, len))?;
        Ok(Self { memory, layout, release })
    }
}

impl<T: Element> NocopyArgument<T> for ReceivedView<T> {
    fn erase(self) -> Outgoing {
        let Self { memory, layout, release } = self;
        let hand_back = release.map(|release| -> HandBack { Box::new(move |_, _| drop(release)) });
        Outgoing::Host(OutgoingMemory::new(memory, Some(layout), Terms::default(), hand_back))
    }
}

impl<T: Element> Clone for ReceivedView<T> {
    fn clone(&self) -> Self {
        Self { memory: self.memory.clone(), layout: self.layout.clone(), release: self.release.clone() }
    }
}

impl<T: Element> fmt::Debug for ReceivedView<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ReceivedView({} elements)", self.len())
    }
}

impl<T: Element> NocopyParameter for ReceivedView<T> {
    type Element = T;
    const KIND: NocopyKind = NocopyKind::Viewed;

    fn from_arrived(arrived: ArrivedArgument) -> Result<Self, String> {
        match arrived.0 {
            Arrived::Received { memory, layout, release } => Self::new(memory, layout, release),
            _ => Err("the runtime delivered another buffer to a view".to_owned()),
        }
    }

    fn can_be_written(&self) -> bool {
        true
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&Buffer::from(self.to_vec()))
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, String> {
        codec::decode_next(bytes).map(Self::of).map_err(|error| error.to_string())
    }
}
