//! Typed buffers for transfers: [`BufferMut`] is written by one owner, [`Buffer`] is read by many.
//!
//! Both are thin types over the raw memory of LRTS. Elements are plain old data, so any bytes that arrive are valid
//! values.

#![expect(
    unsafe_code,
    reason = "turns the heap block of a vector into memory that transfers may touch, and back"
)]

mod argument;
mod foreign;

use bytemuck::Pod;
use chare_lrts::{Memory, MemoryMut};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// An element of a nocopy buffer: plain old data that any thread may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data, which elements of nocopy buffers and fields in layouts are",
    note = "they are moved as bytes: use numbers, arrays of numbers, or a `#[repr(C)]` struct that derives `bytemuck::Pod`"
)]
pub trait Element: Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: Pod + Send + Sync> Element for T {}

/// A contiguous run of elements that one owner writes.
///
/// Made from a `Vec` (moved in, no copy; other processes reach it by a copy between processes) or zeroed in shareable
/// memory by [`BufferMut::zeroed`] (other processes of the host map it and read in place).
///
/// ```
/// use chare::BufferMut;
/// let mut buffer = BufferMut::from(vec![1.0, 2.0, 3.0]);
/// buffer[1] = 20.0;
/// let shared = buffer.freeze();
/// let also = shared.clone();              // shares, does not copy
/// assert_eq!(also[1], 20.0);
/// drop(also);
/// assert_eq!(shared.into_vec(), [1.0, 20.0, 3.0]);   // the last handle: the vector itself
/// ```
pub struct BufferMut<T: Element> {
    memory: MemoryMut,
    elements: PhantomData<T>,
}

/// A contiguous run of elements that anyone may read and nobody may write. Cloning shares.
///
/// A transfer that reads the buffer holds a clone, so [`Buffer::try_into_mut`] succeeds only after all such transfers.
pub struct Buffer<T: Element> {
    memory: Memory,
    elements: PhantomData<T>,
}

impl<T: Element> BufferMut<T> {
    /// Typed memory, if its length is a whole number of elements and its address is aligned for them.
    ///
    /// # Errors
    /// The memory itself, if not.
    pub(crate) fn from_memory(memory: MemoryMut) -> Result<Self, MemoryMut> {
        if fits::<T>(memory.address(), memory.len()) {
            Ok(Self { memory, elements: PhantomData })
        } else {
            Err(memory)
        }
    }

    pub(crate) fn into_memory(self) -> MemoryMut {
        self.memory
    }

    /// Gives up writing for sharing. Copies nothing.
    pub fn freeze(self) -> Buffer<T> {
        Buffer { memory: self.memory.freeze(), elements: PhantomData }
    }

    /// The elements as a vector: the very vector that the buffer was made of, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        // The guard of foreign memory may be a vector of other elements.
        let owner = self.memory.owner().downcast_ref::<Vec<T>>();
        let is_elements = |vector: &Vec<T>| {
            vector.as_ptr().cast() == self.memory.address().cast_const()
                && size_of_val(vector.as_slice()) == self.memory.len()
        };
        if !owner.is_some_and(is_elements) {
            return self.to_vec();
        }
        *self.memory.into_owner().downcast::<Vec<T>>().expect("the owner was looked at")
    }
}

impl<T: Element> Buffer<T> {
    /// Typed memory, if its length is a whole number of elements and its address is aligned for them.
    ///
    /// # Errors
    /// The memory itself, if not.
    pub(crate) fn from_memory(memory: Memory) -> Result<Self, Memory> {
        if fits::<T>(memory.address(), memory.len()) {
            Ok(Self { memory, elements: PhantomData })
        } else {
            Err(memory)
        }
    }

    pub(crate) fn into_memory(self) -> Memory {
        self.memory
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The buffer, writable again, if this is the last handle and the memory is not registered.
    ///
    /// # Errors
    /// The same buffer, when another handle or a registration still holds the memory.
    pub(crate) fn thaw(self) -> Result<BufferMut<T>, Self> {
        match self.memory.thaw() {
            Ok(memory) => Ok(BufferMut { memory, elements: PhantomData }),
            Err(memory) => Err(Self { memory, elements: PhantomData }),
        }
    }
}

fn fits<T: Element>(address: *const u8, len: usize) -> bool {
    size_of::<T>() != 0
        && len.is_multiple_of(size_of::<T>())
        && (len == 0 || address.cast::<T>().is_aligned())
}

impl<T: Element> From<Vec<T>> for BufferMut<T> {
    fn from(mut vector: Vec<T>) -> Self {
        assert_ne!(size_of::<T>(), 0, "elements of a buffer have a size");
        let (address, len) = (vector.as_mut_ptr().cast(), size_of_val(vector.as_slice()));
        // SAFETY: the vector moves into the owner untouched; its heap block stays where it is until the owner is dropped;
        // `T: Pod` makes every byte initialised and every write of bytes valid; nobody else has the vector.
        let memory = unsafe { MemoryMut::from_raw_parts(address, len, None, Box::new(vector)) };
        Self { memory, elements: PhantomData }
    }
}

/// The elements of a shared vector. Copies nothing.
pub(crate) fn lend_vector<T: Element>(vector: Arc<Vec<T>>) -> Memory {
    let (address, len) = (vector.as_ptr().cast(), size_of_val(vector.as_slice()));
    // SAFETY: the owner is a handle of the vector. While it lives, no other handle is the only one, so no code writes, grows
    // or drops the vector; plain old data have no interior that is written behind a shared reference.
    unsafe { Memory::lent(address, len, None, Box::new(vector)) }
}

impl<T: Element> From<Vec<T>> for Buffer<T> {
    fn from(vector: Vec<T>) -> Self {
        BufferMut::from(vector).freeze()
    }
}

impl<T: Element> From<BufferMut<T>> for Buffer<T> {
    fn from(buffer: BufferMut<T>) -> Self {
        buffer.freeze()
    }
}

impl<T: Element> Deref for BufferMut<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        elements(self.memory.as_slice())
    }
}

impl<T: Element> DerefMut for BufferMut<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes = self.memory.as_mut_slice();
        if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        elements(self.memory.as_slice())
    }
}

fn elements<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

impl<T: Element> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { memory: self.memory.clone(), elements: PhantomData }
    }
}

/// Copies the elements, as cloning a vector does.
impl<T: Element> Clone for BufferMut<T> {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffer({} elements)", self.len())
    }
}

impl<T: Element> fmt::Debug for BufferMut<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "BufferMut({} elements)", self.len())
    }
}

/// An element type, told apart from others and named to humans.
#[derive(Clone, Copy)]
pub(crate) struct ElementType {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl ElementType {
    pub(crate) fn of<T: Element>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }
}
