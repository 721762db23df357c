//! Lane: a queue to which any thread pushes, and of which one thread pops; a small one where very many PEs share a process.

use crossbeam_queue::SegQueue;
#[cfg(feature = "sim")]
use {parking_lot::Mutex, std::collections::VecDeque};

/// A queue without a lock: where small lanes are, apart, so that these have not its size.
#[cfg(not(feature = "sim"))]
type Queue<T> = SegQueue<T>;
#[cfg(feature = "sim")]
type Queue<T> = Box<SegQueue<T>>;

/// The queue; see the file's head.
pub(crate) enum Lane<T> {
    /// Without a lock; room for 31 elements from the first one on, and as much beside it whenever that is used up.
    Roomy(Queue<T>),
    /// Room for what is in it, behind a lock, and none once it is empty: for PEs that a few threads drive, each its own.
    #[cfg(feature = "sim")]
    Small(Mutex<VecDeque<T>>),
}

impl<T> Lane<T> {
    pub(crate) fn roomy() -> Self {
        Self::Roomy(Queue::default())
    }

    #[cfg(feature = "sim")]
    pub(crate) const fn small() -> Self {
        Self::Small(Mutex::new(VecDeque::new()))
    }

    #[inline]
    pub(crate) fn push(&self, element: T) {
        match self {
            Self::Roomy(queue) => queue.push(element),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().push_back(element),
        }
    }

    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        match self {
            Self::Roomy(queue) => queue.pop(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => {
                let mut queue = queue.lock();
                let element = queue.pop_front();
                if queue.is_empty() {
                    *queue = VecDeque::new();
                }
                element
            }
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Roomy(queue) => queue.len(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().len(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Roomy(queue) => queue.is_empty(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().is_empty(),
        }
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use super::*;

    #[test]
    fn a_small_lane_keeps_the_order_and_no_memory_once_it_is_empty() {
        let lane = Lane::small();
        for flood in [3, 100] {
            (0..flood).for_each(|element| lane.push(element));
            assert_eq!((lane.len(), lane.is_empty()), (flood, false));
            assert!((0..flood).all(|element| lane.pop() == Some(element)));
            assert_eq!((lane.len(), lane.pop()), (0, None));
        }
        let Lane::Small(queue) = lane else { panic!("it was made small") };
        assert_eq!(queue.lock().capacity(), 0);
    }
}
