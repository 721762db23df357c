//! Spares: things that the driver takes long to make, kept for the next one who needs such a thing.

use parking_lot::Mutex;
use std::ops::Deref;
use std::sync::Arc;

/// Things that nobody uses. There are as many, at most, as were in use at one time.
pub(crate) struct Spares<T>(Mutex<Vec<T>>);

/// A thing in use; dropped, it is spare again.
pub(crate) struct Spare<T> {
    /// Until it is dropped.
    thing: Option<T>,
    home: Arc<Spares<T>>,
}

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Spares<T> {
    /// A thing that nobody else uses, made if none is spare.
    pub(crate) fn take<E>(self: &Arc<Self>, make: impl FnOnce() -> Result<T, E>) -> Result<Spare<T>, E> {
        let spare = self.0.lock().pop();
        let thing = Some(spare.map_or_else(make, Ok)?);
        Ok(Spare { thing, home: Arc::clone(self) })
    }
}

impl<T> Deref for Spare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        self.home.0.lock().extend(self.thing.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_thing_is_made_once_and_used_by_one_after_the_other() {
        let (spares, mut made) = (Arc::<Spares<u32>>::default(), 0);
        let mut take = || {
            let taken = spares.take(|| {
                made += 1;
                Ok::<_, Infallible>(made)
            });
            taken.unwrap_or_else(|never| match never {})
        };
        for _ in 0..100 {
            assert_eq!(*take(), 1);
        }
        let (first, second) = (take(), take());
        assert_eq!((*first, *second), (1, 2), "two at one time are two");
        drop((first, second));
        drop([take(), take()]);
        assert_eq!(made, 2);
    }
}
