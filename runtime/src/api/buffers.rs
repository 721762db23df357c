//! Buffers of the runtime: allocated in memory that other nodes of the host can map, and turned back into vectors once no transfer holds
//! them.

use crate::model::nocopy::{Buffer, BufferMut, Element, Received, Sent};
use crate::pe::Pe;
use crate::transfer::lend::deregistration;
use chare_lrts::MemoryMut;

impl<T: Element> BufferMut<T> {
    /// A buffer of `len` zeros in memory of the runtime. Other nodes of the same host, if there are any, can map this memory, so sending
    /// the buffer to them copies nothing. Without any the kernel backs a long buffer as it is written.
    pub fn zeroed(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("a buffer fits the address space");
        let memory = Pe::try_current(|pe| pe.node.network.allocate_zeroed(bytes));
        let memory = memory.unwrap_or_else(|| MemoryMut::heap_zeroed(bytes));
        // Elements that want to lie more evenly than the runtime's memory does.
        Self::from_memory(memory).unwrap_or_else(|_| vec![T::zeroed(); len].into())
    }

    /// A buffer of `len` elements that `make` computes from their positions, in memory as by [`BufferMut::zeroed`].
    pub fn from_fn(len: usize, mut make: impl FnMut(usize) -> T) -> Self {
        let mut buffer = Self::zeroed(len);
        buffer.iter_mut().enumerate().for_each(|(position, element)| *element = make(position));
        buffer
    }
}

impl<T: Element> Buffer<T> {
    /// Makes the buffer writable again, if this is the last handle: no clone is alive and no transfer reads it. A registration that was
    /// only kept for the next transfer ends here.
    ///
    /// # Errors
    /// The same buffer, when another handle or a transfer still holds it.
    pub fn try_into_mut(self) -> Result<BufferMut<T>, Self> {
        self.thaw().or_else(|shared| {
            Pe::try_current(|pe| {
                let kept = pe.node.transfers.forget(shared.memory());
                kept.into_iter().for_each(|ended| deregistration::end(&pe.node, ended, |_| ()));
            });
            shared.thaw()
        })
    }

    /// The elements as a vector: the very vector that the buffer was made of if this is the last handle, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        match self.try_into_mut() {
            Ok(buffer) => buffer.into_vec(),
            Err(shared) => shared.to_vec(),
        }
    }
}

impl<T: Element> Sent<T> {
    /// The elements as a vector; see [`Buffer::into_vec`].
    pub fn into_vec(self) -> Vec<T> {
        self.into_buffer().into_vec()
    }
}

impl<T: Element> Received<T> {
    /// The elements as a vector: without a copy if nothing else holds the memory and the memory was a vector or was fetched, else a copy.
    pub fn into_vec(self) -> Vec<T> {
        let Self { buffer, release } = self;
        let vector = buffer.into_vec();
        drop(release);
        vector
    }
}
