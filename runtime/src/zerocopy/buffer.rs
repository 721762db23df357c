#![expect(
    unsafe_code,
    reason = "turns the heap block of a vector into memory that transfers may touch, and back"
)]
//! Typed memory for transfers: [`BufferMut`] is written by one, [`Buffer`] is read by many.
//!
//! Both are thin types over the raw memory of LRTS. Elements are plain old data, so bytes that arrive are
//! values, whatever they are.

use bytemuck::Pod;
use chare_lrts::codec::{self, LendableBytes, LentBytes};
use chare_lrts::{Memory, MemoryMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What the elements of a nocopy buffer must be: plain old data that any thread may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a nocopy buffer",
    note = "elements are moved as bytes: use numbers, arrays of numbers, or a `#[repr(C)]` struct that derives `bytemuck::Pod`"
)]
pub trait Element: Pod + Send + Sync {}

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
/// A transfer that reads it holds a clone, so [`Buffer::try_into_mut`] succeeds only after all of them.
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

    /// The elements as a vector: the very one the buffer was made of, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        if !self.memory.owner().is::<Vec<T>>() {
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

    /// Writable again, if this is the last handle.
    ///
    /// # Errors
    /// The same buffer, when somebody else still holds it.
    pub(super) fn thaw(self) -> Result<BufferMut<T>, Self> {
        match self.memory.thaw() {
            Ok(memory) => Ok(BufferMut { memory, elements: PhantomData }),
            Err(memory) => Err(Self { memory, elements: PhantomData }),
        }
    }

    /// The elements as a vector: the very one the buffer was made of if this is the last handle, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        match self.try_into_mut() {
            Ok(buffer) => buffer.into_vec(),
            Err(shared) => shared.to_vec(),
        }
    }
}

impl<T: Element> BufferMut<T> {
    /// A buffer over memory that somebody else allocated, such as a C library: it belongs to the buffer until `guard` is
    /// dropped, which frees it or tells its owner. Copies nothing.
    ///
    /// ```
    /// use chare::BufferMut;
    ///
    /// /// What a foreign library lends, and must be told when it is no longer used.
    /// struct Foreign(*mut f64);
    /// // SAFETY: the library lets any thread return it.
    /// unsafe impl Send for Foreign {}
    /// // SAFETY: as above.
    /// unsafe impl Sync for Foreign {}
    ///
    /// impl Drop for Foreign {
    ///     fn drop(&mut self) {
    ///         // SAFETY: allocated below as this very type, returned once.
    ///         drop(unsafe { Box::from_raw(self.0.cast::<[f64; 100]>()) });
    ///     }
    /// }
    ///
    /// let address = Box::into_raw(Box::new([0.5; 100])).cast::<f64>();
    /// // SAFETY: 100 initialised elements that only the guard frees, and nobody else knows.
    /// let mut buffer = unsafe { BufferMut::from_raw_parts(address, 100, Foreign(address)) };
    /// buffer[1] = 2.0;
    /// assert_eq!(buffer.freeze()[..3], [0.5, 2.0, 0.5]);
    /// ```
    ///
    /// # Panics
    /// If the address is null or not aligned for `T`.
    ///
    /// # Safety
    /// Until `guard` is dropped, which may happen on any thread, the `len` elements at `address` must stay allocated and
    /// initialised, and be read and written through this buffer alone.
    pub unsafe fn from_raw_parts(address: *mut T, len: usize, guard: impl Send + Sync + 'static) -> Self {
        let bytes = checked_bytes::<T>(address, len);
        // SAFETY: the caller's promise is that of `MemoryMut::from_raw_parts`; `T: Pod` makes every write of bytes valid.
        let memory = unsafe { MemoryMut::from_raw_parts(address.cast(), bytes, None, Box::new(guard)) };
        Self { memory, elements: PhantomData }
    }
}

impl<T: Element> Buffer<T> {
    /// Shares the elements of any owner: an `Arc<Vec<T>>`, a mapped file, a `bytes::Bytes`. Copies nothing; the owner is
    /// dropped with the last handle, on whatever thread that is. It never becomes writable again.
    ///
    /// ```
    /// use chare::Buffer;
    /// use std::sync::Arc;
    ///
    /// struct Table(Arc<Vec<u32>>);
    ///
    /// impl AsRef<[u32]> for Table {
    ///     fn as_ref(&self) -> &[u32] {
    ///         &self.0
    ///     }
    /// }
    ///
    /// let table = Arc::new(vec![1, 2, 3]);
    /// let buffer = Buffer::from_owner(Table(Arc::clone(&table)));
    /// assert_eq!(buffer.as_ptr(), table.as_ptr());
    /// drop(buffer);
    /// assert_eq!(Arc::strong_count(&table), 1);
    /// ```
    pub fn from_owner(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        // In an `Arc`, whose contents may be pointed into while the handle moves.
        let owner = Arc::new(owner);
        let elements = (*owner).as_ref();
        let (address, len) = (elements.as_ptr(), elements.len());
        // SAFETY: the elements are borrowed from the owner, which stays where it is, shared and untouched, until the handle is
        // dropped: nobody can have a mutable borrow of it, so nobody writes or frees what it gave out.
        unsafe { Self::from_raw_parts(address, len, owner) }
    }

    /// Shares memory that somebody else allocated, such as a C library: it is read until `guard` is dropped, which frees it or
    /// tells its owner. Copies nothing. See [`BufferMut::from_raw_parts`].
    ///
    /// # Panics
    /// If the address is null or not aligned for `T`.
    ///
    /// # Safety
    /// Until `guard` is dropped, which may happen on any thread, the `len` elements at `address` must stay allocated and
    /// initialised, and be written by nobody.
    pub unsafe fn from_raw_parts(address: *const T, len: usize, guard: impl Send + Sync + 'static) -> Self {
        let bytes = checked_bytes::<T>(address, len);
        // SAFETY: the caller's promise is that of `Memory::lent`.
        let memory = unsafe { Memory::lent(address.cast(), bytes, Box::new(guard)) };
        Self { memory, elements: PhantomData }
    }
}

/// The bytes of foreign elements.
fn checked_bytes<T: Element>(address: *const T, len: usize) -> usize {
    assert_ne!(size_of::<T>(), 0, "elements of a buffer have a size");
    assert!(!address.is_null() && address.is_aligned(), "foreign elements lie at an aligned address");
    len.checked_mul(size_of::<T>()).expect("memory fits the address space")
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
    // SAFETY: the owner is a handle of the vector. While it lives, nobody else has the only one, so nobody writes, grows
    // or drops the vector; plain old data have no insides that are written behind a shared reference.
    unsafe { Memory::lent(address, len, Box::new(vector)) }
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

/// As an ordinary argument a buffer is a value: moved inside a process, copied as one run of bytes outside.
impl<T: Element> Serialize for Buffer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LendableBytes(&self.memory).serialize(serializer)
    }
}

/// As [`Buffer`]; nobody else can share what one owner writes, so it is copied always.
impl<T: Element> Serialize for BufferMut<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.memory.as_slice())
    }
}

impl<'de, T: Element> Deserialize<'de> for Buffer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match LentBytes::deserialize(deserializer)? {
            LentBytes::Within(bytes) => copy_whole(&bytes).map(Self::from),
            LentBytes::Beside(memory) => {
                Self::from_memory(memory).map_err(|memory| misfit::<T, _>(memory.len()))
            }
        }
    }
}

impl<'de, T: Element> Deserialize<'de> for BufferMut<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let buffer = Buffer::<T>::deserialize(deserializer)?;
        Ok(buffer.try_into_mut().unwrap_or_else(|shared| shared.to_vec().into()))
    }
}

fn copy_whole<T: Element, E: serde::de::Error>(bytes: &[u8]) -> Result<Vec<T>, E> {
    if size_of::<T>() == 0 || !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(misfit::<T, E>(bytes.len()));
    }
    codec::copy_elements(bytes).map_err(E::custom)
}

fn misfit<T, E: serde::de::Error>(bytes: usize) -> E {
    E::custom(format_args!("{bytes} bytes are no whole `{}`s, aligned", std::any::type_name::<T>()))
}
