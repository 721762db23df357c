//! Vectors of plain numbers as memory that transfers may touch, for values whose type only their setter and their readers
//! know.

use crate::model::nocopy::{BufferMut, Element, lend_vector};
use chare_lrts::{Memory, MemoryMut};
use std::any::{Any, type_name};
use std::sync::Arc;

/// A value, its type known to its setter and its readers.
pub(super) type Shared = Arc<dyn Any + Send + Sync>;

/// Operations on a `Vec` of one kind of numbers.
pub(super) struct VectorType {
    name: fn() -> &'static str,
    /// The elements in place, if the value is such a vector.
    pub(super) lend: fn(&Shared) -> Option<Memory>,
    /// A vector of so many bytes, to be filled; fails where it does not fit.
    pub(super) allocate: fn(usize) -> Option<MemoryMut>,
    /// The vector that was filled; fails for memory that is no such vector.
    pub(super) share: fn(MemoryMut) -> Option<Shared>,
}

impl VectorType {
    const fn of<T: Element>() -> Self {
        Self {
            name: || type_name::<Vec<T>>(),
            lend: |shared| Some(lend_vector(Arc::clone(shared).downcast::<Vec<T>>().ok()?)),
            allocate: |bytes| {
                let len = bytes.is_multiple_of(size_of::<T>()).then_some(bytes / size_of::<T>())?;
                // The length comes from a peer: a length beyond the memory of the host must not end the process.
                let vector = bytemuck::allocation::try_zeroed_vec::<T>(len).ok()?;
                Some(BufferMut::from(vector).into_memory())
            },
            share: |memory| Some(Arc::new(BufferMut::<T>::from_memory(memory).ok()?.into_vec())),
        }
    }
}

static VECTORS: [VectorType; 14] = [
    VectorType::of::<u8>(),
    VectorType::of::<u16>(),
    VectorType::of::<u32>(),
    VectorType::of::<u64>(),
    VectorType::of::<u128>(),
    VectorType::of::<usize>(),
    VectorType::of::<i8>(),
    VectorType::of::<i16>(),
    VectorType::of::<i32>(),
    VectorType::of::<i64>(),
    VectorType::of::<i128>(),
    VectorType::of::<isize>(),
    VectorType::of::<f32>(),
    VectorType::of::<f64>(),
];

/// The vector type with this name.
pub(super) fn named(name: &str) -> Option<&'static VectorType> {
    VECTORS.iter().find(|vector| (vector.name)() == name)
}
