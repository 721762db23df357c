//! Rest of a split buffer: what no part selects, and the whole for whoever shows all parts.

#![expect(unsafe_code, reason = "shows the whole of a buffer to whoever has all parts")]

use super::part::{Part, PartMut};
use super::whole::{Whole, typed};
use crate::model::nocopy::buffer::{BufferMut, Element};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use thiserror::Error;

/// What no part of a split buffer selects, and the right to the whole for whoever shows all parts.
pub struct Rest<T: Element> {
    pub(super) whole: Arc<Whole>,
    pub(super) elements: PhantomData<T>,
}

/// Parts that do not make up the whole; they come back.
#[derive(Error)]
#[error("{} of {} parts of the buffer are here", parts.len(), rest.whole.parts.len())]
pub struct NotJoined<T: Element> {
    /// The rest.
    pub rest: Rest<T>,
    /// The parts.
    pub parts: Vec<PartMut<T>>,
}

impl<T: Element> fmt::Debug for NotJoined<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A part, exclusive or shared, that is shown to look at the whole.
pub trait Shown: sealed::Shown {}

impl<T: Element> Shown for PartMut<T> {}
impl<T: Element> Shown for Part<T> {}

mod sealed {
    use super::{Arc, Element, Part, PartMut, Whole};

    pub trait Shown {
        #[doc(hidden)]
        fn number_in(&self, whole: &WholeRef<'_>) -> Option<usize>;
    }

    /// Keeps [`Whole`] out of the public interface.
    pub struct WholeRef<'a>(pub(super) &'a Arc<Whole>);

    impl<T: Element> Shown for PartMut<T> {
        fn number_in(&self, whole: &WholeRef<'_>) -> Option<usize> {
            Arc::ptr_eq(&self.whole, whole.0).then_some(self.number)
        }
    }

    impl<T: Element> Shown for Part<T> {
        fn number_in(&self, whole: &WholeRef<'_>) -> Option<usize> {
            self.0.number_in(whole)
        }
    }
}

impl<T: Element> Rest<T> {
    /// The whole buffer, for whoever shows all parts; `None` when one is missing.
    pub fn whole<'a>(&'a self, parts: impl IntoIterator<Item = &'a dyn Shown>) -> Option<&'a [T]> {
        let whole = sealed::WholeRef(&self.whole);
        self.are_all(parts.into_iter().map(|part| part.number_in(&whole))).then(|| {
            let memory = &self.whole.memory;
            // SAFETY: all parts are borrowed, so that none is being filled: a part in a transfer is in the transfer's hands. What no
            // part selects is written by `whole_mut` alone, which borrows this value exclusively. The memory was a `BufferMut<T>`.
            unsafe { std::slice::from_raw_parts(memory.address().cast(), memory.len() / size_of::<T>()) }
        })
    }

    /// The whole buffer, writable, for whoever shows all parts and has them exclusively; `None` when one is missing.
    pub fn whole_mut<'a>(
        &'a mut self,
        parts: impl IntoIterator<Item = &'a mut PartMut<T>>,
    ) -> Option<&'a mut [T]> {
        let numbers =
            parts.into_iter().map(|part| Arc::ptr_eq(&part.whole, &self.whole).then_some(part.number));
        self.are_all(numbers).then(|| {
            let memory = &self.whole.memory;
            // SAFETY: all parts and the rest are borrowed exclusively, so that nobody else reads or writes any of it, no transfer
            // either: what a transfer reads is shared, what one fills is in its hands. The memory was a `BufferMut<T>`.
            unsafe { std::slice::from_raw_parts_mut(memory.address().cast(), memory.len() / size_of::<T>()) }
        })
    }

    /// The buffer that was split.
    ///
    /// # Errors
    /// The rest and the parts, when one is missing.
    pub fn join(self, parts: impl IntoIterator<Item = PartMut<T>>) -> Result<BufferMut<T>, NotJoined<T>> {
        let parts: Vec<_> = parts.into_iter().collect();
        let numbers = parts.iter().map(|part| Arc::ptr_eq(&part.whole, &self.whole).then_some(part.number));
        if !self.are_all(numbers) {
            return Err(NotJoined { rest: self, parts });
        }
        drop(parts);
        let whole = Arc::try_unwrap(self.whole);
        let Ok(Whole { memory, .. }) = whole else { unreachable!("all parts and the rest were here") };
        Ok(typed(memory))
    }

    /// Whether these are the numbers of all parts, each at least once.
    fn are_all(&self, numbers: impl Iterator<Item = Option<usize>>) -> bool {
        let mut missing = vec![true; self.whole.parts.len()];
        numbers.flatten().for_each(|number| missing[number] = false);
        !missing.contains(&true)
    }
}

impl<T: Element> fmt::Debug for Rest<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Rest(of {} parts)", self.whole.parts.len())
    }
}
