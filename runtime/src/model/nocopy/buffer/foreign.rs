//! Buffers over foreign memory: of a C library, of a mapped file, of any owner.

#![expect(unsafe_code, reason = "lends memory that somebody else allocated to transfers")]

use crate::model::nocopy::{Buffer, BufferMut, Element};
use chare_lrts::{Memory, MemoryMut};
use std::marker::PhantomData;
use std::sync::Arc;

impl<T: Element> BufferMut<T> {
    /// A buffer over memory that other code allocated, such as a C library. The memory belongs to the buffer until `guard` is
    /// dropped, which frees the memory or tells its owner. Copies nothing.
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
    /// dropped with the last handle, on whatever thread that is. The buffer never becomes writable again.
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
        // An `Arc`, because its contents stay where they are while the handle moves.
        let owner = Arc::new(owner);
        let elements = (*owner).as_ref();
        let (address, len) = (elements.as_ptr(), elements.len());
        // SAFETY: the elements are borrowed from the owner, which stays where it is, shared and untouched, until the handle is
        // dropped: no code can have a mutable borrow of the owner, so none writes or frees the elements that it gave out.
        unsafe { Self::from_raw_parts(address, len, owner) }
    }

    /// Shares memory that other code allocated, such as a C library. The memory is read until `guard` is dropped, which frees the memory or
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
        let memory = unsafe { Memory::lent(address.cast(), bytes, None, Box::new(guard)) };
        Self { memory, elements: PhantomData }
    }
}

/// The length of foreign elements in bytes; checks their size and their address.
fn checked_bytes<T: Element>(address: *const T, len: usize) -> usize {
    assert_ne!(size_of::<T>(), 0, "elements of a buffer have a size");
    assert!(!address.is_null() && address.is_aligned(), "foreign elements lie at an aligned address");
    len.checked_mul(size_of::<T>()).expect("memory fits the address space")
}
