//! Splitting of buffers into parts that share no element.

use super::part::PartMut;
use super::rest::Rest;
use super::whole::{Whole, check_whole, typed};
use crate::model::nocopy::buffer::{BufferMut, Element};
use chare_layout::{Layout, LayoutError, Partition, Raw, RawPartition};
use chare_lrts::MemoryMut;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use thiserror::Error;

/// A buffer that was not split; it comes back.
#[derive(Error)]
#[error("a buffer cannot be split into these parts: {cause}")]
pub struct NotSplit<T: Element> {
    /// The buffer, whole.
    pub buffer: BufferMut<T>,
    /// The cause: parts that share an element, lie outside the buffer, or select pieces of elements.
    #[source]
    pub cause: LayoutError,
}

impl<T: Element> fmt::Debug for NotSplit<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A split buffer: what no part selects, and the parts.
pub type Split<T, const N: usize> = (Rest<T>, [PartMut<T>; N]);

/// A split buffer, into as many parts as there were layouts.
pub type SplitAll<T> = (Rest<T>, Vec<PartMut<T>>);

impl<T: Element> BufferMut<T> {
    /// Splits the buffer into parts, one for each layout, that are sent and filled independently of each other, and the rest. Copies
    /// nothing; costs a walk over the layouts, once.
    ///
    /// A halo exchange in one array, in both directions at once: the outermost elements leave while the frame around them is filled.
    ///
    /// ```
    /// use chare::Layout;
    /// use chare::prelude::*;
    ///
    /// struct Row {
    ///     rest: chare::Rest<f64>,
    ///     inner: chare::Part<f64>,
    ///     frame: Option<chare::PartMut<f64>>,
    /// }
    ///
    /// #[chare(array)]
    /// impl Row {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         let row = BufferMut::from(vec![chare::this_index::<u64>() as f64; 4]);
    ///         let inner = Layout::contiguous(3).expect("three elements");
    ///         let frame = Layout::contiguous(1).and_then(|one| one.shifted(3)).expect("the fourth");
    ///         let (rest, [inner, frame]) = row.split([&inner, &frame]).expect("they share no element");
    ///         Self { rest, inner: inner.share(), frame: Some(frame) }
    ///     }
    ///
    ///     #[entry]
    ///     fn send(&mut self) {
    ///         self.this_collection().at(1 - self.this_index()).land(self.inner.clone());
    ///     }
    ///
    ///     #[entry]
    ///     fn land(&mut self, #[nocopy(post)] edge: Posted<f64>) {
    ///         let frame = edge.into_part();
    ///         let whole = self.rest.whole([&self.inner as &dyn chare::Shown, &frame]).expect("all parts are here");
    ///         assert_eq!(whole[2..], [self.this_index() as f64, 1.0 - self.this_index() as f64]);
    ///         self.contribute(barrier(), Callback::exit());
    ///     }
    ///
    ///     #[post(land)]
    ///     fn post_land(&mut self, edge: Post<f64>) {
    ///         edge.post_part(self.frame.take().expect("one edge comes")).expect("it offers three elements");
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(2, 1).run(|| async {
    ///     RowProxy::create(2).send();
    ///     chare::future::<()>().0.await;
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// # Errors
    /// The buffer itself, when parts share an element, lie outside the buffer, or select pieces of elements.
    pub fn split<const N: usize>(self, layouts: [&Layout<T>; N]) -> Result<Split<T, N>, NotSplit<T>> {
        let (rest, parts) = self.split_all(&layouts)?;
        let parts = <[PartMut<T>; N]>::try_from(parts);
        Ok((rest, parts.unwrap_or_else(|_| unreachable!("a part for each layout"))))
    }

    /// Splits the buffer as [`BufferMut::split`] does, into as many parts as there are layouts.
    ///
    /// # Errors
    /// As [`BufferMut::split`].
    pub fn split_all(self, layouts: &[&Layout<T>]) -> Result<SplitAll<T>, NotSplit<T>> {
        let memory = self.into_memory();
        if let Err(cause) = check(memory.len() as u64, layouts) {
            return Err(NotSplit { buffer: typed(memory), cause });
        }
        Ok(split(memory, layouts.iter().map(|layout| Arc::clone(layout.raw())).collect()))
    }

    /// Splits the buffer into the parts of a partition. Copies nothing; costs a layout for each part.
    ///
    /// # Errors
    /// The buffer itself, when its length is not the partition's.
    pub fn split_by(self, partition: &Partition<T>) -> Result<SplitAll<T>, NotSplit<T>> {
        self.split_by_raw(partition.raw())
    }

    /// Splits the buffer as [`BufferMut::split_by`] does, by a partition whose elements are one or several of the buffer's.
    pub(crate) fn split_by_raw(self, partition: &RawPartition) -> Result<SplitAll<T>, NotSplit<T>> {
        let memory = self.into_memory();
        let (wanted, have) = (partition.bytes(), memory.len() as u64);
        if wanted != have || !partition.element_bytes().is_multiple_of(size_of::<T>() as u64) {
            let element = partition.element_bytes() as usize;
            let (left_name, right_name) = ("elements of a partition", "elements of a buffer");
            let (left, right) = (wanted as usize / element, memory.len() / element);
            let cause = LayoutError::Lists { left_name, left, right_name, right };
            return Err(NotSplit { buffer: typed(memory), cause });
        }
        let part = |number| Arc::new(partition.part(number).expect("it is one of so many"));
        Ok(split(memory, (0..partition.len()).map(part).collect()))
    }
}

/// The parts of memory whose layouts share no element and lie within it.
fn split<T: Element>(memory: MemoryMut, parts: Box<[Arc<Raw>]>) -> SplitAll<T> {
    let whole = Arc::new(Whole { memory, parts });
    let part = |number| PartMut { whole: Arc::clone(&whole), number, elements: PhantomData };
    let parts = (0..whole.parts.len()).map(part).collect();
    (Rest { whole, elements: PhantomData }, parts)
}

fn check<T>(len: u64, layouts: &[&Layout<T>]) -> Result<(), LayoutError> {
    let mut all = Raw::bytes_of(0)?;
    for layout in layouts {
        layout.check_bounds(len)?;
        check_whole(layout)?;
        all = all.then(layout)?;
    }
    all.check_target()
}
